"""Replaces library nodes by what a code generator knows: calls of C functions, maps, tasklets.

For each node the expansions of its kind are tried in order of preference; the first that applies is used, and the
reasons of those before it are kept. After `expand_library_nodes` no library node is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.base.errors import ExpansionError
from dcpy.base.registry import unknown_name
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.effects import Effect
from dcpy.ir.library.expansions import (
    EXPANSIONS,
    Expansion,
    Replacement,
    environment_of,
    expansions_for,
    expansions_of,
    preference,
)
from dcpy.ir.library.foreign_functions import keep_in_order
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import LibraryNode, Node
from dcpy.ir.region import Block, State
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one, perform
from dcpy.transforms.passes import Pass

NOT_THERE = "the library is not installed, or gpu.libraries is off"

PURE = "pure"  #: among the names to prefer: every expansion that calls no library, in the target's own order


@dataclass(frozen=True, slots=True)
class ExpansionChoice:
    """Chosen expansion of a node, the reason, and why those that were preferred were not chosen."""

    kind: str
    expansion: str
    refused: tuple[str, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        refusals = "".join(f"; not {reason}" for reason in self.refused)
        return f"{self.kind} -> {self.expansion}{self.why and f', {self.why}'}{refusals}"


@dataclass(frozen=True)
class ExpandLibraryNode(Transformation[tuple[ExpansionChoice, Replacement]]):
    """Replace a library node by loops, or by a call of a library.

    before   reduce (x <- A[0:N]) -> (out -> s)     after   map i = 0:N { acc += A[i] };  s = acc

    Applies where an expansion takes the node's operands and what it calls is installed. `prefer` names expansions to
    try before the target's own order; "pure" stands for all that call no library.
    """

    name: ClassVar[str] = "expand-library-node"
    node = capture(LibraryNode)
    pattern = one(node)

    prefer: tuple[str, ...] = ()
    target: str = "cpu"
    costs: Costs = COSTS
    libraries: tuple[str, ...] = ()  #: expansions whose libraries the runtime of the target will find

    def plan(self, m: Match) -> tuple[ExpansionChoice, Replacement] | Refusal:
        """The first expansion that applies, and what it makes of the node."""
        try:
            return self.choose(m[self.node])
        except ExpansionError as problem:
            return Refusal("; ".join(problem.notes))

    def apply(self, m: Match, plan: tuple[ExpansionChoice, Replacement], rw: Rewriter) -> list[LibraryNode]:
        """Return the library nodes that the expansion itself consists of."""
        return install(rw, m[self.node], plan[1])

    def choose(self, node: LibraryNode) -> tuple[ExpansionChoice, Replacement]:
        """The first expansion that applies; `ExpansionError` with all reasons where none does."""
        known = sorted(expansions_of(node.kind), key=self._rank)
        refused: list[str] = []
        for position, expansion in enumerate(known):
            reason = expansion.refusal(self.target) or self._why_not_there(expansion)
            reason = reason or ("" if self._is_asked_for(expansion) else expansion.why_slow(node))
            if not reason:
                try:
                    built = expansion.build(node, self.costs)
                    return ExpansionChoice(
                        node.kind, expansion.name, tuple(refused), self._why(known[position:])
                    ), built
                except ExpansionError as problem:
                    reason = problem.message
            refused.append(f"{expansion.name}: {reason}")
        raise ExpansionError(
            f"no expansion of {node.kind} fits the target {self.target!r}",
            span=node.span,
            notes=tuple(refused) or (f"there is no expansion of {node.kind}",),
            help="write one with dcpy.libraries.api.expands and register it",
        )

    def _why_not_there(self, one: Expansion) -> str:
        """Return why a library that the runtime opens cannot be called; "" where it can, or is asked for by name."""
        is_there = one.name in (*self.libraries, *self.prefer)
        return NOT_THERE if one.environment and environment_of(one.environment).runtime and not is_there else ""

    def _rank(self, one: Expansion) -> tuple[int, int]:
        """Return an expansion's rank: requested ones first, then the target's preferences, then the catalog's order."""
        own = preference(self.target)
        asked = (place for place, name in enumerate(self.prefer) if _stands_for(name, one))
        return next(asked, len(self.prefer)), own.index(one.name) if one.name in own else len(own)

    def _is_asked_for(self, one: Expansion) -> bool:
        return any(_stands_for(name, one) for name in self.prefer)

    def _why(self, left: Sequence[Expansion]) -> str:
        """Return why the first of those that are `left` was chosen."""
        chosen, *others = left
        if self._is_asked_for(chosen):
            return "as was asked for"
        later = [one.name for one in others if not one.targets or self.target in one.targets]
        return f"preferred to {', '.join(later)}" if later else ""


def _stands_for(name: str, one: Expansion) -> bool:
    return name == one.name or (name == PURE and not one.environment)


@dataclass(frozen=True)
class ExpandLibraryNodes(Pass):
    """Expand every library node, also those of which expansions consist; remarks say why each got which.

    `prefer` names expansions to try before those that the target prefers; "pure" stands for all that call no library.
    `libraries` are the expansions that call libraries which the runtime opens, where these are there.
    `ExpansionError` gives all reasons where no expansion of a node applies, `UnknownName` where no kind of node has an
    expansion of a preferred name.
    """

    name: ClassVar[str] = "expand-library-nodes"
    ensures: ClassVar[str] = "expanded"
    prefer: tuple[str, ...] = ()
    target: str = "cpu"
    costs: Costs = COSTS
    libraries: tuple[str, ...] = ()

    def run(self, rw: Rewriter) -> int:
        """Return the number of nodes that were expanded."""
        return len(self.expand(rw))

    def expand(self, rw: Rewriter) -> tuple[ExpansionChoice, ...]:
        """The choices in program order."""
        for name in self.prefer:
            require_expansion(name)
        step = ExpandLibraryNode(self.prefer, self.target, self.costs, self.libraries)
        choices: list[ExpansionChoice] = []
        pending = [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, LibraryNode)][::-1]
        while pending:
            node = pending.pop()
            plan = step.choose(node)
            choices.append(plan[0])
            match = Match(rw.sdfg, rw.uses, {"node": node})
            pending += perform(step, match, plan, rw, reason=str(plan[0]))[::-1]
        return tuple(choices)


def expand_library_nodes(
    sdfg: Sdfg, prefer: Sequence[str] | str = (), target: str = "cpu", costs: Costs = COSTS
) -> tuple[ExpansionChoice, ...]:
    """`ExpandLibraryNodes` on an SDFG and those that it calls; returns the choices."""
    names = (prefer,) if isinstance(prefer, str) else tuple(prefer)
    step = ExpandLibraryNodes(names, target, costs)
    return tuple(choice for called in sdfg.with_callees() for choice in step.expand(Rewriter(called, step.name)))


def target_of(prefer: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The target whose expansions a user asks for, and which to try: "cpu", unless one is for another target alone."""
    for name in (each for each in EXPANSIONS if each.rpartition("/")[2] in prefer):
        for target in EXPANSIONS[name].targets:
            if found := expansions_for(target).by_hand:
                return target, (*prefer, *found)
    return "cpu", tuple(prefer)


def require_expansion(name: str) -> None:
    """`UnknownName` where no kind of library node has an expansion of this name."""
    known = sorted({PURE: None} | dict.fromkeys(one.rpartition("/")[2] for one in EXPANSIONS))
    if name not in known:
        raise unknown_name("expansion", name, known)


def install(rw: Rewriter, node: LibraryNode, replacement: Replacement) -> list[LibraryNode]:
    """Put the replacement where the node was; return the library nodes in it."""
    state = node.state
    if state is None or state.region is None:
        raise ExpansionError(f"{node.kind} is in no SDFG", span=node.span)
    region, blocks = state.region, replacement.blocks
    _hand_on_effects(node, blocks)
    for name in replacement.names:
        rw.fresh_name(name)  # which takes it
    for name in replacement.symbols:
        rw.sdfg.assign_symbol(name)
    for name, desc in replacement.containers.items():
        rw.declare(name, desc, region)
    if all(isinstance(block, State) for block in blocks):
        rw.replace(node, *(inner for block in blocks if isinstance(block, State) for inner in list(block.nodes)))
    else:
        before, alone, after = rw.split_state(node)
        rw.replace(alone, *blocks)
        for rest in (before, after):
            if not rest.nodes:
                rw.erase(rest)
    return [inner for block in blocks for inner in _library_nodes(block)]


def _hand_on_effects(node: LibraryNode, blocks: Sequence[Block]) -> None:
    """Pass a node's effects beside its outputs on to its replacement."""
    if Effect.ORDERED in effects_of(node):
        keep_in_order(inner for block in blocks for inner in _nodes(block))


def _nodes(block: Block) -> Iterator[Node]:
    """The nodes of a block, and those inside of it."""
    yield from block.nodes if isinstance(block, State) else ()
    yield from (inner for region in block.regions() for inner in region.walk_nodes())


def _library_nodes(block: Block) -> Iterator[LibraryNode]:
    yield from (node for node in _nodes(block) if isinstance(node, LibraryNode))

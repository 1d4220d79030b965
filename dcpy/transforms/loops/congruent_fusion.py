"""CongruentFusion: fusion of loops with equal bodies up to their results (value numbering of loops)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.value_numbering import value_number
from dcpy.ir.editing.copying import copy_node
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside, region_of, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class CongruentFusion(Transformation["Congruence"]):
    """Fuse loops whose iterations make the same decisions and computations, and differ only in their results.

    before   loop i = 0:N { k = bin(x[i]);  h[k] = h[k] + 1 }        after   map j = 0:M { s[j] = 0 }
             map j = 0:M { s[j] = 0 }                                        loop i = 0:N { k = bin(x[i])
             loop l = 0:N { q = bin(x[l]);  s[q] = s[q] + w[l] }                            h[k] = h[k] + 1
                                                                                            s[k] = s[k] + w[i] }

    Applies to sequential loops over the same range whose bodies have the same conditions, checks and assignments, block
    by block, where neither writes what the other one touches, and none writes what both read to decide. An iteration of
    the second loop then raises only what that of the first one has raised; what the second one has written until then
    must be private. States between the loops go before both. (Value numbering of loop bodies, and loop fusion: Allen
    and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "congruent-fusion"
    optional: ClassVar[bool] = True
    second = capture(Loop)
    pattern = one(second)

    def plan(self, m: Match) -> Congruence | Refusal:
        """The first loop, and the nodes that only the second one has. Refuses bodies with other differences."""
        second, uses = m[self.second], m.uses
        region = region_of(second)
        between: list[State] = []
        for block in reversed(region.blocks[: region.index(second)]):
            if isinstance(block, Loop):
                found = _congruence(block, second, uses)
                return found if isinstance(found, Refusal) else _why_not_before(between, block, uses) or found
            if not isinstance(block, State):
                break
            between.append(block)
        return Refusal("no loop stands before it")

    def apply(self, m: Match, plan: Congruence, rw: Rewriter) -> Loop:
        """Return the loop, which is the first one."""
        first, second = plan.first, m[self.second]
        region = region_of(second)
        between = region.blocks[region.index(first) + 1 : region.index(second)]
        rw.move_blocks(list(between), region, region.index(first))
        for state, node in plan.own:
            rw.move_nodes([node], state)
            rw.substitute(node, plan.names)
        rw.forward(second, first)
        rw.erase(second)
        return first


@dataclass(frozen=True, slots=True)
class Congruence:
    """The common part of two loops."""

    first: Loop
    names: Substitution  # the first loop's names for what the second one has
    own: Sequence[tuple[State, Node]]  # nodes of the second loop that the first one has not, and where they go


def _congruence(first: Loop, second: Loop, uses: Uses) -> Congruence | Refusal:
    if first.range != second.range or first.schedule != second.schedule:
        return Refusal("the loop before it has another range, or another schedule")
    if (effects_of(first) | effects_of(second)) & ~Effect.MAY_RAISE:
        return Refusal("a loop does more than to check and to compute")
    walk = _BodyComparison({second.param: first.param})
    refusal = walk.regions(first.body, second.body) or _why_mixed(walk, first, second, uses)
    if refusal is not None:
        return refusal
    return Congruence(first, walk.names, walk.own)


@dataclass
class _BodyComparison:
    """A walk over two bodies, block by block: maps names of the second to the first; collects differences."""

    symbols: dict[str, str]
    containers: dict[str, str] = field(default_factory=dict)
    shared: int = 0  # nodes that are in both
    own: list[tuple[State, Node]] = field(default_factory=list)

    @property
    def names(self) -> Substitution:
        return Substitution({its: sym(mine) for its, mine in self.symbols.items()}, self.containers)

    def regions(self, mine: Region, its: Region) -> Refusal | None:
        """The difference between two regions; None if they are equal."""
        descs = [list(region.containers.values()) for region in (mine, its)]
        if len(mine.blocks) != len(its.blocks) or descs[0] != [self.names.desc(desc) for desc in descs[1]]:
            return Refusal("their bodies differ")
        self.containers.update(zip(its.containers, mine.containers, strict=True))
        pairs = zip(mine.blocks, its.blocks, strict=True)
        return next((refusal for pair in pairs if (refusal := self._blocks(*pair)) is not None), None)

    def _blocks(self, mine: Block, its: Block) -> Refusal | None:
        match mine, its:
            case State(), State():
                return self._states(mine, its)
            case Branch(), Branch():
                conditions = [[condition for condition, _ in branch.cases] for branch in (mine, its)]
                pairs = list(zip(mine.regions(), its.regions(), strict=False))
                if self._equal(*conditions) and len(mine.regions()) == len(its.regions()):
                    return next((refusal for pair in pairs if (refusal := self.regions(*pair)) is not None), None)
            case Check(), Check():
                same = self._equal((mine.condition, *mine.values), (its.condition, *its.values))
                if same and (mine.exception, mine.message) == (its.exception, its.message):
                    return None
            case SymbolAssign(), SymbolAssign():
                same = self._equal((mine.value,), (its.value,))
                known = self.symbols.setdefault(its.symbol, mine.symbol)
                if same and known == mine.symbol and list(self.symbols.values()).count(known) == 1:
                    return None
        return Refusal("their bodies differ", (its,))

    def _states(self, mine: State, its: State) -> Refusal | None:
        """Match two states: equal nodes are shared, in order; the other nodes follow and only write results."""
        alone, own, start = list(mine.nodes), [], 0
        for node in its.nodes:
            if _only_writes_beside(node, self.containers):
                own.append((mine, node))
                continue
            number = value_number(copy_node(node, self.names), ())
            partner = next((other for other in mine.nodes[start:] if value_number(other, ()) == number), None)
            if partner is None or own:
                return Refusal("their bodies compute different values", (node,))
            start = mine.index(partner) + 1
            alone.remove(partner)
            self.shared += 1
        other = next((node for node in alone if not _only_writes_beside(node, self.containers.values())), None)
        if other is not None:
            return Refusal("their bodies compute different values", (other,))
        self.own += own
        return None

    def _equal(self, mine: Sequence[ScalarExpr], its: Sequence[ScalarExpr]) -> bool:
        return list(mine) == [self.names.scalar(expr) for expr in its]


def _only_writes_beside(node: Node, private: Collection[str]) -> bool:
    """Return whether a node is a tasklet without effects that writes none of these containers."""
    outputs = {memlet.container for memlet in node.writes()}
    return isinstance(node, Tasklet) and outputs.isdisjoint(private) and not effects_of(node)


def _why_mixed(walk: _BodyComparison, first: Loop, second: Loop, uses: Uses) -> Refusal | None:
    """The reason not to interleave iterations of two congruent loops; None if interleaving is legal."""
    if not walk.shared:
        return Refusal("their iterations have nothing in common")
    known = {first.param, *symbols_assigned_in(first.body)} - {second.param}
    if any(not known.isdisjoint(uses.accesses(part).symbols) for part in subtree(second)):
        return Refusal("the second loop uses a symbol of the first one")  # by a name that has another value by then
    for symbol in symbols_assigned_in(second.body):
        elements = (*uses.users(symbol), *uses.definers(symbol))
        if not all(is_inside(element, second) for element in elements):
            return Refusal(f"symbol {symbol!r} is needed behind the loop")
    accessed = [names_in(loop, uses) for loop in (first, second)]
    for (_, written), (reads, writes) in (accessed, reversed(accessed)):
        for name in (other for each in written for other in uses.overlapping(each)):
            if name in reads or name in writes:
                return Refusal(f"one loop writes {name!r}, which the other one touches")
    if Effect.MAY_RAISE in effects_of(first) | effects_of(second):
        seen = next((name for name in accessed[1][1] if not uses.is_private(uses.root(name))), "")
        if seen:
            return Refusal(f"an exception of the first loop would find {seen!r} written by the second one")
    return None


def _why_not_before(between: Sequence[State], first: Loop, uses: Uses) -> Refusal | None:
    """The reason not to move the states after a loop before it; None if the move is legal."""
    reads, writes = names_in(first, uses)
    assigned = set(symbols_assigned_in(first.body))
    for state in between:
        if any(not assigned.isdisjoint(uses.accesses(part).symbols) for part in subtree(state)):
            return Refusal("what stands between the loops uses a symbol that the first one assigns", (state,))
        its_reads, its_writes = names_in(state, uses)
        if effects_of(state):
            return Refusal("what stands between the loops does more than to compute", (state,))
        for name in (other for each in (*its_reads, *its_writes) for other in uses.overlapping(each)):
            if name in writes or (name in reads and name in its_writes):
                return Refusal(f"what stands between the loops touches {name!r}, as the first one does", (state,))
        if Effect.MAY_RAISE in effects_of(first) and not all(uses.is_private(uses.root(name)) for name in its_writes):
            return Refusal("an exception of the first loop would find what is written between the loops", (state,))
    return None

"""Inspectors and executors: the slice of a loop that decides if an iteration raises, and the loop without checks.

Both work on copies, before they are in a program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dcpy.base.articles import with_article
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, WrapIndex, cast, loads_of, op, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import owners_around, subtree


def why_not_inspected(loop: Loop) -> Refusal | None:
    """The reason that no inspector can find the first iteration that raises; None if only checks and indices raise."""
    exits = list(leavers(loop.body))
    if not exits:
        return Refusal("nothing inside ends it early")
    if loop.range.step is not ONE or loop.range.size is ONE:
        return Refusal("its values do not go up one by one")
    if any(isinstance(owner, Loop) and owner.range.size is ONE for owner in owners_around(loop)):
        return Refusal("the loop around it runs once, to raise")
    other = next((part for part in exits if not isinstance(part, Check | SymbolAssign)), None)
    return None if other is None else Refusal(f"{with_article(other.kind)} inside may end it early", (other,))


# -- the inspector ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """The result of the inspector: the smallest iteration that fails, in the container `first`."""

    first: str
    iteration: ScalarExpr
    none: ScalarExpr
    needed: Collection[str] = ()  #: what iterations compute for themselves, and checks depend on

    def always(self) -> State:
        return self._note({}, self.iteration)

    def passes(self) -> ScalarExpr:
        """The condition that nothing has failed so far."""
        return op("ge", Load(self.first, (), types.int64), self.none)

    def where(self, fails: ScalarExpr) -> State:
        inputs, condition = over_connectors(fails)
        return self._note(inputs, op("select", condition, self.iteration, self.none))

    def _note(self, inputs: dict[str, Memlet], value: ScalarExpr) -> State:
        return State(nodes=[Tasklet(inputs, {"out": Memlet(self.first, Subset(), "min")}, (("out", value),))])


def over_connectors(expr: ScalarExpr) -> tuple[dict[str, Memlet], ScalarExpr]:
    """An expression over connectors, and the input memlets for its reads from memory."""
    inputs: dict[str, Memlet] = {}
    names: dict[Load, str] = {}

    def as_input(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load):
            return None
        name = names.setdefault(part, f"x{len(names)}")
        inputs[name] = Memlet(part.container, Subset(part.indices))
        return Ref(name, part.dtype)

    return inputs, rewrite(expr, as_input)


def inspect(region: Region, mark: Mark) -> None:
    """Reduce a region to the code that decides if the iteration fails; a failed check guards all code after it."""
    blocks = list(region.blocks)
    for block in blocks:
        region.remove(block)
    for block in _inspection(blocks, mark):
        region.add(block)
    mentioned = _mentioned(region)  # other containers may have sizes that are no longer assigned
    region.containers = {name: desc for name, desc in region.containers.items() if name in mentioned}


def _mentioned(region: Region) -> set[str]:
    """The containers that code inside accesses, directly or through views."""
    found: set[str] = set()
    for element in (element for block in region.blocks for element in subtree(block)):
        found |= {memlet.container for memlet in (*element.reads(), *element.writes())}
        found |= {load.container for expr in element.exprs() for load in loads_of(expr)}
    views = {name: desc.of for inner in region.walk_regions() for name, desc in inner.containers.items()
             if isinstance(desc, View)}  # fmt: skip
    pending = list(found)
    while pending:
        base = views.get(pending.pop())
        if base is not None and base not in found:
            found.add(base)
            pending.append(base)
    return found


def _inspection(blocks: list[Block], mark: Mark) -> list[Block]:
    kept: list[Block] = []
    for position, block in enumerate(blocks):
        rest = blocks[position + 1 :]
        fails = _failure(block)
        if fails is not None:
            after = _inspection(rest, mark)
            if not after:
                return [*kept, mark.where(fails)]
            first = [without_check(block)] if isinstance(block, SymbolAssign) else []
            return [*kept, Branch([(fails, Region([mark.always()]))], Region([*first, *after]), span=block.span)]
        block, rest = _cut(block, rest) if mark.needed else (block, rest)
        may_fail = _may_fail(block)  # looked at, it only notes that it does
        kept += _inspected(block, mark)
        if mark.needed and may_fail:
            after = _inspection(rest, mark)
            return [*kept, Branch([(mark.passes(), Region(after))])] if after else kept
    return kept if any(not isinstance(block, SymbolAssign) for block in kept) else []


def _cut(block: Block, rest: list[Block]) -> tuple[Block, list[Block]]:
    """Cut a state after its first map that may fail; the nodes after that run later."""
    if isinstance(block, State):
        for position, node in enumerate(block.nodes[:-1]):
            if isinstance(node, Map) and any(leavers(node.body)):
                later = State(nodes=block.nodes[position + 1 :], span=block.span)
                block.nodes = block.nodes[: position + 1]
                return block, [later, *rest]
    return block, rest


def _inspected(block: Block, mark: Mark) -> Iterable[Block]:
    """The inspected form of a block that does not fail itself."""
    if isinstance(block, SymbolAssign):
        return [block]
    if isinstance(block, State):
        block.nodes = [node for node in block.nodes if _matters(node, mark)]
    if not _may_fail(block) and not _computes(block, mark):
        return []
    for region in block.regions():
        inspect(region, mark)
    return [block]


def _may_fail(block: Block) -> bool:
    """Return whether code inside a block may end it early."""
    return any(any(leavers(region)) for region in block.regions())


def _matters(node: Node, mark: Mark) -> bool:
    return (isinstance(node, Map) and any(leavers(node.body))) or _computes(node, mark)


def _computes(part: Block | Node, mark: Mark) -> bool:
    """Return whether a part writes only values that checks depend on."""
    written = {memlet.container for element in subtree(part) for memlet in element.writes()}
    return bool(written) and written.issubset(mark.needed)


def _failure(block: Block) -> ScalarExpr | None:
    """The condition under which a block raises; None where it never does."""
    match block:
        case Check(condition=condition):
            return op("not", condition)
        case SymbolAssign(value=WrapIndex(arg=arg, size=size)):
            index = cast(arg, types.int64)
            return op("or", op("lt", index, Index(-size)), op("ge", index, Index(size)))
    return None


# -- the executor ----------------------------------------------------------------------------------------------------


def run_unchecked(region: Region) -> None:
    """Remove the checks from a region."""
    for inner in list(region.walk_regions()):
        for block in list(inner.blocks):
            match block:
                case Check():
                    inner.remove(block)
                case SymbolAssign(value=WrapIndex()):
                    inner.replace(block, [without_check(block)])


def without_check(block: SymbolAssign) -> SymbolAssign:
    """A wrapped index without its range check: a negative index counts from the end."""
    wrapped = block.value
    assert isinstance(wrapped, WrapIndex)
    index = cast(wrapped.arg, types.int64)
    value = op("select", op("lt", index, Const(0, types.int64)), op("add", index, Index(wrapped.size)), index)
    return SymbolAssign(block.symbol, value, span=block.span)

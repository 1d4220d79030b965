"""Unswitching: a version of a loop whose checks are known to hold, and whose branches all go their first way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Load, Op, ScalarExpr, loads_of, op, rewrite, symbols_of
from dcpy.ir.region import Block, Branch, Check, Loop, Region
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.gpu.placement.place_copies import is_total
from dcpy.transforms.loops.loop_versioning import all_hold, least_values


@dataclass(frozen=True, slots=True)
class InvariantConditions:
    """Checks and branches of a loop whose outcome is known in all iterations, if `conditions` hold before it."""

    blocks: tuple[Block, ...]
    conditions: tuple[ScalarExpr, ...]


def invariant_conditions_in(loop: Loop, uses: Uses) -> InvariantConditions:
    """Return the checks and branches of a loop whose results are known before it.

    Of conditions on the loop's own counters, those that are linear: they are least at one end. Others that no iteration
    changes are asked once. What stands in the other ways of branches that are invariant does not matter.
    """
    blocks: list[Block] = []
    conditions: dict[ScalarExpr, None] = {}
    changed = frozenset(symbols_assigned_in(loop.body))
    varying = changed | {region_param for region in loop.body.walk_regions() for region_param in region.params}
    _collect_invariant(loop.body, loop, changed, varying | {loop.param}, uses, blocks, conditions)
    return InvariantConditions(tuple(blocks), tuple(conditions))


def _collect_invariant(
    region: Region,
    loop: Loop,
    changed: frozenset[str],
    varying: frozenset[str],
    uses: Uses,
    blocks: list[Block],
    conditions: dict[ScalarExpr, None],
) -> None:
    for block in region.blocks:
        if isinstance(block, Check | Branch):
            condition = block.condition if isinstance(block, Check) else block.cases[0][0]
            guard = _before(condition, block, loop, changed, varying, uses)
            if guard is not None:
                blocks.append(block)
                conditions[guard] = None
                for inner in block.regions()[:1]:
                    _collect_invariant(inner, loop, changed, varying, uses, blocks, conditions)
                continue
        for inner in block.regions():
            _collect_invariant(inner, loop, changed, varying, uses, blocks, conditions)


def _before(
    condition: ScalarExpr, at: Block, loop: Loop, changed: frozenset[str], varying: frozenset[str], uses: Uses
) -> ScalarExpr | None:
    """A condition that can be asked before a loop, and says that this one holds in it; None where there is none."""
    values = least_values(condition, at, loop, changed, uses)
    if values:
        return all_hold([values], uses.sdfg.sizes)
    stays = varying.isdisjoint(symbols_of(condition)) and all(_stays(load, loop, uses) for load in loads_of(condition))
    return condition if stays and is_total(rewrite(condition, _number)) else None


def _stays(load: Load, loop: Loop, uses: Uses) -> bool:
    """Return whether a load is of a number that is not written in a loop."""
    names = uses.overlapping(load.container)
    return not load.indices and not any(is_inside(element, loop) for name in names for element in uses.writers(name))


def _number(part: ScalarExpr) -> ScalarExpr | None:
    """A number that is there can be loaded."""
    return Const(0, part.dtype) if isinstance(part, Load) and not part.indices else None


def is_fallback_loop(loop: Loop, invariant: InvariantConditions) -> bool:
    """Return whether a loop runs only where some of what would have to hold does not: it is another version's other
    way.
    """
    wanted = {part for condition in invariant.conditions for part in _parts(condition)}
    branches = (owner for owner in owners_around(loop) if isinstance(owner, Branch))
    return any(
        is_inside(loop, branch.otherwise) and wanted.issuperset(_parts(branch.cases[0][0]))
        for branch in branches
        if branch.otherwise is not None
    )


def _parts(condition: ScalarExpr) -> Iterator[ScalarExpr]:
    """The conditions that all have to hold."""
    if isinstance(condition, Op) and condition.name == "and":
        for part in condition.args:
            yield from _parts(part)
    else:
        yield condition


def unswitched(loop: Loop, invariant: InvariantConditions, rw: Rewriter) -> Loop:
    """Make two versions of a loop; return the one for runs in which all that is invariant is so."""
    fast = clone(loop, rw)
    blocks = list(fast.body.walk_blocks())
    copies = dict(zip(loop.body.walk_blocks(), blocks, strict=True))
    holds = reduce(lambda first, second: op("and", first, second), invariant.conditions)
    rest = Region()
    rw.insert_before(loop, Branch([(holds, Region([fast]))], rest, span=loop.span))
    rw.move_blocks([loop], rest)
    for block in invariant.blocks:
        copied = copies[block]
        if isinstance(copied, Branch):
            rw.inline_region(copied.cases[0][1], copied)
        else:
            rw.erase(copied)
    return fast

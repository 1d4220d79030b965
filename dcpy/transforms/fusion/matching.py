"""Alignment of iteration spaces: the correspondence of iterations of two maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dependence.loop_dependences import groups_depend
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, Ranges, sym
from dcpy.transforms.fusion.prefixes import same_value

Renaming = Mapping[str, Expr]  # the second map's parameters in terms of the first map's


def matching_points(
    first: Map, second: Map, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], tmp: str, ranges: Ranges
) -> Renaming | Refusal:
    """The first match of the iteration spaces under which different iterations are independent."""
    points = tuple(zip(first.params, first.domain, strict=True))
    shared = {access.memory for access in ours}
    reason = f"iteration spaces differ: {space_of(first)} and {space_of(second)}"
    asked: dict[tuple[tuple[str, Expr], ...], None] = {}
    for renaming in _candidates(first, second, ours, theirs, tmp):
        if renaming in asked:
            continue
        asked[renaming] = None
        values = dict(renaming)
        if not _same_space(first, second, values, ranges):
            continue
        right = [access.subs(values) for access in theirs if access.memory in shared]
        answer = groups_depend(ours, right, points, ranges)
        if answer.is_no:
            return values
        reason = answer.reason
    return Refusal(reason)


def _candidates(
    first: Map, second: Map, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], tmp: str
) -> Iterator[tuple[tuple[str, Expr], ...]]:
    """Candidate renamings of the second map's parameters: in order, and as accesses to the temporary suggest."""
    yield tuple(_in_order(first, second).items())
    written = [access.subset for access in ours if access.is_write and access.container == tmp]
    read = [access.subset for access in theirs if not access.is_write and access.container == tmp]
    for produced in dict.fromkeys(written):
        for consumed in dict.fromkeys(read):
            if produced is not None and consumed is not None:
                yield from _aligned(first, second, produced, consumed)


def _aligned(first: Map, second: Map, produced: Subset, consumed: Subset) -> Iterator[tuple[tuple[str, Expr], ...]]:
    values: dict[str, Expr] = {}
    free = list(first.params)
    for mine, its in zip(produced.dims, consumed.dims, strict=True):
        for name in second.params:
            slope = its.linear_in(name) if isinstance(its, Expr) else None
            if not isinstance(mine, Expr) or slope is None or slope[0] is not ONE or name in values:
                continue
            target = next((param for param in free if param in mine.symbols), None)
            if target is not None:
                values[name] = mine - slope[1]
                free.remove(target)
    for name in second.params:
        if name not in values:
            values[name] = sym(free.pop(0))
    if all(name not in value.symbols for name in second.params for value in values.values()):
        yield tuple((name, values[name]) for name in second.params)


def _same_space(first: Map, second: Map, renaming: Renaming, ranges: Ranges) -> bool:
    """Return whether the second map covers the first map's points under a renaming by shifted parameters."""
    domains = dict(zip(first.params, first.domain, strict=True))
    for name, values in zip(second.params, second.domain, strict=True):
        mine = next((param for param in domains if renaming[name].linear_in(param) is not None
                     and param in renaming[name].symbols), None)  # fmt: skip
        if mine is None:
            return False
        shift = renaming[name] - sym(mine)
        ours, theirs = domains.pop(mine), values.subs(renaming)
        same = (ours.start + shift, ours.stop + shift, ours.step), (theirs.start, theirs.stop, theirs.step)
        if not all(same_value(a, b, ranges) for a, b in zip(*same, strict=True)):
            return False
    return True


def in_order(first: Map, second: Map, ranges: Ranges) -> Renaming | Refusal:
    """The second map's parameters in terms of the first map's, in order and shifted, if the spaces are equal."""
    if len(first.params) == len(second.params):
        renaming = _in_order(first, second)
        if _same_space(first, second, renaming, ranges):
            return renaming
    return Refusal(f"iteration spaces differ: {space_of(first)} and {space_of(second)}")


def _in_order(first: Map, second: Map) -> Renaming:
    starts = zip(first.params, first.domain, second.params, second.domain, strict=True)
    return {its: sym(mine) + (theirs.start - ours.start) for mine, ours, its, theirs in starts}


def inverse(renaming: Renaming, first: Map) -> dict[str, Expr] | None:
    """The first map's parameters in terms of the second map's; None if shifts depend on parameters."""
    values: dict[str, Expr] = {}
    for name, value in renaming.items():
        mine = next(param for param in first.params if param in value.symbols)
        shift = value - sym(mine)
        if not {*first.params, *renaming}.isdisjoint(shift.symbols):
            return None
        values[mine] = sym(name) - shift
    return values


def why_not_own(node: Map, written: Subset, name: str) -> Refusal | None:
    """The reason that the iterations of a map do not write one element each, in a box; None if they do."""
    if any(values.step is not ONE or not {*node.params}.isdisjoint(values.symbols) for values in node.domain):
        return Refusal("the iterations of a map are no box")
    found: list[str] = []
    for dim in written.dims:
        params = [param for param in node.params if isinstance(dim, Expr) and param in dim.symbols]
        form = dim.linear_in(params[0]) if isinstance(dim, Expr) and len(params) == 1 else None
        found += params
        if params and (form is None or not form[0].constant):
            return Refusal(f"iterations of a map may write the same element of {name!r}")
    if sorted(found) != sorted(node.params):
        return Refusal(f"iterations of a map may write the same element of {name!r}")
    return None


def space_of(node: Map) -> str:
    """The iteration space of a map, for messages."""
    return ", ".join(map(str, node.domain))

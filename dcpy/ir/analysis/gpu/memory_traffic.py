"""Memory traffic: the bytes that a kernel has to move between memory and chip, and those that it moves in sectors.

Derived from the access relation of a kernel as it stands, with its tiles and threads. For one launch, symbolic in
sizes: `floor` counts distinct elements that are read before the kernel has written them, and those that it writes;
`moved` counts the sectors of 32 bytes in which they lie. Where sizes are known, `sectors` counts both exactly. What the
hooks of the simulator count from the text of kernels is compared with this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memlet_propagation import SymbolValues, swept
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.tiled_footprints import without_tiles
from dcpy.ir.data import Array, Scalar, Space
from dcpy.ir.expressions.scalar import Op, Ref, ScalarExpr, children
from dcpy.ir.field_roles import Role
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, ceil_div, max_of, product_of

SECTOR = 32  #: bytes that memory hands out at once


@dataclass(frozen=True, slots=True)
class AccessedPart:
    """Elements that one access touches: any where the footprint is None, and maybe none unless it is `certain`."""

    footprint: Footprint | None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class MovedBytes:
    """Bytes that a launch reads from a container, or writes to it.

    Of reads, `needed` are those of elements that the kernel has not written itself before: memory has to bring them.
    `floor` and `moved` are bytes, of elements at least, and of sectors at most.
    """

    container: str
    writes: bool
    itemsize: int
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    parts: tuple[AccessedPart, ...]
    needed: tuple[AccessedPart, ...]
    floor: Expr
    moved: Expr

    @property
    def is_data_dependent(self) -> bool:
        """Return whether values that only the run knows decide what is touched."""
        return any(part.footprint is None or part.footprint.is_run_time or not part.certain for part in self.parts)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Memory traffic of one launch of a kernel, container by container."""

    moves: tuple[MovedBytes, ...]

    @property
    def floor(self) -> Expr:
        """Bytes that have to move at least, in any kernel."""
        return reduce(add, (move.floor for move in self.moves), ZERO)

    @property
    def moved(self) -> Expr:
        """Bytes of the sectors that the kernel touches, each once for reading and once for writing."""
        return reduce(add, (move.moved for move in self.moves), ZERO)

    @property
    def data_dependent(self) -> tuple[str, ...]:
        """The containers of which only the run knows what is touched."""
        return tuple(dict.fromkeys(move.container for move in self.moves if move.is_data_dependent))


def traffic_of(kernel: Map, uses: Uses) -> Traffic:
    """Return a kernel's traffic in device memory; data private to its blocks and threads stay on the chip."""
    found: dict[str, list[MemoryAccess]] = {}
    for access in accesses_in(kernel, uses):
        if _in_memory(access.root, uses):
            found.setdefault(access.root, []).append(access)
    ranges = uses.ranges_at(kernel)
    ways = ((name, writes) for name in found for writes in (False, True))
    moves = (_moved(name, found[name], writes, uses, ranges) for name, writes in ways)
    return Traffic(tuple(move for move in moves if move.parts))


def _in_memory(name: str, uses: Uses) -> bool:
    desc = uses.desc(name)
    return isinstance(desc, Array | Scalar) and desc.space in (Space.GLOBAL, Space.PINNED)


def _moved(name: str, accesses: Sequence[MemoryAccess], writes: bool, uses: Uses, ranges: Ranges) -> MovedBytes:
    desc = uses.desc(name)
    assert isinstance(desc, Array | Scalar)
    strides = desc.strides if isinstance(desc, Array) else ()
    mine = [access for access in accesses if _takes_part(access, writes)]
    parts = _parts(mine)
    needed = parts if writes else _parts([access for access in mine if _is_exposed(access, accesses)])
    size = desc.dtype.itemsize
    boxes = list(_boxes(parts, desc.shape, ranges))
    sure = (box.volume for box, exact in _boxes(needed, desc.shape, ranges) if exact)
    floor = max_of(ZERO, *sure) * size
    sectors = reduce(add, (_sectors(box, desc.shape, strides, size) for box in _apart(boxes, ranges)), ZERO)
    return MovedBytes(name, writes, size, desc.shape, strides, parts, needed, floor, sectors * SECTOR)


def _takes_part(access: MemoryAccess, writes: bool) -> bool:
    return access.is_write if writes else access.mode in (Mode.READ, Mode.COMBINE)


def _parts(accesses: Sequence[MemoryAccess]) -> tuple[AccessedPart, ...]:
    """Each distinct footprint once: certain where one access of it is."""
    found: dict[Footprint | None, bool] = {}
    for access in accesses:
        footprint = access.footprint()
        if footprint is not None:
            footprint = _without_idle(without_tiles(footprint).box())
        found[footprint] = found.get(footprint, False) or (access.is_sure() and _is_always_read(access))
    return tuple(AccessedPart(footprint, certain and footprint is not None) for footprint, certain in found.items())


def _is_always_read(access: MemoryAccess) -> bool:
    """Return whether the value decides nothing about itself: one that a choice may not take is perhaps not loaded."""
    code = list(access.place.all_of(Role.CODE)) if access.mode is Mode.READ else []
    names = {operand.connector for operand in access.place.operands() if operand.memlet == access.memlet}
    return not code or any(name in names for expr in code for name in _surely_used(expr))


def _surely_used(expr: ScalarExpr) -> Iterator[str]:
    """The connectors that an expression needs, for all values."""
    if isinstance(expr, Ref):
        yield expr.name
    lazy = isinstance(expr, Op) and expr.name in ("select", "and", "or")
    for operand in children(expr)[:1] if lazy else children(expr):
        yield from _surely_used(operand)


def _without_idle(footprint: Footprint) -> Footprint:
    """Without variables that take one value, or that nothing mentions: what is touched again is touched once."""
    over = list(footprint.over)
    for name, values in reversed(footprint.over):
        mentioned = {*footprint.subset.symbols, *(other for _, dim in over if dim is not None for other in dim.symbols)}
        if values is not None and name not in mentioned and values.size.constant != 0:
            over.remove((name, values))
    return Footprint(footprint.subset, tuple(over))


def _is_exposed(access: MemoryAccess, others: Sequence[MemoryAccess]) -> bool:
    """Return whether it surely reads what was there before the kernel: a write of the same element, if any, comes
    later.
    """
    for other in others:
        if other.is_write and other is not access:
            same = other.subset is not None and other.subset == access.subset
            if not same or other.position < access.position:
                return False
    return True


# -- closed forms ------------------------------------------------------------------------------------------------------


def _boxes(parts: Sequence[AccessedPart], shape: Sequence[Expr], ranges: Ranges) -> Iterator[tuple[Subset, bool]]:
    """The box around each part, and whether it surely touches just that."""
    for part in parts:
        if part.footprint is None:
            yield Subset.whole(shape), False
            continue
        sweeps = []
        known = part.footprint.known(ranges)
        for name, values in part.footprint.over:
            sweeps.append(SymbolValues(name, nonempty=True) if values is None else SymbolValues.of(name, values, known))
        box, exact = swept(part.footprint.subset, sweeps, shape, known)
        yield box, exact and part.certain


def _apart(boxes: Sequence[tuple[Subset, bool]], ranges: Ranges) -> tuple[Subset, ...]:
    """Boxes around all of them, no two of which have an element in common."""
    kept: list[Subset] = []
    for merged, _ in boxes:
        while (other := next((each for each in kept if not merged.disjoint(each, ranges)), None)) is not None:
            kept.remove(other)
            merged = other if other.covers(merged, ranges) else merged.hull_with(other)
        kept.append(merged)
    return tuple(kept)


def _sectors(box: Subset, shape: Sequence[Expr], strides: Sequence[Expr], itemsize: int) -> Expr:
    """Sectors that a box touches: of each run of neighbours, as many as it has at most wherever it begins."""
    run, gap, runs = _run(box, shape, strides)
    if gap * itemsize >= SECTOR:  # each element is in a sector of its own
        return run * runs
    length = ((run - 1) * gap + 1) * itemsize
    loose = 0 if runs is ONE else SECTOR - itemsize
    return runs * ceil_div(length + loose, SECTOR)


def _run(box: Subset, shape: Sequence[Expr], strides: Sequence[Expr]) -> tuple[Expr, int, Expr]:
    """Return the length of a run of elements, the distance between its elements, and the number of runs."""
    rest = {axis: _extent(dim) for axis, dim in enumerate(box.dims) if _extent(dim) is not ONE}
    gaps = {axis: gap for axis in rest if (gap := _gap(box.dims[axis], strides[axis]))}
    if not gaps:
        return ONE, 1, product_of(*rest.values())
    axis = min(gaps, key=lambda each: gaps[each])
    run = rest.pop(axis)
    whole = gaps[axis] == 1 and run is shape[axis]
    while whole:  # rows that lie end to end are one
        behind = strides[axis] * shape[axis]
        after = next((other for other in rest if strides[other] is behind), None)
        if after is None or _step(box.dims[after]) is not ONE:
            break
        whole, axis = rest[after] is shape[after], after
        run = run * rest.pop(after)
    return run, min(gaps.values()), product_of(*rest.values())


def _extent(dim: DimSubset) -> Expr:
    return dim.size if isinstance(dim, Range) else ONE


def _step(dim: DimSubset) -> Expr:
    return dim.step if isinstance(dim, Range) else ONE


def _gap(dim: DimSubset, stride: Expr) -> int:
    """Elements from one index to the next; 0 where that is not a number."""
    return abs((stride * _step(dim)).constant or 0)

"""One loop nest for everything that sums over dimensions: reductions, dot, matrix-vector and matrix products.

A `Contraction` names its dimensions, which of them are summed over, and the dimension along which neighbours lie in
memory (`inner`); this module chooses the order of the loops so that the innermost one is a SIMD loop over `inner`:

* **rows** where `inner` is summed over: one private accumulator per result, which the SIMD loop reduces;
* **columns** where `inner` is kept: a private row of accumulators, to which the SIMD loop adds element by element.

Sums of floats go through partial sums of `CHUNK` elements: quick, and as accurate as NumPy's pairwise sum. Those of
short floats are taken in double precision, of columns after at most `GROUP` rows, which are added as they are: that
keeps the speed of short lanes, and the error does not grow with the length. Nothing here needs an atomic operation:
every accumulator belongs to one iteration, and partial results have a slot each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.schedules import SEQUENTIAL, VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ceil_div, const, min_of
from dcpy.ir.types import DType
from dcpy.libraries.fragment import Element, Fragment, Operand

CHUNK = 1024  # elements of one partial sum: 128 per lane of eight
COLUMNS = 1024  # accumulators of one private row: they stay in the first-level cache
BLOCK = 32 * CHUNK  # elements of a parallel block; fixed, so that results do not depend on the number of cores
ROWS = 64  # rows of a parallel block, where a row is not known to be one run of memory
SOME = 8  # rows that make a group worth it
GROUP = 128  # rows that are added up in the elements' own precision
TALL = 4 * CHUNK  # rows from which on a sum of rows is worth dividing among threads

WIDER = {types.float16: types.float64, types.float32: types.float64, types.complex64: types.complex128}

Indices = Sequence[Expr]


@dataclass(frozen=True, slots=True)
class Contraction:
    """``store(kept indices) = op over the summed dimensions of element(all indices)``.

    `element(f, target, indices, wcr)` writes one element's contribution, `store(f, kept, value)` takes a result.
    `dtype` is the accumulator's, `identity` where it starts.
    """

    sizes: tuple[Expr, ...]
    summed: tuple[int, ...]
    inner: int
    op: str
    dtype: DType
    identity: bool | int | float | complex
    element: Callable[[Fragment, Element, Indices, str], object]
    store: Callable[[Fragment, Indices, Element], object]
    short: DType | None = None  # what a few columns may be summed in, where `dtype` is wider

    @property
    def kept(self) -> tuple[int, ...]:
        """The dimensions of the result."""
        return tuple(dim for dim in range(len(self.sizes)) if dim not in self.summed)

    @property
    def is_chunked(self) -> bool:
        """Whether the order of combination matters for accuracy, so that partial sums pay."""
        return self.op in ("add", "mul") and self.dtype.is_inexact

    def whole(self, dim: int) -> Range:
        """All of a dimension."""
        return Range(ZERO, self.sizes[dim])


def accumulator_dtype(op: str, dtype: DType) -> DType:
    """The dtype to accumulate in: the result's own, but sums of short floats are taken in double precision.

    They are as close to exact as NumPy's pairwise sums, or closer, along any axis and however long it is.
    """
    return WIDER.get(dtype, dtype) if op == "add" else dtype


def short_dtype(dtype: DType, accumulator: DType) -> DType | None:
    """What a few elements of `dtype` may be summed in; None where that is the accumulator's.

    float16 has no arithmetic of its own.
    """
    short = types.float32 if dtype == types.float16 else dtype
    return short if short != accumulator else None


def contract(f: Fragment, spec: Contraction) -> None:
    """Writes the loop nest."""
    if spec.inner in spec.summed:
        _rows(f, spec)
    elif spec.summed:
        _columns(f, spec)
    else:
        _elementwise(f, spec)


def innermost(sizes: Sequence[Expr], *strides: Sequence[Expr]) -> int:
    """The dimension to loop over innermost: one where most operands have stride 1, else the last.

    `strides` has one sequence per operand, with stride 0 where the operand does not have that dimension.
    """
    scores = [sum(1 for operand in strides if operand[dim] is ONE) for dim in range(len(sizes))]
    best = max(scores, default=0)
    return max((dim for dim, score in enumerate(scores) if score == best), default=-1)


def _elementwise(f: Fragment, spec: Contraction) -> None:
    """No dimension is summed over: each result is one element."""
    with f.maps([spec.whole(dim) for dim in spec.kept]) as indices:
        value = f.scalar("acc", spec.dtype)
        spec.element(f, value.at(), indices, "")
        spec.store(f, indices, value.at())


def _rows(f: Fragment, spec: Contraction) -> None:
    if spec.kept:
        _row_by_row(f, spec)
        return
    outer = spec.summed[0]
    few = BLOCK if outer == spec.inner else ROWS
    _by_size(f, spec.sizes[outer], few, lambda: _blocked(f, spec, outer), lambda: _row_by_row(f, spec))


def _by_size(f: Fragment, size: Expr, limit: int, large: Callable[[], None], small: Callable[[], None]) -> None:
    """Writes one of two loop nests, or both where only the run time knows the size."""
    if size.constant is not None:
        (large if size.constant > limit else small)()
        return
    above, below = f.branch(op("lt", Index(const(limit)), Index(size)))
    with f.inside(above):
        large()
    with f.inside(below):
        small()


def _row_by_row(f: Fragment, spec: Contraction) -> None:
    """A private accumulator for each result."""
    with f.maps([spec.whole(dim) for dim in spec.kept]) as kept:
        acc = f.scalar("acc", spec.dtype)
        f.put(acc.at(), spec.identity)
        _accumulate(f, spec, acc.at(), dict(zip(spec.kept, kept, strict=True)), {})
        spec.store(f, kept, acc.at())


def _blocked(f: Fragment, spec: Contraction, outer: int) -> None:
    """One result from everything: blocks of the first summed dimension in parallel, a slot each, then the slots."""
    size = spec.sizes[outer]
    length = BLOCK if outer == spec.inner else ROWS
    slots = Range(ZERO, ceil_div(size, length))
    partial = f.array("partial", spec.dtype, (slots.stop,))
    with f.map(slots, param="block") as block:
        acc = f.scalar("acc", spec.dtype)
        f.put(acc.at(), spec.identity)
        part = Range(block * length, min_of(block * length + length, size))
        _accumulate(f, spec, acc.at(), {}, {outer: part})
        f.put(partial.at(block), acc.at())
    total = f.scalar("total", spec.dtype)
    f.put(total.at(), spec.identity)
    with f.map(slots, VECTOR, "slot") as slot:
        f.put(total.at(), partial.at(slot), wcr=spec.op)
    spec.store(f, (), total.at())


def _accumulate(f: Fragment, spec: Contraction, acc: Element, fixed: dict[int, Expr], limits: dict[int, Range]) -> None:
    """Adds to `acc` everything within `limits`: sequential loops, the last one SIMD over `inner`."""
    outer = [dim for dim in spec.summed if dim != spec.inner]
    run = limits.get(spec.inner, spec.whole(spec.inner))
    with f.maps([limits.get(dim, spec.whole(dim)) for dim in outer], SEQUENTIAL) as indices:
        position = fixed | dict(zip(outer, indices, strict=True))
        if not spec.is_chunked or _is_small(spec.sizes[spec.inner], CHUNK):
            _sum_run(f, spec, acc, position, run)
            return
        with f.map(replace(run, step=const(CHUNK)), SEQUENTIAL, "chunk") as chunk:
            part = f.scalar("part", spec.dtype)
            f.put(part.at(), spec.identity)
            # A block is a whole number of chunks: only the end of the dimension cuts one short.
            _sum_run(f, spec, part.at(), position, Range(chunk, min_of(chunk + CHUNK, spec.sizes[spec.inner])))
            f.put(acc, part.at(), wcr=spec.op)


def _sum_run(f: Fragment, spec: Contraction, acc: Element, position: dict[int, Expr], run: Range) -> None:
    with f.map(run, VECTOR, "k") as index:
        spec.element(f, acc, _in_order(spec, position | {spec.inner: index}), spec.op)


def _columns(f: Fragment, spec: Contraction) -> None:
    if len(spec.kept) > 1:
        _tiles(f, spec, {})
        return
    outer = spec.summed[0]
    _by_size(f, spec.sizes[outer], TALL, lambda: _blocks_of_rows(f, spec, outer), lambda: _low_tiles(f, spec))


def _low_tiles(f: Fragment, spec: Contraction) -> None:
    """Without blocks: where all rows are one group, in the elements' own precision."""
    if spec.short is None or len(spec.summed) > 1:
        _tiles(f, spec, {})
        return
    short = replace(spec, dtype=spec.short, short=None)
    _by_size(f, spec.sizes[spec.summed[0]], GROUP, lambda: _tiles(f, spec, {}), lambda: _tiles(f, short, {}))


def _blocks_of_rows(f: Fragment, spec: Contraction, outer: int) -> None:
    """Blocks of the first summed dimension in parallel, a row of results each, then the sum of these rows."""
    size = spec.sizes[outer]
    blocks = Range(ZERO, ceil_div(size, CHUNK))
    partial = f.array("partial", spec.dtype, (blocks.stop, spec.sizes[spec.inner]))
    with f.map(blocks, param="block") as block:
        part = Range(block * CHUNK, min_of(block * CHUNK + CHUNK, size))
        store = replace(spec, store=lambda f, kept, value: f.put(partial.at(block, *kept), value))
        _tiles(f, store, {outer: part})

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> object:
        return f.put(target, partial.at(*indices), wcr=wcr)

    _tiles(f, replace(spec, sizes=partial.shape, summed=(0,), inner=1, element=element, short=None), {})


def _tiles(f: Fragment, spec: Contraction, limits: dict[int, Range]) -> None:
    """Rows of accumulators: tile by tile of `inner`, each summed over everything else, within `limits`."""
    others = [dim for dim in spec.kept if dim != spec.inner]
    size = spec.sizes[spec.inner]
    is_one_tile = _is_small(size, COLUMNS)
    tiles = [] if is_one_tile else [Range(ZERO, size, const(COLUMNS))]
    with f.maps([*(spec.whole(dim) for dim in others), *tiles]) as indices:
        start = indices[-1] if tiles else ZERO
        lanes = Range(start, min_of(start + COLUMNS, size))
        position = dict(zip(others, indices, strict=False))
        acc = f.array("acc", spec.dtype, (size if is_one_tile else COLUMNS,))
        with f.map(lanes, VECTOR, "j") as j:
            f.put(acc.at(j - start), spec.identity)
        summed_over = [limits.get(dim, spec.whole(dim)) for dim in spec.summed]
        if spec.short is not None and not _is_small(spec.sizes[spec.summed[-1]], SOME):
            _add_groups(f, spec, acc, (lanes, start), position, summed_over)
        else:
            _add_rows(f, spec, acc, (lanes, start), position, summed_over)
        with f.map(lanes, VECTOR, "j") as j:
            place = position | {spec.inner: j}
            spec.store(f, [place[dim] for dim in spec.kept], acc.at(j - start))


Lanes = tuple[Range, Expr]  # a tile of `inner`, and where it begins


def _add_rows(
    f: Fragment, spec: Contraction, acc: Operand, tile: Lanes, position: dict[int, Expr], over: Sequence[Range]
) -> None:
    """Adds row after row to a row of accumulators."""
    lanes, start = tile
    with f.maps(over, SEQUENTIAL, "k") as summed:
        inside = position | dict(zip(spec.summed, summed, strict=True))
        with f.map(lanes, VECTOR, "j") as j:
            spec.element(f, acc.at(j - start), _in_order(spec, inside | {spec.inner: j}), spec.op)


def _add_groups(
    f: Fragment, spec: Contraction, acc: Operand, tile: Lanes, position: dict[int, Expr], over: Sequence[Range]
) -> None:
    """The same, group by group of the last summed dimension: each in a row of its own of the `short` dtype."""
    (lanes, start), last = tile, over[-1]
    assert spec.short is not None
    group = f.array("group", spec.short, acc.shape)
    with f.maps([*over[:-1], replace(last, step=const(GROUP))], SEQUENTIAL, "g") as first:
        with f.map(lanes, VECTOR, "j") as j:
            f.put(group.at(j - start), spec.identity)
        rows = [*(Range(at, at + 1) for at in first[:-1]), Range(first[-1], min_of(first[-1] + GROUP, last.stop))]
        _add_rows(f, spec, group, tile, position, rows)
        with f.map(lanes, VECTOR, "j") as j:
            f.put(acc.at(j - start), group.at(j - start), wcr=spec.op)


def _in_order(spec: Contraction, position: dict[int, Expr]) -> list[Expr]:
    return [position[dim] for dim in range(len(spec.sizes))]


def _is_small(size: Expr, limit: int) -> bool:
    return size.constant is not None and size.constant <= limit

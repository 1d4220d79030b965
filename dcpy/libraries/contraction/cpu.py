"""Contractions as CPUs like them: the innermost loop is a SIMD loop over the dimension that runs along memory.

* **rows** where `inner` is summed over: one private accumulator per result, which the SIMD loop reduces. That is what
  the passes of CPUs make of `maps`, but for one result of everything, which is taken in parallel blocks;
* **columns** where `inner` is kept: a private row of accumulators, to which the SIMD loop adds element by element.

Sums of floats go through partial sums of `costs.partial_sum` elements: quick, and as accurate as NumPy's pairwise sum.
Those of short floats are taken in double precision, of columns after at most `GROUP` rows, which are added as they are:
that keeps the speed of short lanes, and the error does not grow with the length. Nothing here needs an atomic
operation: every accumulator belongs to one iteration, and partial results have a slot each. How many terms a slot holds
does not depend on the number of threads, and so do no results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.schedules import SEQUENTIAL, VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, ceil_div, const, min_of
from dcpy.libraries.contraction import maps
from dcpy.libraries.contraction.contraction import Contraction, Indices
from dcpy.libraries.contraction.register_tiling import FEW, register_tiles
from dcpy.libraries.fragment import Element, Fragment, Operand

SOME = 8  # rows that make a group worth it
GROUP = 128  # rows that are added up in the elements' own precision: a matter of accuracy, not of the machine
TALL = 4  # partial sums of rows from which on a sum of rows is worth dividing among threads


def contract(f: Fragment, spec: Contraction) -> None:
    """Write the loop nest."""
    if spec.inner in spec.summed:
        _rows(f, spec)
    elif spec.summed:
        _columns(f, spec)
    else:
        maps.contract(f, spec)


def _rows(f: Fragment, spec: Contraction) -> None:
    if spec.kept:
        maps.contract(f, spec)
        return
    outer = spec.summed[0]
    few = _block_length(f, spec, outer)
    _by_size(f, spec.sizes[outer], few, lambda: _blocked(f, spec, outer), lambda: _at_once(f, spec))


def _by_size(f: Fragment, size: Expr, limit: int, large: Callable[[], None], small: Callable[[], None]) -> None:
    """Write one of two loop nests, or both where only the run time knows the size."""
    if f.ranges.proves_le(size, limit):
        small()
        return
    if f.ranges.proves_lt(limit, size):
        large()
        return
    above, below = f.branch(op("lt", Index(const(limit)), Index(size)))
    with f.inside(above):
        large()
    with f.inside(below):
        small()


def _at_once(f: Fragment, spec: Contraction) -> None:
    """One result, of so few elements that one thread takes them all."""
    acc = f.scalar("acc", spec.dtype)
    f.put(acc.at(), spec.identity)
    _accumulate(f, spec, acc.at(), {})
    spec.store(f, (), acc.at())


def _block_length(f: Fragment, spec: Contraction, outer: int) -> int:
    """Return how many elements of the first summed dimension make a parallel block: of a run of memory, or rows."""
    return f.costs.partial_sum * f.costs.sums_per_block if outer == spec.inner else f.costs.rows_per_block


def _blocked(f: Fragment, spec: Contraction, outer: int) -> None:
    """One result from everything: blocks of the first summed dimension in parallel, a slot each, then the slots."""
    size = spec.sizes[outer]
    length = _block_length(f, spec, outer)
    slots = Range(ZERO, ceil_div(size, length))
    partial = f.array("partial", spec.dtype, (slots.stop,))
    with f.map(slots, param="block") as block:
        acc = f.scalar("acc", spec.dtype)
        f.put(acc.at(), spec.identity)
        part = Range(block * length, min_of(block * length + length, size))
        _accumulate(f, spec, acc.at(), {outer: part})
        f.put(partial.at(block), acc.at())
    total = f.scalar("total", spec.dtype)
    f.put(total.at(), spec.identity)
    with f.map(slots, VECTOR, "slot") as slot:
        f.put(total.at(), partial.at(slot), wcr=spec.op)
    spec.store(f, (), total.at())


def _accumulate(f: Fragment, spec: Contraction, acc: Element, limits: dict[int, Range]) -> None:
    """Add to `acc` everything within `limits`: sequential loops, the last one SIMD over `inner`."""
    outer = [dim for dim in spec.summed if dim != spec.inner]
    run, terms = limits.get(spec.inner, spec.whole(spec.inner)), f.costs.partial_sum
    with f.maps([limits.get(dim, spec.whole(dim)) for dim in outer], SEQUENTIAL) as indices:
        position = dict(zip(outer, indices, strict=True))
        if not spec.is_chunked or _is_small(spec.sizes[spec.inner], terms):
            _sum_run(f, spec, acc, position, run)
            return
        with f.map(replace(run, step=const(terms)), SEQUENTIAL, "chunk") as chunk:
            part = f.scalar("part", spec.dtype)
            f.put(part.at(), spec.identity)
            # A block is a whole number of chunks: only the end of the dimension cuts one short.
            _sum_run(f, spec, part.at(), position, Range(chunk, min_of(chunk + terms, spec.sizes[spec.inner])))
            f.put(acc, part.at(), wcr=spec.op)


def _sum_run(f: Fragment, spec: Contraction, acc: Element, position: dict[int, Expr], run: Range) -> None:
    with f.map(run, VECTOR, "k") as index:
        spec.element(f, acc, spec.in_order(position | {spec.inner: index}), spec.op)


def _columns(f: Fragment, spec: Contraction) -> None:
    if len(spec.kept) > 1 and len(spec.summed) > 1 and spec.op == "add":  # of sums there may be many terms
        size = spec.sizes[spec.inner]
        _by_size(f, size, FEW, lambda: _tiles(f, spec, {}), lambda: register_tiles(f, spec, GROUP))
        return
    if len(spec.kept) > 1:
        _tiles(f, spec, {})
        return
    outer = spec.summed[0]
    few = TALL * f.costs.partial_sum
    _by_size(f, spec.sizes[outer], few, lambda: _blocks_of_rows(f, spec, outer), lambda: _low_tiles(f, spec))


def _low_tiles(f: Fragment, spec: Contraction) -> None:
    """Without blocks: where all rows are one group, in the elements' own precision."""
    if spec.short is None or len(spec.summed) > 1:
        _tiles(f, spec, {})
        return
    short = replace(spec, dtype=spec.short, short=None)
    _by_size(f, spec.sizes[spec.summed[0]], GROUP, lambda: _tiles(f, spec, {}), lambda: _tiles(f, short, {}))


def _blocks_of_rows(f: Fragment, spec: Contraction, outer: int) -> None:
    """Blocks of the first summed dimension in parallel, a row of results each, then the sum of these rows."""
    size, length = spec.sizes[outer], f.costs.partial_sum
    blocks = Range(ZERO, ceil_div(size, length))
    partial = f.array("partial", spec.dtype, (blocks.stop, spec.sizes[spec.inner]))
    with f.map(blocks, param="block") as block:
        part = Range(block * length, min_of(block * length + length, size))
        store = replace(spec, store=lambda f, kept, value: f.put(partial.at(block, *kept), value))
        _tiles(f, store, {outer: part})

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> object:
        return f.put(target, partial.at(*indices), wcr=wcr)

    _tiles(f, replace(spec, sizes=partial.shape, summed=(0,), inner=1, element=element, short=None), {})


def _tiles(f: Fragment, spec: Contraction, limits: dict[int, Range]) -> None:
    """Rows of accumulators: tile by tile of `inner`, each summed over everything else, within `limits`."""
    others = [dim for dim in spec.kept if dim != spec.inner]
    size, width = spec.sizes[spec.inner], f.costs.row_of_sums
    is_one_tile = _is_small(size, width)
    tiles = [] if is_one_tile else [Range(ZERO, size, const(width))]
    with f.maps([*(spec.whole(dim) for dim in others), *tiles]) as indices:
        start = indices[-1] if tiles else ZERO
        lanes = Range(start, min_of(start + width, size))
        position = dict(zip(others, indices, strict=False))
        acc = f.array("acc", spec.dtype, (size if is_one_tile else width,))
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
    """Add row after row to a row of accumulators."""
    lanes, start = tile
    with f.maps(over, SEQUENTIAL, "k") as summed:
        inside = position | dict(zip(spec.summed, summed, strict=True))
        with f.map(lanes, VECTOR, "j") as j:
            spec.element(f, acc.at(j - start), spec.in_order(inside | {spec.inner: j}), spec.op)


def _add_groups(
    f: Fragment, spec: Contraction, acc: Operand, tile: Lanes, position: dict[int, Expr], over: Sequence[Range]
) -> None:
    """The same, group by group of the last summed dimension: each in a row of its own of the `short` dtype."""
    (lanes, start), last = tile, over[-1]
    assert spec.short is not None
    with f.maps([*over[:-1], replace(last, step=const(GROUP))], SEQUENTIAL, "g") as first:
        group = f.array("group", spec.short, acc.shape)  # of this iteration: those of a map share nothing
        with f.map(lanes, VECTOR, "j") as j:
            f.put(group.at(j - start), spec.identity)
        rows = [*(Range(at, at + 1) for at in first[:-1]), Range(first[-1], min_of(first[-1] + GROUP, last.stop))]
        _add_rows(f, spec, group, tile, position, rows)
        with f.map(lanes, VECTOR, "j") as j:
            f.put(acc.at(j - start), group.at(j - start), wcr=spec.op)


def _is_small(size: Expr, limit: int) -> bool:
    return size.constant is not None and size.constant <= limit

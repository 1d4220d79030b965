"""Register tiling: a few neighbouring sums, as those of a small filter, stay in registers, a vector at a time.

A row of accumulators in memory is loaded and stored for each term; that is little beside the terms of a thousand
columns, and most of the work for eight. So a tile has as many columns as a vector has lanes: a number, so that the
compiler keeps it in registers; only the last tile may have less. Some rows share a tile (unroll-and-jam): the sums of
one are a chain of additions, each of which waits for the one before, and what all rows are multiplied with is loaded
once. (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import reduce

from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.schedules import SEQUENTIAL, UNDECIDED, VECTOR, Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, const, max_of, min_of
from dcpy.libraries.contraction.contraction import Contraction
from dcpy.libraries.fragment import Fragment, Operand

FEW = 64  # columns up to which tiles go down all rows: of more, each row is read in one go
SUMS = 256  # bytes of sums of several rows side by side: half of the registers, where these hold 32 bytes

TileIndices = Mapping[int, Expr]  # where some dimensions stand
LoopContext = AbstractContextManager[None]


def register_tiles(f: Fragment, spec: Contraction, group: int, schedule: Schedule = UNDECIDED) -> None:
    """Write the loop nest: tile by tile of `inner`, each summed over everything else.

    What is summed in the `short` dtype of the contraction is added to the sum after at most `group` terms. `schedule`
    is that of the map over the tiles.
    """
    others, tile = [dim for dim in spec.kept if dim != spec.inner], const(_lanes(f, spec))
    jammed = others[-1]
    rows, columns = spec.sizes[jammed], spec.sizes[spec.inner]
    side_by_side = _side_by_side(f, spec, rows)
    steps = [Range(ZERO, rows, const(side_by_side)), Range(ZERO, columns, tile)]
    with f.maps([*(spec.whole(dim) for dim in others[:-1]), *steps], schedule) as indices:
        top, start = indices[-2:]
        position = dict(zip(others, indices, strict=False))
        places = [position | {jammed: top + row} for row in range(side_by_side)]
        full, rest = _where_they_fit(f, (top, start), steps)
        with full:
            _tile(f, spec, Range(start, start + tile), places, group)
        if rest is None:
            return
        with rest, f.map(Range(top, min_of(top + side_by_side, rows)), SEQUENTIAL) as row:
            place = [position | {jammed: row}]
            whole, cut = _where_they_fit(f, (start,), steps[1:])
            with whole:
                _tile(f, spec, Range(start, start + tile), place, group)
            if cut is not None:
                with cut:
                    _tile(f, spec, Range(start, columns), place, group)


def _side_by_side(f: Fragment, spec: Contraction, rows: Expr) -> int:
    """Rows whose sums are taken in one go."""
    fitting = SUMS // (_lanes(f, spec) * (spec.short or spec.dtype).itemsize)
    return max(min(fitting, fitting if rows.constant is None else rows.constant), 1)


def _where_they_fit(f: Fragment, at: Sequence[Expr], steps: Sequence[Range]) -> tuple[LoopContext, LoopContext | None]:
    """Open scopes for whole and for other steps from here; return both, the second if there is one."""
    unknown = [
        op("le", Index(start + values.step), Index(values.stop))
        for start, values in zip(at, steps, strict=True)
        if f.ranges.remainder(values.stop, values.step.constant or 1) != 0
    ]
    if not unknown:
        return nullcontext(), None
    holds, fails = f.branch(reduce(lambda left, right: op("and", left, right), unknown))
    return f.inside(holds), f.inside(fails)


def _tile(f: Fragment, spec: Contraction, tile: Range, places: Sequence[TileIndices], group: int) -> None:
    """The sums of some rows, in as many columns as a tile has."""
    rows = [_row(f, spec, "acc", tile) for _ in places]
    over = [spec.whole(dim) for dim in spec.summed]
    if spec.short is None:
        _add_terms(f, spec, rows, tile, places, over)
    else:
        steps = _steps(over, group)
        blocks = [replace(values, step=step) for values, step in zip(over, steps, strict=True)]
        with f.maps(blocks, SEQUENTIAL, "g") as first:
            short = replace(spec, dtype=spec.short)
            parts = [_row(f, short, "part", tile) for _ in places]
            ends = [min_of(at + step, values.stop) for at, step, values in zip(first, steps, over, strict=True)]
            _add_terms(f, short, parts, tile, places, [Range(at, end) for at, end in zip(first, ends, strict=True)])
            with f.map(tile, VECTOR, "j") as j:
                for row, part in zip(rows, parts, strict=True):
                    f.put(row.at(j - tile.start), part.at(j - tile.start), wcr=spec.op)
    with f.map(tile, VECTOR, "j") as j:
        for row, place in zip(rows, places, strict=True):
            spec.store(f, [{**place, spec.inner: j}[dim] for dim in spec.kept], row.at(j - tile.start))


def _lanes(f: Fragment, spec: Contraction) -> int:
    """Columns of a tile: half as many complex numbers of double precision as `costs` says of real ones."""
    return max(f.costs.lanes * 8 // max(spec.dtype.itemsize, 8), 1)


def _row(f: Fragment, spec: Contraction, stem: str, tile: Range) -> Operand:
    """Accumulators of a row of a tile, where they start."""
    row = f.array(stem, spec.dtype, (_lanes(f, spec),))
    with f.map(tile, VECTOR, "j") as j:
        f.put(row.at(j - tile.start), spec.identity)
    return row


def _add_terms(
    f: Fragment,
    spec: Contraction,
    rows: Sequence[Operand],
    tile: Range,
    places: Sequence[TileIndices],
    over: Sequence[Range],
) -> None:
    with f.maps(over, SEQUENTIAL, "k") as summed:
        inside = dict(zip(spec.summed, summed, strict=True))
        with f.map(tile, VECTOR, "j") as j:
            for row, place in zip(rows, places, strict=True):
                spec.element(f, row.at(j - tile.start), spec.in_order({**place, **inside, spec.inner: j}), spec.op)


def _steps(over: Sequence[Range], group: int) -> list[Expr]:
    """Steps of blocks with at most `group` points together: whole inner dimensions, as far as they fit."""
    steps: list[Expr] = []
    inside = ONE
    for values in reversed(over):
        steps.append(max_of(1, as_expr(group) // max_of(1, inside)))
        inside = inside * values.size
    return steps[::-1]

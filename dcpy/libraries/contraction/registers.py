"""Few sums side by side, as those of a small filter: they stay in registers, a vector of them at a time.

A row of accumulators in memory is loaded and stored for each term; that is little beside the terms of a thousand
columns, and most of the work for eight. So a tile has as many columns as a vector has lanes: a number, so that the
compiler keeps it in registers; only the last tile may have less. (Goto and van de Geijn, Anatomy of High-Performance
Matrix Multiplication, 2008.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.schedules import SEQUENTIAL, UNDECIDED, VECTOR, Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, const, max_of, min_of
from dcpy.libraries.contraction.spec import Contraction
from dcpy.libraries.fragment import Fragment, Operand

FEW = 64  # columns up to which tiles go down all rows: of more, each row is read in one go


def register_tiles(f: Fragment, spec: Contraction, group: int, schedule: Schedule = UNDECIDED) -> None:
    """Writes the loop nest: tile by tile of `inner`, each summed over everything else.

    What is summed in the `short` dtype of the contraction is added to the sum after at most `group` terms. `schedule`
    is that of the map over the tiles.
    """
    others = [dim for dim in spec.kept if dim != spec.inner]
    size, lanes = spec.sizes[spec.inner], _lanes(f, spec)
    with f.maps([*(spec.whole(dim) for dim in others), Range(ZERO, size, const(lanes))], schedule) as indices:
        start = indices[-1]
        position = dict(zip(others, indices, strict=False))
        if f.ranges.remainder(size, lanes) == 0:
            _tile(f, spec, Range(start, start + lanes), position, group)
            return
        full, rest = f.branch(op("le", Index(start + lanes), Index(size)))
        for region, tile in ((full, Range(start, start + lanes)), (rest, Range(start, size))):
            with f.inside(region):
                _tile(f, spec, tile, position, group)


def _tile(f: Fragment, spec: Contraction, tile: Range, position: dict[int, Expr], group: int) -> None:
    lanes = _lanes(f, spec)
    acc = _row(f, spec, "acc", tile, lanes)
    over = [spec.whole(dim) for dim in spec.summed]
    if spec.short is None:
        _add_terms(f, spec, acc, tile, position, over)
    else:
        steps = _steps(over, group)
        blocks = [replace(values, step=step) for values, step in zip(over, steps, strict=True)]
        with f.maps(blocks, SEQUENTIAL, "g") as first:
            short = replace(spec, dtype=spec.short)
            part = _row(f, short, "part", tile, lanes)
            ends = [min_of(at + step, values.stop) for at, step, values in zip(first, steps, over, strict=True)]
            _add_terms(f, short, part, tile, position, [Range(at, end) for at, end in zip(first, ends, strict=True)])
            with f.map(tile, VECTOR, "j") as j:
                f.put(acc.at(j - tile.start), part.at(j - tile.start), wcr=spec.op)
    with f.map(tile, VECTOR, "j") as j:
        place = position | {spec.inner: j}
        spec.store(f, [place[dim] for dim in spec.kept], acc.at(j - tile.start))


def _lanes(f: Fragment, spec: Contraction) -> int:
    """Columns of a tile: half as many complex numbers of double precision as `costs` says of real ones."""
    return max(f.costs.lanes * 8 // max(spec.dtype.itemsize, 8), 1)


def _row(f: Fragment, spec: Contraction, stem: str, tile: Range, lanes: int) -> Operand:
    """Accumulators of a tile, where they start."""
    row = f.array(stem, spec.dtype, (lanes,))
    with f.map(tile, VECTOR, "j") as j:
        f.put(row.at(j - tile.start), spec.identity)
    return row


def _add_terms(
    f: Fragment, spec: Contraction, row: Operand, tile: Range, position: dict[int, Expr], over: Sequence[Range]
) -> None:
    with f.maps(over, SEQUENTIAL, "k") as summed:
        inside = position | dict(zip(spec.summed, summed, strict=True))
        with f.map(tile, VECTOR, "j") as j:
            spec.element(f, row.at(j - tile.start), spec.in_order(inside | {spec.inner: j}), spec.op)


def _steps(over: Sequence[Range], group: int) -> list[Expr]:
    """Steps of blocks with at most `group` points together: whole inner dimensions, as far as they fit."""
    steps: list[Expr] = []
    inside = ONE
    for values in reversed(over):
        steps.append(max_of(1, as_expr(group) // max_of(1, inside)))
        inside = inside * values.size
    return steps[::-1]

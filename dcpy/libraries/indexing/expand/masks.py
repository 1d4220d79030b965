"""What masks select, by one scan over the mask: packed, put back, or only the positions."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.indexing.expand.index_arrays import in_place
from dcpy.libraries.indexing.expand.scan import as_rows, scan
from dcpy.libraries.indexing.nodes import Compress, Gather, MaskedStore, Nonzero, Scatter


@expands(Nonzero, "scan")
def nonzero(node: Nonzero, f: Fragment) -> None:
    """The positions; of a mask that lies in one piece they are found as one, and divided."""
    mask, outputs = f.input("mask"), [f.output(f"out{axis}") for axis in range(len(node.outputs))]
    sizes = mask.shape
    (rows,) = as_rows(f, [mask], len(sizes))

    def visit(at: Sequence[Expr], number: Expr) -> None:
        for out, place in zip(outputs, _divided(at, sizes), strict=True):
            f.compute(out.at(number), lambda place=place: Index(place, types.int64))

    scan(f, rows, visit)


def _divided(at: Sequence[Expr], sizes: Sequence[Expr]) -> list[Expr]:
    """One position per dimension, where all of them were counted as one."""
    if len(at) == len(sizes):
        return list(at)
    (rest,) = at
    places: list[Expr] = []
    for size in reversed(sizes[1:]):
        places.append(rest % size)
        rest = rest // size
    return [rest, *reversed(places)]


@expands(Compress, "scan")
def compress(node: Compress, f: Fragment) -> None:
    """All operands in one scan. Along an inner dimension first the positions are found, then the elements gathered."""
    numbers = range(len(node.outputs))
    mask, sources = f.input("mask"), [f.input(f"x{k}") for k in numbers]
    targets = [f.output(f"out{k}") for k in numbers]
    if node.axis:
        places = _positions(f, mask, targets[0].shape[node.axis])
        for x, out in zip(sources, targets, strict=True):
            f.add(Gather({"x": x.memlet, **_indices(places)}, {"out": out.memlet}, *_along(node.axis, places)))
        return
    rank = len(mask.shape)
    mask, *sources = as_rows(f, [mask, *sources], rank)

    def visit(at: Sequence[Expr], number: Expr) -> None:
        for x, out in zip(sources, targets, strict=True):
            with f.maps([Range(ZERO, size) for size in out.shape[1:]]) as rest:
                f.put(out.at(number, *rest), x.at(*at, *rest))

    scan(f, mask, visit)


@expands(MaskedStore, "scan")
def masked_store(node: MaskedStore, f: Fragment) -> None:
    """The selected elements in one scan; along an inner dimension first their positions are found."""
    mask, values, out = f.input("mask"), f.input("values"), in_place(f)
    if node.axis:
        places = _positions(f, mask, values.shape[node.axis])
        inputs = {"out": out.memlet, "values": values.memlet, **_indices(places)}
        f.add(Scatter(inputs, {"out": out.memlet}, *_along(node.axis, places), distinct=True))
        return
    mask, out = as_rows(f, [mask, out], len(mask.shape))

    def visit(at: Sequence[Expr], number: Expr) -> None:
        with f.maps([Range(ZERO, size) for size in values.shape[1:]]) as rest:
            f.put(out.at(*at, *rest), values.at(number, *rest))

    scan(f, mask, visit)


def _positions(f: Fragment, mask: Operand, count: Expr) -> list[Operand]:
    found = [f.array("places", types.int64, (count,), outermost=True) for _ in mask.shape]
    f.add(Nonzero({"mask": mask.memlet}, {f"out{axis}": places.memlet for axis, places in enumerate(found)}))
    return found


def _indices(places: Sequence[Operand]) -> dict[str, Memlet]:
    return {f"i{k}": place.memlet for k, place in enumerate(places)}


def _along(axis: int, places: Sequence[Operand]) -> tuple[tuple[int, ...], int, tuple[int, ...], tuple[int, ...]]:
    """`axes`, `first`, `shown` and `proved` for neighbouring dimensions, and positions that are in range."""
    axes = tuple(range(axis, axis + len(places)))
    return axes, axis, axes, tuple(range(len(places)))

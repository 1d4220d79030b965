"""Selections by masks: packed, put back, or only the positions. Each is one scan, which `cpu` or `maps` writes.

A scan says for each element of a mask that holds how many hold before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcpy.ir import types
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Index
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, product_of
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.indexing.expand.index_arrays import in_place
from dcpy.libraries.indexing.nodes import Compress, Gather, MaskedStore, Nonzero, Scatter

Visit = Callable[[Sequence[Expr], Expr], None]  # of the indices of an element of the mask, and its number
Scan = Callable[[Fragment, Operand, Visit], None]  # calls it to write what is done for what a mask selects


def nonzero(scan: Scan, node: Nonzero, f: Fragment) -> None:
    """The positions; of a mask that lies in one piece they are found as one, and divided."""
    mask, outputs = f.input("mask"), [f.output(f"out{axis}") for axis in range(len(node.outputs))]
    sizes = mask.shape
    (rows,) = as_rows(f, [mask], len(sizes))

    def visit(at: Sequence[Expr], number: Expr) -> None:
        for out, place in zip(outputs, divided(at, sizes), strict=True):
            f.compute(out.at(number), lambda place=place: Index(place, types.int64))

    scan(f, rows, visit)


def divided(at: Sequence[Expr], sizes: Sequence[Expr]) -> list[Expr]:
    """One position per dimension, where all of them were counted as one."""
    if len(at) == len(sizes):
        return list(at)
    (rest,) = at
    places: list[Expr] = []
    for size in reversed(sizes[1:]):
        places.append(rest % size)
        rest = rest // size
    return [rest, *reversed(places)]


def compress(scan: Scan, node: Compress, f: Fragment) -> None:
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


def masked_store(scan: Scan, node: MaskedStore, f: Fragment) -> None:
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


def as_rows(f: Fragment, operands: Sequence[Operand], rank: int) -> Sequence[Operand]:
    """The operands with their first `rank` dimensions as one, where all of them lie in memory so; else as they are."""
    if rank == 1 or not all(f.is_packed(operand) for operand in operands):
        return operands
    return [_joined(f, operand, rank) for operand in operands]


def _joined(f: Fragment, operand: Operand, rank: int) -> Operand:
    container, shape = operand.memlet.container, operand.shape
    view = View.reshape(container, operand.desc, (product_of(*shape[:rank]), *shape[rank:]))
    return f.viewed(f"{container}_flat", view)

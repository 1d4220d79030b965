"""Index arrays as maps: gathered in any order, scattered in order, checked before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.aliasing import base_of
from dcpy.ir.analysis.dataflow.name_resolution import desc_at
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, WrapIndex, op
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, max_of
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.indexing.nodes import Gather, Indexed, Scatter


@expands(Gather, "cpu", on=("cpu",))
def gather(node: Gather, f: Fragment) -> None:
    """A map over the result that checks the indices of one array on the way."""
    _gather(node, f, node.looks_at[-1:])


@expands(Gather, "maps")
def gather_maps(node: Gather, f: Fragment) -> None:
    """All indices are checked before: a map that may not raise is fused with more."""
    _gather(node, f, ())


def _gather(node: Gather, f: Fragment, late: Sequence[int]) -> None:
    """A map over the result, around one over what is behind each index where no other dimension stands before."""
    x, out, indices = f.input("x"), f.output("out"), _indices(node, f)
    _check(node, f, x, indices, [k for k in node.looks_at if k not in late])
    rank, first = len(indices[0].shape), node.first
    ranges = _whole(out.shape)
    with f.maps(ranges if first else ranges[:rank]) as points:
        fixed = _found(node, f, x, [i.at(*points[first : first + rank]) for i in indices], late)
        with f.maps([] if first else ranges[rank:]) as behind:
            rest = (*points[:first], *points[first + rank :], *behind)
            f.put(out.at(*points, *behind), _among(node, x, fixed, rest))


@expands(Scatter, "maps", fuses=False)
def scatter(node: Scatter, f: Fragment) -> None:
    """Loops over the indices, or a map where no place is named twice; over what is behind each of them a map.

    Where the caller could see what was written before an index turned out to be wrong, all are checked beforehand.
    """
    values, out, indices = f.input("values"), in_place(f), _indices(node, f)
    late = () if _is_seen(f, out) else node.looks_at[-1:]
    _check(node, f, out, indices, tuple(k for k in node.looks_at if k not in late))
    rest = _whole([size for axis, size in enumerate(out.shape) if axis not in node.axes])
    with f.maps(rest[: node.first]) as before, _each(f, indices[0].shape, node.distinct) as inner:
        fixed = _found(node, f, out, [i.at(*inner) for i in indices], late)
        with f.maps(rest[node.first :]) as behind:
            source = values.at(*before, *inner, *behind) if values.shape else values.at()
            f.put(_among(node, out, fixed, (*before, *behind)), source, wcr=node.op)


def in_place(f: Fragment) -> Operand:
    """The output ``out``, which holds what the input of that name does."""
    before, out = f.input("out"), f.output("out")
    if out.memlet != before.memlet:
        f.add(Copy(before.memlet, out.memlet))
    return out


def _indices(node: Indexed, f: Fragment) -> list[Operand]:
    return [f.input(f"i{k}") for k in range(len(node.axes))]


def _whole(sizes: Sequence[Expr]) -> list[Range]:
    return [Range(ZERO, size) for size in sizes]


@contextmanager
def _each(f: Fragment, shape: Sequence[Expr], in_any_order: bool) -> Iterator[tuple[Expr, ...]]:
    """All points of a shape: a map, or loops in C order."""
    with ExitStack() as stack:
        if in_any_order:
            yield stack.enter_context(f.maps(_whole(shape)))
        else:
            yield tuple(stack.enter_context(f.loop(values, "i")) for values in _whole(shape))


def _is_seen(f: Fragment, out: Operand) -> bool:
    """Return whether the caller has the memory that is written."""
    return not desc_at(f.node, base_of(out.memlet.container, lambda name: desc_at(f.node, name))).transient


# -- indices -----------------------------------------------------------------------------------------------------------


def _check(node: Indexed, f: Fragment, x: Operand, indices: Sequence[Operand], which: Sequence[int]) -> None:
    """Look at index arrays, one after the other, and do nothing else."""
    for k in which:
        with f.maps(_whole(indices[k].shape)) as points:
            f.let("k", _checked(node, f, x, indices[k].at(*points), k))


def _found(node: Indexed, f: Fragment, x: Operand, indices: Sequence[Element], late: Sequence[int]) -> list[Expr]:
    """The indices as symbols, counted from the front; those of the `late` arrays have not been checked yet."""
    found: list[Expr] = []
    for k, element in enumerate(indices):
        if k in late:
            value: ScalarExpr = _checked(node, f, x, element, k)
        elif k in node.proved:
            value = f.load(element)
        else:
            value = _wrapped(f.load(element), _size(node, f, x, k))
        found.append(f.let("k", value))
    return found


def _checked(node: Indexed, f: Fragment, x: Operand, element: Element, k: int) -> WrapIndex:
    return WrapIndex(f.load(element), _size(node, f, x, k), node.shown[k])


def _size(node: Indexed, f: Fragment, x: Operand, k: int) -> Expr:
    """The size of the dimension that an index array indexes, as NumPy shows it."""
    size = x.shape[node.axes[k]]
    return size if f.ranges.proves_nonneg(size) else max_of(size, 0)


def _wrapped(index: ScalarExpr, size: Expr) -> ScalarExpr:
    negative = op("lt", index, Const(0, types.int64))
    return op("select", negative, op("add", index, Index(size)), index)


def _among(node: Indexed, x: Operand, fixed: Sequence[Expr], rest: Sequence[Expr]) -> Element:
    """The element at indices of the dimensions that are indexed, and of the others in order."""
    others = iter(rest)
    at = dict(zip(node.axes, fixed, strict=True))
    return x.at(*(at[axis] if axis in at else next(others) for axis in range(len(x.shape))))

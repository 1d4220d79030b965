"""Containers: descriptors that fit together, views that show what their base has, constants."""

from __future__ import annotations

from dcpy.base.errors import DcpyError
from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.data import Array, Data, Scalar, Stream, View
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, product_of
from dcpy.ir.verify.out_of_bounds import outside
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope


def differ(left: Expr, right: Expr) -> bool:
    """Return whether two sizes are different for all values of the symbols in them."""
    return (left - right).constant not in (0, None)


@rule("data.shape", Declaration)
def shapes_fit(subject: Declaration, scope: Scope) -> Findings:
    """A container has one stride per dimension; an argument has no size that is a negative number.

    A transient of negative size is empty: ``f64[N - 2]`` comes from a slice, for any N.
    """
    desc = subject.desc
    if len(desc.shape) != len(desc.strides):
        yield f"{subject.name!r} has {len(desc.shape)} dimensions and {len(desc.strides)} strides"
    for size in () if desc.transient else desc.shape:
        if size.constant is not None and size.constant < 0:
            yield f"{subject.name!r} has the size {size}"


@rule("data.alias", Declaration)
def only_arguments_alias(subject: Declaration, scope: Scope) -> Findings:
    """Only arguments can share memory with others."""
    if isinstance(subject.desc, Array) and subject.desc.alias and subject.desc.transient:
        yield f"{subject.name!r} is transient, so nothing else can be in its memory"


@rule("data.constant", Sdfg)
def constants_are_declared(sdfg: Sdfg, scope: Scope) -> Findings:
    """A constant is declared in the outermost region, as a scalar or an array of its dtype and shape."""
    for name, value in sdfg.constants.items():
        desc = sdfg.containers.get(name)
        if not isinstance(desc, Scalar | Array):
            yield f"the constant {name!r} is not declared as an array"
        elif desc.dtype.numpy != value.dtype or tuple(size.constant for size in desc.shape) != value.shape:
            yield f"the constant {name!r} is declared as {desc.dtype}, of another shape or dtype than its value"


@rule("view.base", Declaration)
def views_show_something(subject: Declaration, scope: Scope) -> Findings:
    """The base of a view is a container with elements, visible where the view is declared; no view shows itself."""
    view = subject.desc
    if not isinstance(view, View):
        return
    *_, last = (subject.name, *shown_by(subject.name, scope.desc))
    if isinstance(scope.desc(last), View):  # its base has been met before
        yield f"the view {subject.name!r} shows itself"
        return
    base = scope.desc(view.of)
    if base is None:
        yield f"the view {subject.name!r} shows {view.of!r}, which is not visible there"
    elif isinstance(base, Stream):
        yield f"the view {subject.name!r} shows a stream"


@rule("view.window", Declaration)
def windows_fit(subject: Declaration, scope: Scope) -> Findings:
    """A view's window lies within its base, and its axes run along the kept dimensions, each once."""
    view = subject.desc
    base = scope.desc(view.of) if isinstance(view, View) else None
    if not isinstance(view, View) or base is None or view.window is None:
        return
    if view.window.rank != len(base.shape):
        yield f"the window of {subject.name!r} has {view.window.rank} dimensions, {view.of!r} has {len(base.shape)}"
        return
    kept = [axis for axis, dim in enumerate(view.window.dims) if isinstance(dim, Range)]
    if sorted(axis for axis in view.axes if axis >= 0) != kept or len(view.axes) != len(view.shape):
        yield f"the axes of {subject.name!r} are not the kept dimensions of its window"
    if not scope.guarded and (problem := outside(view.window, base.shape, scope)):
        yield f"{subject.name!r} shows {view.of}[{view.window}]: {problem}"


@rule("view.strides", Declaration)
def views_are_what_their_window_says(subject: Declaration, scope: Scope) -> Findings:
    """Shape, strides and offset of a view are those that follow from its window, or as many elements as its base."""
    view = subject.desc
    base = scope.desc(view.of) if isinstance(view, View) else None
    if not isinstance(view, View) or base is None or len(view.shape) != len(view.strides):
        return
    if view.window is None:
        packed = isinstance(base, Array) and base.is_packed and _is_packed(view) and view.dtype == base.dtype
        if packed and differ(product_of(*view.shape), product_of(*base.shape)):
            yield f"{subject.name!r} has another number of elements than {view.of!r}"
        return
    try:
        derived = _derived(view, base)
    except (DcpyError, ValueError, IndexError):
        return  # view.window says why
    mine, its = ((*each.shape, *each.strides, each.offset) for each in (view, derived))
    if view.dtype == base.dtype and len(mine) == len(its) and any(map(differ, mine, its)):
        yield f"shape, strides or offset of {subject.name!r} are not those of its window"


def _derived(view: View, base: Data) -> View:
    assert view.window is not None  # asked by the caller
    sizes = {position: view.shape[position] for position, axis in enumerate(view.axes) if axis < 0}
    return View.slice(view.of, base, view.window, axes=view.axes, sizes=sizes)


def _is_packed(view: View) -> bool:
    return Array.packed(view.dtype, view.shape).strides == view.strides

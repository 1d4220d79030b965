"""Functional programming: ``vectorize``, ``apply_along_axis``, ``piecewise``, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import DictValue, PartialValue, Static, TupleValue, Value, is_number
from dcpy.frontend.implements import implements, operation
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0
from dcpy.frontend.numpy.python_implementations import call_body, written_in_python


@written_in_python(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each line along an axis; its results stand at the place of the axis."""
    source = np.asarray(arr)
    place = axis % source.ndim
    moved = np.moveaxis(source, place, -1)
    rest = moved.shape[:-1]
    lines = np.array(moved).reshape((-1, moved.shape[-1]))
    if len(lines) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asarray(func1d(lines[0], *args, **kwargs))
    found = np.empty((len(lines), *first.shape), first.dtype)
    found[0] = first
    for k in range(1, len(lines)):
        found[k] = func1d(lines[k], *args, **kwargs)
    whole = found.reshape((*rest, *first.shape))
    own = tuple(range(len(rest), whole.ndim))
    return np.transpose(whole, (*range(place), *own, *range(place, len(rest))))


@written_in_python(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function of an array and an axis, again and again; the number of dimensions stays."""
    found = np.asarray(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        place = axis % np.ndim(a)
        result = np.asarray(func(found, place))
        found = result if result.ndim == np.ndim(a) else np.expand_dims(result, place)
    return found


@implements(np.vectorize)
def vectorize(
    b: OpBuilder, pyfunc: Value, otypes: Value = NONE, doc: Value = NONE, excluded: Value = NONE, cache: Value = FALSE,
    signature: Value = NONE,
) -> Value:  # fmt: skip
    """A function of arrays that calls another one for each element."""
    if signature != NONE or not isinstance(excluded, Static) or excluded.value:
        raise b.error(
            "np.vectorize with a signature, or with arguments that are left out, is not supported",
            help="write a loop over the elements or rows: loops are compiled",
        )
    return PartialValue(Static(_for_each), (pyfunc, Static(_result_dtype(b, otypes))), ())


def _result_dtype(b: OpBuilder, otypes: Value) -> Any:
    """``otypes="d"``, ``otypes=[float]``: the dtype of the one result; None where the first result decides."""
    if otypes == NONE:
        return None
    items = items_of(otypes)
    known = [b.static(item, "otypes") for item in items] if items is not None else list(b.static(otypes, "otypes"))
    if len(known) != 1:
        raise b.error("np.vectorize of a function with several results is not supported", help="vectorize each of them")
    return np.dtype(getattr(known[0], "numpy", known[0]))


def _for_each(pyfunc: Any, dtype: Any, *args: Any) -> Any:
    arrays = np.broadcast_arrays(*[np.asarray(arg) for arg in args])
    flat = [x.reshape(-1) for x in arrays]
    if dtype is None:
        if len(flat[0]) == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        found = np.empty(arrays[0].shape, np.asarray(pyfunc(*[x[0] for x in flat])).dtype)
    else:
        found = np.empty(arrays[0].shape, dtype)
    places = found.reshape(-1)
    for k in range(len(places)):
        places[k] = pyfunc(*[x[k].item() for x in flat])
    return lying_as_of_ufunc(found, *arrays)


@operation
def lying_as_of_ufunc(b: OpBuilder, found: Value, *operands: Value) -> Value:
    """A new array, which lies in memory as that of a ufunc of operands would in NumPy."""
    arrays = [b.array(value) for value in operands]
    memory_order.lie_as_made(b, found, memory_order.order_of_ufunc(b, arrays, b.array(found).rank), arrays)
    return found


@written_in_python(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """A function of the coordinates of all elements of an array of a shape."""
    places = np.indices(shape, dtype=dtype)
    return function(*[places[k] for k in range(len(shape))], **kwargs)


@implements(np.piecewise)
def piecewise(b: OpBuilder, x: Value, condlist: Value, funclist: Value, *args: Value, **kw: Value) -> Value:
    """A function of the elements, or a number, for each condition, where it holds; one more is for the others."""
    tests, functions = items_of(condlist), items_of(funclist)
    if functions is None:
        raise b.error("np.piecewise takes a list of functions and numbers")
    if tests is None or is_number(tests[0]):
        tests = (condlist,)
    if len(functions) == len(tests) + 1:
        rest = call_body(b, _neither, TupleValue(tests))
        tests = (*tests, rest)
    elif len(functions) != len(tests):
        message = f"with {len(tests)} condition(s), either {len(tests)} or {len(tests) + 1} functions are expected"
        raise b.error(message, notes=("NumPy raises ValueError here",))
    source = b.array(x)
    out = b.full([b.exact(size) for size in source.shape], source.dtype, NUMBER_0)
    for test, function in zip(tests, functions, strict=True):
        if is_number(function):
            call_body(b, _put_number, out, test, function)
        else:
            call_body(b, _put_values, out, source, test, function, TupleValue(args), DictValue(tuple(kw.items())))
    return out


def _neither(tests: Any) -> Any:
    found = np.asarray(tests[0])
    for test in tests[1:]:
        found = found | test
    return ~found


def _put_number(out: Any, test: Any, number: Any) -> None:
    out[np.asarray(test)] = number


def _put_values(out: Any, x: Any, test: Any, function: Any, args: Any, kw: Any) -> None:
    chosen = np.asarray(test)
    out[chosen] = function(x[chosen], *args, **kw)

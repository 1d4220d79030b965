"""at`` of all ufuncs: selected elements change again for each time that an index comes.

What combines numbers of one dtype by a sum, a product or an extreme is the library node of scattering. The others are
loops: one element after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, TupleValue, Value, is_number
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.elementwise import OF_NUMPY
from dcpy.frontend.lower.arithmetic.promotion import ufunc_dtypes
from dcpy.frontend.lower.arrays import advanced_indexing
from dcpy.frontend.lower.arrays.subscript_keys import IndexingMode, SubscriptKeys, written_out
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.python_implementations import call_body

#: how memlets name them
_COMBINATIONS: dict[np.ufunc, str] = {np.add: "add", np.multiply: "mul", np.minimum: "min", np.maximum: "max"}


def _at(function: np.ufunc) -> Implementation:
    def at(b: OpBuilder, a: Value, indices: Value, values: Value, /) -> Value:
        number = values if is_number(values) else b.array(values)
        keys = _index_arrays(b, function, a, indices, number)
        if keys is None:
            return call_body(b, one_by_one, a, indices, values)
        assert isinstance(a, ArrayValue)
        advanced_indexing.write(b, a, keys, number, combination=_COMBINATIONS[function])
        return NONE

    def one_by_one(a: Any, indices: Any, b: Any, /) -> None:
        """Change elements, again for each time that an index occurs."""
        places, count, shape = _places(a, indices)
        values = np.broadcast_to(b, shape).reshape(count, *np.shape(a)[len(places) :])
        for k in range(count):
            place = _place(places, k)
            a[place] = function(a[place], values[k])

    return at


def _index_arrays(b: OpBuilder, function: np.ufunc, a: Value, indices: Value, values: Value) -> SubscriptKeys | None:
    """The keys, if they are arrays, and all that is computed has the dtype of the array."""
    if not isinstance(a, ArrayValue):
        return None
    dtypes = ufunc_dtypes(function, (a, values))  # refuses, also where nothing is chosen
    if function not in _COMBINATIONS or a.dtype.kind == "b" or set(dtypes) != {a.dtype}:
        return None
    if function in (np.minimum, np.maximum) and a.dtype.kind == "c":
        return None
    items = indices.items if isinstance(indices, TupleValue) and not indices.is_list else (indices,)
    keys = written_out(b, a, items)
    return keys if keys.mode is IndexingMode.CHOICE and not keys.flags else None


def _unary_at(function: np.ufunc) -> Implementation:
    def at(b: OpBuilder, a: Value, indices: Value, values: Value = NONE, /) -> Value:
        if isinstance(a, ArrayValue):
            ufunc_dtypes(function, (a,))  # refuses, also where nothing is chosen
        return call_body(b, one_by_one, a, indices)

    def one_by_one(a: Any, indices: Any, /) -> None:
        """Change elements, again for each time that an index occurs."""
        places, count, _ = _places(a, indices)
        for k in range(count):
            place = _place(places, k)
            a[place] = function(a[place])

    return at


def _are_lists(a: Any, indices: Any) -> bool:
    """Return whether an index is an integer per row, or one per dimension: then the place of each is known."""
    if isinstance(indices, tuple):
        return 0 < len(indices) == np.ndim(a) and all([_is_list(index) for index in indices])
    return _is_list(indices)


def _is_list(index: Any) -> bool:
    return isinstance(index, list | np.ndarray) and np.ndim(index) == 1 and np.asarray(index).dtype != np.bool_


def _places(a: Any, indices: Any) -> Any:
    """The indices of each element (or row) that an index selects: an array per dimension; their number and shape."""
    if not _are_lists(a, indices):
        selected = np.arange(np.size(a)).reshape(np.shape(a))[indices]
        return np.unravel_index(np.ravel(selected), np.shape(a)), np.size(selected), np.shape(selected)
    lists = np.broadcast_arrays(*indices) if isinstance(indices, tuple) else (np.asarray(indices),)
    return lists, len(lists[0]), (len(lists[0]), *np.shape(a)[len(lists) :])


def _place(places: Any, k: Any) -> Any:
    return tuple([index[k] for index in places])


for _function in OF_NUMPY:
    implements(_function.at)(_unary_at(_function) if _function.nin == 1 else _at(_function))

"""NumPy arguments that shape the code: axes, shapes, dtypes, and values that become arrays."""

from __future__ import annotations

import difflib
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import python_types
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    RangeValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    as_integer,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.comm.constants import Request
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.array_sizes import TOO_LONG
from dcpy.frontend.lower.arithmetic.broadcasting import same_size
from dcpy.frontend.lower.arithmetic.overflow import BEYOND_64_BITS
from dcpy.frontend.lower.arithmetic.promotion import require_same
from dcpy.frontend.lower.arithmetic.range_checks import stored
from dcpy.frontend.lower.arrays.foreign_array_refusals import refuse_foreign
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import list_types
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, ScalarExpr, cast
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.symbolic.intervals import LIMITS
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

BEYOND_C_INT = "Python int too large to convert to C int"
MAX_LITERAL = 4096  # elements of an array written out in the program


def static(
    value: Value, what: str, instead: str = "use a number or a global constant, or compute it outside of the program"
) -> Any:
    """The Python object of a value; `FrontendError` where it is only known at run time."""
    match value:
        case Static(value=found):
            return found
        case TupleValue(items=items, is_list=is_list):
            found = tuple(static(item, what) for item in items)
            return list(found) if is_list else found
        case DictValue(items=items):
            return {key: static(item, what) for key, item in items}
        case RangeValue(start=start, stop=stop, step=step):
            bounds = [part.constant for part in (start, stop, step)]
            if None not in bounds:
                return range(*bounds)  # type: ignore[arg-type]
    raise FrontendError(
        f"{what} must be known at compile time, but is {kind_of(value)}",
        notes=("the program is compiled for the types of its arguments, not for their values",),
        help=instead,
    )


def integer(b: TypedEmitter, value: Value, what: str, too_large: tuple[str, str] = ("", "")) -> Expr:
    """An integer as a symbolic expression; a run-time one is assigned to a new symbol.

    `too_large`: the exception and its message for an unsigned one that int64 does not hold; `OverflowError` if empty.
    """
    exception, message = too_large if any(too_large) else ("OverflowError", f"{what} {BEYOND_64_BITS}")
    known = as_integer(value)
    if known is not None:
        if isinstance(value, Static) and isinstance(value.value, np.uint64) and value.value > LIMITS[1]:
            raise WillRaise(exception, message)
        return known
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    if isinstance(value, Scalar) and value.dtype == types.uint64:
        number = b.emit.assign_symbol("n", cast(value.expr, types.int64))
        b.emit.require(number, exception, message)  # what does not fit has become negative
        return number
    if isinstance(value, Scalar) and value.dtype.kind in "iub":
        return b.emit.assign_symbol("n", cast(value.expr, types.int64))
    raise FrontendError(
        f"{what} must be an integer, but is {kind_of(value)}",
        notes=("NumPy raises TypeError here",),
        help="divide with `//`, or convert it with int(...)" if is_number(value) else "pass an integer",
    )


def c_int(b: TypedEmitter, value: Value, what: str) -> Expr:
    """An integer of NumPy's own that 32 bits hold: `OverflowError` for others."""
    number = integer(b, value, what)
    if number.constant is not None:
        if not -(2**31) <= number.constant < 2**31:
            raise WillRaise("OverflowError", BEYOND_C_INT)
        return number
    b.emit.require(2**31 - 1 - number, "OverflowError", BEYOND_C_INT)
    b.emit.require(number + 2**31, "OverflowError", BEYOND_C_INT)
    return number


def shape(b: TypedEmitter, value: Value) -> tuple[Expr, ...]:
    """A shape argument; negative sizes raise `ValueError` as in NumPy."""
    parts: tuple[Value, ...]
    match value:
        case TupleValue(items=items):
            parts = items
        case Static(value=tuple() | list() as known):
            parts = tuple(map(Static, known))
        case _:
            parts = (value,)
    sizes = tuple(integer(b, part, "a size", ("ValueError", TOO_LONG)) for part in parts)
    for size in sizes:
        if size.constant is not None and size.constant < 0:
            raise FrontendError("negative dimensions are not allowed", notes=("NumPy raises ValueError here",))
        b.emit.require(size, "ValueError", "negative dimensions are not allowed")
    return sizes


def dtype(value: Value) -> DType | None:
    """A dtype argument: ``np.float32``, ``"f4"``, ``float``, ``a.dtype``; None stands for None."""
    if value == Static(None):
        return None
    found = static(value, "a dtype")
    if found == Request:
        return types.int64
    numpy_type = getattr(found, "numpy", None)  # dcpy.float64
    if isinstance(numpy_type, np.dtype):
        found = numpy_type
    try:
        return types.from_numpy(np.dtype(found))
    except KeyError as error:
        raise FrontendError(f"dcpy has no dtype {error}", help="use a bool, int, float or complex dtype") from None
    except (TypeError, ValueError):
        near = difflib.get_close_matches(str(found), [dtype.numpy_name for dtype in types.DTYPES], n=1)
        raise FrontendError(
            f"{kind_of(value)} is not a dtype",
            notes=("NumPy raises TypeError here",),
            help=f"did you mean {near[0]!r}?" if near else "use np.float64, np.int32, ...",
        ) from None


def axis(value: Value, rank: int, what: str = "axis") -> int:
    """One axis, counted from the front; NumPy's `AxisError` as a compile-time error."""
    found = static(value, what)
    if isinstance(found, bool) or not isinstance(found, int | np.integer):
        raise FrontendError(
            f"{what} must be an integer, but is {kind_of(value)}",
            notes=("NumPy raises TypeError here",),
            help="count the axes from 0, or from -1 at the end",
        )
    if not -rank <= found < rank:
        raise FrontendError(
            f"{what} {found} is out of bounds for array of dimension {rank}",
            notes=("NumPy raises AxisError here",),
            help=f"axes go from {-rank} to {rank - 1}" if rank else "a number has no axes",
        )
    return int(found) % rank


def axes(value: Value, rank: int) -> tuple[int, ...]:
    """``axis=`` of a reduction, sorted; None means all."""
    found = static(value, "axis")
    if found is None:
        return tuple(range(rank))
    parts = found if isinstance(found, tuple | list) else (found,)
    result = [axis(Static(part), rank) for part in parts]
    if len(set(result)) != len(result):
        raise FrontendError("duplicate value in 'axis'", notes=("NumPy raises ValueError here",))
    return tuple(sorted(result))


def array(b: TypedEmitter, value: Value, dtype: DType | None = None) -> ArrayValue:
    """``np.asarray(value, dtype)``."""
    if isinstance(value, ArrayValue):
        if dtype is None or value.dtype == dtype:
            return value
        found = b.cast(value, dtype)
        return found if isinstance(found, ArrayValue) else array(b, found)
    if isinstance(value, ListValue):
        return array(b, list_types.as_array(b, value), dtype)
    if isinstance(value, Static) and isinstance(value.value, np.ndarray):
        known = value.value
        leaves: list[Value] = [Static(item) for item in (known.ravel().tolist() if dtype else known.flat)]
        return _literal(b, known.shape, leaves, dtype or (None if leaves else types.from_numpy(known.dtype)))
    if isinstance(value, Static) and isinstance(value.value, list | tuple | range):
        value = nested(list(value.value))
    elif isinstance(value, RangeValue):
        return array(b, _counted(b, value), dtype)
    if is_number(value):
        return _literal(b, (), [value], dtype)
    if isinstance(value, TupleValue):
        sizes, leaves = _flatten(b, value)
        if any(isinstance(leaf, ArrayValue) for leaf in leaves):
            return _stack(b, sizes, leaves, dtype)
        return _literal(b, sizes, leaves, dtype)
    refuse_foreign(value)
    raise FrontendError(
        f"cannot make an array of {kind_of(value)}",
        notes=("dcpy accepts numbers, arrays, and nested tuples and lists of them here",),
        help="pass a number or an array" + "; np.nan stands for a missing value" * (value == Static(None)),
    )


def _counted(b: TypedEmitter, value: RangeValue) -> ArrayValue:
    """The integers of a range."""

    def element(position: ScalarExpr) -> ScalarExpr:
        assert isinstance(position, Index)
        return Index(value.start + value.step * position.value)

    b.require_addressable([value.range.size], types.int64)
    return b.generate((value.range.size,), types.int64, element)


def nested(known: Any) -> Value:
    """A known nested list as values."""
    if isinstance(known, list | tuple):
        return TupleValue(tuple(map(nested, known)), is_list=True)
    return Static(known)


def _flatten(b: TypedEmitter, value: Value) -> tuple[tuple[int, ...], list[Value]]:
    """The sizes of a nested tuple, and its leaves. Tuples beside arrays become arrays: each is a leaf.

    So do ranges, and lists whose length is known at run time only.
    """
    if isinstance(value, ListValue | RangeValue):
        return (), [array(b, value)]
    if not isinstance(value, TupleValue):
        return (), [value]
    parts = [_flatten(b, item) for item in value.items]
    shapes = {sizes for sizes, _ in parts}
    if len(shapes) > 1 and any(isinstance(item, ArrayValue | ListValue | RangeValue) for item in value.items):
        parts, shapes = [((), [array(b, item)]) for item in value.items], {()}
    if len(shapes) > 1:
        raise FrontendError(
            "the rows have different lengths: the array would be inhomogeneous",
            notes=("NumPy raises ValueError here",),
        )
    inner = next(iter(shapes), ())
    return (len(parts), *inner), [leaf for _, leaves in parts for leaf in leaves]


def _literal(b: TypedEmitter, sizes: tuple[int, ...], leaves: list[Value], dtype: DType | None) -> ArrayValue:
    for leaf in leaves:
        if not is_number(leaf):
            raise FrontendError(
                f"{kind_of(leaf)} is not a number: it cannot be an element of an array",
                help="make an array of the numbers, and keep other things in tuples",
            )
    if len(leaves) > MAX_LITERAL:
        raise FrontendError(
            f"an array of {len(leaves)} elements is too long to be written out", help="pass it as an argument"
        )
    wanted = dtype or _common_dtype(leaves)
    out = b.empty(sizes, wanted)
    points = np.ndindex(*sizes)
    writes = []
    for point, leaf in zip(points, leaves, strict=True):
        expr = elementwise.convert(scalar_expr(stored(b, leaf, wanted)), wanted)
        writes.append((Memlet(out.container, Subset.point(*point)), expr))
    if writes:
        b.emit.tasklet(writes)
    return out


def _common_dtype(leaves: list[Value]) -> DType:
    """The dtype of all items; in lists, Python's numbers count as int64, float64 and complex128."""
    if not leaves:
        return types.float64
    kinds = {(dtype_of(leaf).numpy, *map(np.dtype, python_types(leaf))): None for leaf in leaves}
    found = [types.from_numpy(np.result_type(*chosen)) for chosen in itertools.product(*map(dict.fromkeys, kinds))]
    require_same([(dtype,) for dtype in found], leaves)
    return found[0]


def _stack(b: TypedEmitter, sizes: tuple[int, ...], leaves: list[Value], dtype: DType | None) -> ArrayValue:
    arrays = [array(b, leaf) for leaf in leaves]
    first = arrays[0]
    for other in arrays[1:]:
        if other.rank != first.rank:
            raise FrontendError("the rows have different ranks: the array would be inhomogeneous")
        for left, right in zip(first.shape, other.shape, strict=True):
            same_size(b, left, right, "all rows of an array must have the same length")
    out = b.empty((*sizes, *first.shape), dtype or _common_dtype(leaves))
    for point, item in zip(np.ndindex(*sizes), arrays, strict=True):
        target = b.subscript(out, [*map(Static, point), Static(Ellipsis)])
        assert isinstance(target, ArrayValue)
        b.store(target, item)
    return out

"""Python's operators: on numbers of Python's own with Python's meaning, on everything else with NumPy's.

Integers over symbols stay symbolic, so that subscripts stay affine.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import Kinds, all_of
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import instead_of, python_type, python_types
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    BoundMethod,
    Method,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    as_integer,
    dtype_of,
    integer,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import call_entry, find
from dcpy.frontend.lower.arithmetic import overflow
from dcpy.frontend.lower.arithmetic.constant_sizes import require_small
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.operand_classes import COMPARISONS, class_in_python, unsupported
from dcpy.frontend.lower.arithmetic.promotion import require_same
from dcpy.frontend.lower.arrays.foreign_array_refusals import refuse_foreign
from dcpy.frontend.lower.control.path_selectors import is_number_of
from dcpy.frontend.lower.lowering_signals import WillRaise, raised_by
from dcpy.frontend.lower.sequences import characters, list_types, texts
from dcpy.frontend.python.spelled_texts import LENGTH
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.symbolic import ZERO, Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

UFUNC_OF: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift,
    ">>": np.right_shift, "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal, "@": np.matmul,
}  # fmt: skip
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
PYTHON_UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
OP_OF = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "mod", "**": "pow", "&": "bitand",
    "|": "bitor", "^": "bitxor", "<<": "lshift", ">>": "rshift", "==": "eq", "!=": "ne", "<": "lt", "<=": "le",
    ">": "gt", ">=": "ge",
}  # fmt: skip
OF_COMPLEX = ("+", "-", "*", "/", "**", "==", "!=")
_NOT_COMPUTED = object()


def binary(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right``."""
    refuse_foreign(left, right)
    if isinstance(left, TupleValue | ListValue) or isinstance(right, TupleValue | ListValue):
        joined = _sequences(b, symbol, left, right)
        if joined is not None:
            return joined
    if isinstance(left, Static) and isinstance(right, Static):
        known = _known(symbol, left.value, right.value)
        if known is not _NOT_COMPUTED:
            return Static(known)
    if symbol == "@":
        entry = find(np.matmul)
        assert entry is not None
        return call_entry(b, entry, [left, right], {})
    if not (is_number(left) and is_number(right)):
        return _elementwise(b, symbol, left, right)
    if overflow.is_wide(left) or overflow.is_wide(right):
        return overflow.with_wide(b, symbol, left, right)
    return _numbers(b, symbol, left, right)


def _numbers(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    """The operation on numbers, at least one known at run time only."""
    found = _integers(b, symbol, left, right)
    if found is not None:
        return found
    theirs = _as_complex_sees(symbol, left, right)
    both_weak = is_weak(left) and is_weak(theirs)
    if not both_weak and (_is_mixed_item(left) or _is_mixed_item(right)) and all(map(python_types, (left, theirs))):
        _require_same_in_python(b, symbol, left, right)
    found = _python(b, symbol, left, theirs) if both_weak else _elementwise(b, symbol, left, right)
    if isinstance(found, Scalar) and python_types(left) and python_types(theirs):
        return replace(found, other_kinds=_types_in_python(symbol, found, left, theirs))
    return found


def _is_mixed_item(value: Value) -> bool:
    """Return whether it is an item of a list that holds numbers of Python's and of NumPy's, or is made of such."""
    return isinstance(value, Scalar) and value.other_kinds.of_items


def _require_same_in_python(b: OpBuilder, symbol: str, left: Value, right: Value) -> None:
    """Raise what Python raises where numbers of its own have another result than NumPy's.

    Which numbers those are is unknown.
    """
    dtypes = {dtype_of(left), dtype_of(right)}
    if symbol in ("/", "//", "%") and dtypes <= {types.int64, types.bool_, types.float64}:
        _check_divisor(b, symbol, left, right)
    if symbol in overflow.CHECKED and dtypes <= {types.int64, types.bool_}:
        overflow.require_fit(b, symbol, left, right)


def _as_complex_sees(symbol: str, left: Value, right: Value) -> Value:
    """The right operand, as a `float` where it is an `np.float64` and Python's `complex` computes with it.

    ``2j * x`` asks the left operand first, which takes any `float` and never asks NumPy. Where the right operand's
    type derives from the left one's (``2.0 * x``), Python asks the right one first.
    """
    if complex not in python_types(left) or symbol not in OF_COMPLEX:
        return right
    if isinstance(right, Static):
        return Static(float(right.value)) if type(right.value) is np.float64 else right
    return replace(right, weak=True) if isinstance(right, Scalar) and right.dtype == types.float64 else right


def _types_in_python(symbol: str, found: Scalar, left: Value, right: Value) -> Kinds:
    """The types of the result where both operands are Python's own, as they are on other paths."""
    pairs = itertools.product(python_types(left), python_types(right))
    results = [type(PYTHON[symbol](one(1), other(1))) for one, other in pairs]
    return _other_types(found, results, (left, right))


def _other_types(found: Scalar, results: Sequence[type], operands: Sequence[Value]) -> Kinds:
    """The types of a result that it does not have itself. NumPy's are to have the dtype of Python's."""
    known = all_of([instead_of(operand) for operand in operands])
    if found.weak:
        results = [kind for kind in results if kind is not python_type(found.dtype)]
    else:
        require_same([(found.dtype,), *((dtype_of(Static(kind(1))),) for kind in results)], operands)
    return Kinds(results, known.merges, tells=known.tells, of_items=known.of_items)


def _elementwise(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    if symbol == "*" and TextValue in (type(left), type(right)) and (
        text := characters.repeated(b, left, right)) is not None:  # fmt: skip
        return text
    if ArrayValue not in (type(left), type(right)) and (text := texts.combined(b, symbol, left, right)) is not None:
        return text
    if not (_is_operand(left) and _is_operand(right)):
        if Static(None) in (left, right) and (is_number(left) or is_number(right)):
            raise WillRaise("TypeError", unsupported(symbol, left, right), by="Python")
        raise FrontendError(
            f"unsupported operands for {symbol}: {kind_of(left)} and {kind_of(right)}",
            notes=("Python raises TypeError here",),
            help="write () behind the method, to call it" if _is_method(left) or _is_method(right) else "",
        )
    if symbol == "**" and _squares(left, right):
        return b.ufunc(np.square, left)
    return b.ufunc(UFUNC_OF[symbol], left, right)


def _squares(left: Value, right: Value) -> bool:
    """NumPy computes ``array ** 2`` as `np.square`: of booleans it has another dtype, of complex zeros other signs."""
    if not (isinstance(left, ArrayValue) and left.dtype.kind in "bc" and is_weak(right)):
        return False
    if left.dtype == types.bool_ and not isinstance(right, Static) and dtype_of(right) == types.int64:
        raise FrontendError(
            "the dtype of a power of booleans depends on the exponent, which is not known here",
            help="convert the booleans first: x.astype(np.int64) ** n",
        )
    return isinstance(right, Static) and type(right.value) is int and right.value == 2


def _is_method(value: Value) -> bool:
    return isinstance(value, Method | BoundMethod)


def _is_operand(value: Value) -> bool:
    return isinstance(value, ArrayValue | TupleValue | ListValue) or is_number(value)


def _known(symbol: str, left: Any, right: Any) -> Any:
    if symbol not in PYTHON or isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return _NOT_COMPUTED
    require_small(symbol, left, right)
    try:
        with np.errstate(all="ignore"):
            return PYTHON[symbol](left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise WillRaise(type(error).__name__, str(error), by="Python") from None


def _sequences(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value | None:
    """Concatenation and repetition of tuples and lists."""
    both = isinstance(left, TupleValue | ListValue) and isinstance(right, TupleValue | ListValue)
    if ListValue in (type(left), type(right)) and both and symbol == "+":
        return list_types.joined(b, left, right)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        if symbol == "+" and left.is_list == right.is_list:
            return TupleValue(left.items + right.items, left.is_list)
        if symbol in ("==", "!="):
            raise FrontendError("tuples and lists are compared only where all items are known")
    sequence, count = (left, right) if isinstance(left, TupleValue | ListValue) else (right, left)
    multiplies = symbol == "*" and is_number(count)
    if multiplies and (dtype_of(count).is_integer or (dtype_of(count) == types.bool_ and is_weak(count))):
        times = int(count.value) if isinstance(count, Static) else None
        if (
            isinstance(sequence, TupleValue)
            and times is not None
            and len(sequence.items) * times <= list_types.MAX_ITEMS
        ):
            return TupleValue(tuple(map(_one_list, sequence.items)) * times, sequence.is_list)
        return list_types.repeated(b, sequence, b.integer(count, "how often a list is repeated"))
    if multiplies or all(map(class_in_python, (left, right))):
        raise WillRaise("TypeError", unsupported(symbol, left, right), by="Python")
    return None


def _one_list(item: Value) -> Value:
    """An item that is in several places: one list stays one."""
    return replace(item, token=object()) if isinstance(item, TupleValue) and item.is_list and not item.token else item


def _integers(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value | None:
    """Arithmetic and comparisons of symbolic integers; None where they have no symbolic result."""
    if {dtype_of(left), dtype_of(right)} - {types.int64}:
        return None
    x, y = as_integer(left), as_integer(right)
    if x is None or y is None:
        return None
    weak = is_weak(left) and is_weak(right)
    if symbol in COMPARISONS:
        return _compare(b, symbol, x, y, weak)
    found = _combined(b, symbol, x, y)
    if found is None:
        return None
    if weak:
        overflow.require_fit(b, symbol, left, right)
    return integer(found, weak=weak)


def _combined(b: OpBuilder, symbol: str, x: Expr, y: Expr) -> Expr | None:
    match symbol:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "//" | "%" if b.emit.ranges.proves_nonneg(y - 1) or (y.constant or 0) < 0:
            return b.emit.ranges.simplify(x // y if symbol == "//" else x % y)
        case "**" if y.constant is not None and 0 <= y.constant <= 8:
            return x**y.constant
    return None


def _compare(b: OpBuilder, symbol: str, x: Expr, y: Expr, weak: bool) -> Value:
    """Decided now where the ranges prove an answer."""
    ranges = b.emit.ranges
    if symbol in (">", ">="):
        return _compare(b, {">": "<", ">=": "<="}[symbol], y, x, weak)
    match symbol:
        case "<":
            yes, no = ranges.proves_lt(x, y), ranges.proves_le(y, x)
        case "<=":
            yes, no = ranges.proves_le(x, y), ranges.proves_lt(y, x)
        case _:
            same, differ = x is y, ranges.proves_ne(x, y)
            yes, no = (same, differ) if symbol == "==" else (differ, same)
    if yes or no:
        return Static(yes if weak else np.bool_(yes))
    left, right = scalar_expr(integer(x)), scalar_expr(integer(y))
    return Scalar(op(OP_OF[symbol], left, right), weak)


def _python(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    """Numbers of Python's own, at least one known at run time only."""
    dtypes = {dtype_of(left), dtype_of(right)}
    common = next(d for d in (types.complex128, types.float64, types.int64, types.bool_) if d in dtypes)
    if symbol in ("&", "|", "^"):
        if common.is_inexact:
            raise FrontendError(f"unsupported operand types for {symbol}: {kind_of(left)} and {kind_of(right)}")
    elif common == types.bool_ and symbol not in COMPARISONS:
        common = types.int64
    if symbol == "/" and not common.is_inexact:
        common = types.float64
    if symbol == "**" and common == types.int64:
        common = _power_dtype(b, right)
    if symbol in ("/", "//", "%"):
        _check_divisor(b, symbol, left, right)
    if symbol in ("<<", ">>"):
        _check_shift(b, right)
    if symbol == "**" and common == types.float64:
        _check_power(b, left, right)
    if common.kind == "c" and symbol in ("//", "%", "<", "<=", ">", ">="):
        raise FrontendError(f"complex numbers have no {symbol}", notes=("Python raises TypeError here",))
    x, y = (convert(scalar_expr(value), common) for value in (left, right))
    overflow.require_fit(b, symbol, left, right, common)
    return Scalar(op(OP_OF[symbol], x, y), weak=True)


def _power_dtype(b: OpBuilder, exponent: Value) -> types.DType:
    """``int ** int`` is an int, or a float where the exponent is known to be negative.

    Where its sign is known at run time only, a negative one is an error there, as for NumPy's integers.
    """
    known = as_integer(exponent)
    if known is not None:
        if b.emit.ranges.proves_lt(known, 0):
            return types.float64
        b.emit.require(known, "ValueError", "Integers to negative integer powers are not allowed.")
        return types.int64
    zero = convert(Const(0, types.int64), dtype_of(exponent))
    b.check(op("ge", scalar_expr(exponent), zero), "ValueError", "Integers to negative integer powers are not allowed.")
    return types.int64


def _check_divisor(b: OpBuilder, symbol: str, left: Value, right: Value) -> None:
    """Python's own numbers raise ZeroDivisionError (NumPy's do not)."""
    if isinstance(right, Static) and right.value != 0:
        return
    known = as_integer(right)
    if known is not None and b.emit.ranges.proves_ne(known, 0):
        return
    zeros = [dtype_of(value).numpy.type(0).item() for value in (left, right)]
    divisor = scalar_expr(right)
    nonzero = op("ne", divisor, convert(Const(0, types.int64), divisor.dtype))
    b.check(nonzero, "ZeroDivisionError", _message(symbol, *zeros))


def _check_shift(b: OpBuilder, count: Value) -> None:
    known = as_integer(count)
    if known is None or not b.emit.ranges.proves_nonneg(known):
        zero = convert(Const(0, types.int64), dtype_of(count))
        b.check(op("ge", scalar_expr(count), zero), "ValueError", "negative shift count")


def _check_power(b: OpBuilder, base: Value, exponent: Value) -> None:
    """Python's floats raise where the result is infinite, and become complex numbers where NumPy's give NaN."""
    x, y = (convert(scalar_expr(value), types.float64) for value in (base, exponent))
    zero = Const(0.0, types.float64)
    if not _is_at_least(exponent, 0):
        finite = op("or", op("ne", x, zero), op("ge", y, zero))
        b.check(finite, "ZeroDivisionError", "0.0 cannot be raised to a negative power")
    if not _is_at_least(base, 0) and not _is_whole(exponent):
        real = op("or", op("ge", x, zero), op("eq", op("floor", y), y))
        b.check(real, "ValueError", "a negative number to a fractional power is complex: write complex(x) ** y")


def _is_at_least(value: Value, least: int) -> bool:
    return isinstance(value, Static) and value.value >= least


def _is_whole(value: Value) -> bool:
    return dtype_of(value) != types.float64 or (isinstance(value, Static) and value.value == int(value.value))


def _message(symbol: str, left: Any, right: Any) -> str:
    """Return Python's message for the error; Python words each case in its own way."""
    try:
        PYTHON[symbol](left, right)
    except ZeroDivisionError as error:
        return str(error)
    return "division by zero"


def unary(b: OpBuilder, symbol: str, value: Value) -> Value:
    """``-x``, ``+x``, ``~x``; ``not`` is the evaluator's."""
    if isinstance(value, Static) and not isinstance(value.value, np.ndarray):
        refuse_foreign(value)
        with np.errstate(all="ignore"), raised_by("Python"):
            return Static(PYTHON_UNARY[symbol](value.value))
    if symbol == "-" and isinstance(value, SymInt | Scalar) and overflow.both_are_python_ints(value, value):
        overflow.require_negative_fits(b, value)
    known = as_integer(value)
    if known is not None and dtype_of(value) == types.int64:
        found = {"-": -known, "+": known, "~": -known - 1}[symbol]
        return integer(found, weak=is_weak(value))
    if isinstance(value, Scalar) and value.weak:
        expr: ScalarExpr = value.expr
        if expr.dtype == types.bool_:
            expr = convert(expr, types.int64)
        if symbol != "+":
            expr = op("neg" if symbol == "-" else "invert", expr)
        return Scalar(expr, weak=True, other_kinds=value.other_kinds)
    if isinstance(value, TupleValue | ListValue) or not _is_operand(value):
        refuse_foreign(value)
        kind = class_in_python(value) or kind_of(value)
        raise WillRaise("TypeError", f"bad operand type for unary {symbol}: {kind!r}", by="Python")
    result = b.ufunc({"-": np.negative, "+": np.positive, "~": np.invert}[symbol], value)
    if isinstance(result, Scalar) and python_types(value):
        kinds = [type(PYTHON_UNARY[symbol](kind(1))) for kind in python_types(value)]
        return replace(result, other_kinds=_other_types(result, kinds, (value,)))
    return result


def truth(b: OpBuilder, value: Value) -> bool | ScalarExpr:  # noqa: C901  (one case per kind)
    """Return the condition that ``if value`` tests: known now, or a bool expression."""
    match value:
        case Static(value=known) if not isinstance(known, np.ndarray):
            return bool(known)
        case RecordValue() | ObjectValue():
            return _truth_of_object(b, value)
        case TupleValue(items=items):
            return bool(items)
        case ListValue(array=array):
            return truth(b, integer(b.exact(array.shape[0])))
        case TextValue():
            there = texts.is_nonempty(b, value)
            return truth(b, b.call(Static(LENGTH), value)) if there is None else there
        case VariantValue():
            return _truth_of_kinds(b, value)
        case ArrayValue(shape=shape):
            if all(size.constant == 1 for size in shape):
                return truth(b, Scalar(value.load([0] * len(shape))))
            raise FrontendError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
                notes=("NumPy raises ValueError here",),
                help="write `if a.any():` or `if a.all():`; masks are combined with `&`: (a > 0) & (a < 1)",
            )
    known_int = as_integer(value)
    if known_int is not None and dtype_of(value) == types.int64:
        found = _compare(b, "!=", known_int, ZERO, weak=True)
        return found.value if isinstance(found, Static) else scalar_expr(found)
    if isinstance(value, Scalar):
        expr = value.expr
        return expr if expr.dtype == types.bool_ else op("ne", expr, convert(Const(0, types.int64), expr.dtype))
    raise FrontendError(f"whether {kind_of(value)} is true is not known at compile time")


def _truth_of_kinds(b: OpBuilder, value: VariantValue) -> bool | ScalarExpr:
    """The truth of an item of a list that is one of several kinds."""
    tests = [(number, truth(b, option)) for number, option in value.options]
    if all(isinstance(test, bool) and test == tests[0][1] for _, test in tests):
        return tests[0][1]
    found: ScalarExpr = Const(False, types.bool_)
    for number, test in tests:
        holds = Const(test, types.bool_) if isinstance(test, bool) else test
        found = op("or", found, op("and", is_number_of(value.which, number), holds))
    return found


def _truth_of_object(b: OpBuilder, value: RecordValue | ObjectValue) -> bool | ScalarExpr:
    if hasattr(value.cls, "__bool__"):
        return truth(b, b.call(BoundMethod(value, inspect.getattr_static(value.cls, "__bool__"))))
    return truth(b, b.call(Static(len), value)) if hasattr(value.cls, "__len__") else True

"""Python's own functions: lengths, conversions, iteration. Their results are numbers of Python's own."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import python_type, python_types, type_name
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    IteratorValue,
    Method,
    ObjectValue,
    RangeValue,
    RecordValue,
    Scalar,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    as_integer,
    dtype_of,
    integer,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import call_entry, find, implements
from dcpy.frontend.lower.arithmetic.array_sizes import range_length, stays_countable
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.arithmetic.overflow import both_are_python_ints, require_negative_fits
from dcpy.frontend.lower.arithmetic.range_checks import as_integer_part
from dcpy.frontend.lower.functions.callback_calls import require_one_kind
from dcpy.frontend.lower.lowering_signals import HASHED, raised_by
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import characters, cursors
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.python import itertools_functions
from dcpy.frontend.python.containers.hash_maps import HashMap
from dcpy.frontend.python.number_conversion import power_modulo, python_number
from dcpy.frontend.python.spelled_texts import number_in
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of
from dcpy.ir.types import DType

MISSING = Static(object())
NONE = Static(None)
FALSE = Static(False)
NUMBER_0 = Static(0)
EMPTY = TupleValue(())



@implements(ord)
def ord_(b: OpBuilder, c: Value, /) -> Value:
    """The number of a character that is known when the program is compiled."""
    if isinstance(c, TextValue):
        code = characters.code_of(b, c)
        if code is None:
            raise b.error("ord() of a text of several characters", notes=("Python raises TypeError here",))
        return code
    known = b.static(c, "the argument of ord")
    with raised_by("Python"):
        return Static(ord(known))


# -- iteration -------------------------------------------------------------------------------------------------------


@implements(range)
def range_(b: OpBuilder, *args: Value) -> Value:
    """Integers in steps; each bound may be known at run time only."""
    if not 1 <= len(args) <= 3:
        raise b.error(f"range expected 1 to 3 arguments, got {len(args)}")
    for arg in args:
        if is_number(arg) and dtype_of(arg).kind not in "iub":
            raise b.error(
                f"{type_name(arg)!r} object cannot be interpreted as an integer",
                notes=("Python raises TypeError here",),
                help="loop over np.arange(...), or make it an integer: divide with `//`, or write int(...)",
            )
    bounds = [b.integer(arg, "an argument of range") for arg in args]
    start, stop, step = (ZERO, bounds[0], ONE) if len(bounds) == 1 else (*bounds, ONE)[:3]
    ranges = b.emit.ranges
    if step.constant == 0:
        raise b.error("range() arg 3 must not be zero", notes=("Python raises ValueError here",))
    if step.constant is None and not ranges.proves_nonneg(step - 1):
        return _progression(b, start, stop, step)
    if not stays_countable(b, start, stop, step):
        return _progression(b, start, stop, step)
    return RangeValue(start, stop, step)


def _progression(b: OpBuilder, start: Expr, stop: Expr, step: Expr) -> Value:
    """A range that is counted by its length, computed at run time: its step may have either sign, or be large."""
    if not step.constant:
        nonzero = op("ne", scalar_expr(integer(step)), Const(0, types.int64))
        b.check(nonzero, "ValueError", "range() arg 3 must not be zero")
    length = range_length(b, start, stop, step)
    return IteratorValue("progression", (RangeValue(ZERO, length), integer(start), integer(step)))


@implements(len)
def len_(b: OpBuilder, obj: Value) -> Value:
    """The number of items, or the first size of an array."""
    if sequences.is_stepped(obj):
        raise b.error(
            "an iterator has no len()",
            notes=("Python raises TypeError here",),
            help="make a list of the remaining items: `len(list(it))`",
        )
    if isinstance(obj, IteratorValue) and obj.kind in ("zip", "map", "enumerate", "reversed", "repeat", "count"):
        raise b.error(
            f"object of type {obj.kind!r} has no len()",
            notes=("Python raises TypeError here",),
            help=f"make a list of its items: `len(list({obj.kind}(...)))`",
        )
    return integer(sequences.length(b, obj))


@implements(zip)
def zip_(b: OpBuilder, *iterables: Value, strict: Value = FALSE) -> Value:
    """Items side by side, as many as the shortest has (with `strict`, all have as many)."""
    if b.static(strict, "strict"):
        for number, part in enumerate(iterables[1:], start=2):
            message = f"zip() argument {number} is longer or shorter than argument 1"
            b.same_size(sequences.length(b, iterables[0]), sequences.length(b, part), message)
    return IteratorValue("zip", tuple(iterables))


@implements(map)
def map_(b: OpBuilder, function: Value, *iterables: Value) -> Value:
    """A function of each item, or of items side by side."""
    if any(map(sequences.is_known, iterables)):
        columns = [sequences.items(b, part) for part in iterables]
        return TupleValue(tuple(b.hold(b.call(function, *items)) for items in zip(*columns, strict=False)))
    if all(sequences.has_length(part) or sequences.is_stepped(part) for part in iterables):
        return IteratorValue("map", (function, *iterables))
    if len(iterables) == 1:
        return b.call(Static(itertools_functions.mapped), function, *iterables)
    raise b.error(
        "a generator is walked through side by side with something else",
        notes=("a generator runs inside the loop that consumes it",),
        help="make a list of its items first: `list(...)`",
    )


@implements(iter)
def iter_(b: OpBuilder, iterable: Value) -> Value:
    """An iterator, from which `next` and loops take items."""
    return cursors.cursor(b, iterable)


@implements(enumerate)
def enumerate_(b: OpBuilder, iterable: Value, start: Value = NUMBER_0) -> Value:
    """Items with their numbers."""
    return IteratorValue("enumerate", (iterable,), b.integer(start, "the start of enumerate"))


@implements(reversed)
def reversed_(b: OpBuilder, sequence: Value) -> Value:
    """Items from the last to the first."""
    return IteratorValue("reversed", (sequence,))


@implements(tuple)
def tuple_(b: OpBuilder, iterable: Value = EMPTY) -> Value:
    """A tuple of the items of something of known length."""
    return TupleValue(tuple(sequences.items(b, iterable)))


@implements(list)
def list_(b: OpBuilder, iterable: Value = EMPTY) -> Value:
    """A list of the items of something of known length; it cannot grow."""
    return TupleValue(tuple(sequences.items(b, iterable)), is_list=True)


@implements(dict)
def dict_(b: OpBuilder, mapping: Value = EMPTY, /, **items: Value) -> Value:
    """A dictionary of another one, or of pairs; one with known keys, unless others turn up."""
    place = b.emit.place
    site = None if place is None else (HASHED, place[0].span(place[1]))
    if isinstance(mapping, ObjectValue) or (site is not None and b.split_joins.get(site)):
        pairs = b.call(Method(mapping, "items")) if isinstance(mapping, DictValue) else mapping
        return b.call(Static(HashMap), pairs)
    found = dict(mapping.items) if isinstance(mapping, DictValue) else {}
    try:
        for pair in () if isinstance(mapping, DictValue) else sequences.items(b, mapping):
            key, value = sequences.items(b, pair)
            found[b.static(key, "a key")] = value
    except FrontendError as error:
        raise b.by_path(site, error) from None
    return DictValue(tuple((found | items).items()), site=site)


@implements(slice)
def slice_(b: OpBuilder, *args: Value) -> Value:
    """A slice to index with."""
    parts = (NONE, args[0], NONE) if len(args) == 1 else (*args, NONE)[:3]
    return SliceValue(*parts)


# -- conversions -----------------------------------------------------------------------------------------------------


@implements(int)
def int_(b: OpBuilder, x: Value = NUMBER_0, base: Value = NONE) -> Value:
    """A Python int: a number towards zero, or what a text that is known says."""
    if base != NONE or (isinstance(x, Static) and isinstance(x.value, str)):
        parts = [b.static(part, "a text that is a number") for part in (x, base) if part != NONE]
        with raised_by("Python"):
            return Static(int(*parts))
    if isinstance(x, TextValue):
        return b.call(Static(number_in), characters.of_text(b, x))
    number = _number(b, x, "int")
    if isinstance(number, Static):
        with raised_by("Python"):
            return Static(int(number.value))
    match dtype_of(number).kind:
        case "c":
            raise b.error("int() does not take a complex number", notes=("Python raises TypeError here",))
        case "f":
            return as_integer_part(b, number)
        case "b":
            return Scalar(cast(scalar_expr(number), types.int64), weak=True)
    return python_number(b, number)


@implements(float)
def float_(b: OpBuilder, x: Value = NUMBER_0) -> Value:
    """A Python float."""
    if isinstance(x, Static) and isinstance(x.value, str):
        with raised_by("Python"):
            return Static(float(x.value))
    return _python(b, x, float, types.float64)


@implements(complex)
def complex_(b: OpBuilder, real: Value = NUMBER_0, imag: Value = NUMBER_0) -> Value:
    """A Python complex number."""
    if isinstance(real, Static) and isinstance(real.value, str) and imag == NUMBER_0:
        with raised_by("Python"):
            return Static(complex(real.value))
    left = _python(b, real, complex, types.complex128)
    if imag == NUMBER_0:
        return left
    parts = [_number(b, x, "complex") for x in (real, imag)]
    if not all(isinstance(part, Static) for part in parts) and all(dtype_of(part).kind != "c" for part in parts):
        return Scalar(op("complex", *(convert(scalar_expr(part), types.float64) for part in parts)), weak=True)
    return b.operator("+", left, b.operator("*", _python(b, imag, complex, types.complex128), Static(1j)))


@implements(bool)
def bool_(b: OpBuilder, x: Value = FALSE) -> Value:
    """Return whether something is true."""
    test = truth(b, x)
    return Static(test) if isinstance(test, bool) else Scalar(test, weak=True)


def _python(b: OpBuilder, x: Value, python: type, dtype: DType) -> Value:
    number = _number(b, x, python.__name__)
    if isinstance(number, Static):
        return Static(python(number.value))
    if dtype_of(number).kind == "c" and dtype.kind != "c":
        raise b.error(f"{python.__name__}() does not take a complex number", notes=("Python raises TypeError here",))
    return Scalar(convert(scalar_expr(number), dtype), weak=True)


def _number(b: OpBuilder, x: Value, name: str) -> Value:
    if isinstance(x, ArrayValue) and all(size is ONE for size in x.shape):
        return Scalar(x.load([ZERO] * x.rank))
    if not is_number(x):
        raise b.error(
            f"{name}() does not take {kind_of(x)}",
            notes=("it takes one number",),
            help=f"take one element, or reduce first: {name}(x[0]), {name}(x.sum())",
        )
    return x


# -- numbers ---------------------------------------------------------------------------------------------------------


@implements(abs)
def abs_(b: OpBuilder, x: Value) -> Value:
    """The magnitude; of an array, elementwise."""
    if isinstance(x, Static) and is_number(x):
        return Static(abs(x.value))
    if is_number(x) and both_are_python_ints(x, x):
        require_negative_fits(b, x)
    known = as_integer(x)
    if known is not None and dtype_of(x) == types.int64:
        return integer(b.emit.ranges.simplify(max_of(known, -known)), weak=is_weak(x))
    if isinstance(x, Scalar) and x.weak:
        name = "cabs" if x.dtype.kind == "c" else "abs"
        expr = cast(x.expr, types.int64) if x.dtype == types.bool_ else x.expr
        return Scalar(op(name, expr), weak=True, other_kinds=x.other_kinds)
    found = b.ufunc(np.absolute, x)
    return replace(found, other_kinds=x.other_kinds) if isinstance(found, Scalar) and isinstance(x, Scalar) else found


@implements(pow)
def pow_(b: OpBuilder, base: Value, exp: Value, mod: Value = NONE) -> Value:
    """``base ** exp``, or that modulo a number."""
    if mod != NONE:
        return power_modulo(b, base, exp, mod)
    return b.operator("**", base, exp)


@implements(divmod)
def divmod_(b: OpBuilder, x: Value, y: Value) -> Value:
    """``(x // y, x % y)``."""
    x, y = b.hold(x), b.hold(y)
    return TupleValue((b.operator("//", x, y), b.operator("%", x, y)))


@implements(sum)
def sum_(b: OpBuilder, iterable: Value, start: Value = NUMBER_0) -> Value:
    """Items added up from the left."""
    if isinstance(iterable, ArrayValue):
        if iterable.rank != 1:
            raise b.error("sum() of an array with several dimensions adds rows", help="use np.sum(a, axis=0)")
        entry = find(np.sum)
        assert entry is not None
        return b.operator("+", start, call_entry(b, entry, [iterable], {"dtype": Static(_sum_dtype(iterable))}))
    total = start
    for item in sequences.items(b, iterable):
        total = b.hold(b.operator("+", total, item))
    return total


def _sum_dtype(array: ArrayValue) -> Any:
    """Python adds NumPy scalars one by one to the int 0: the dtype stays (booleans become int64)."""
    return np.int64 if array.dtype == types.bool_ else array.dtype.numpy


@implements(any)
def any_(b: OpBuilder, iterable: Value) -> Value:
    """Return whether any item is true."""
    return _all_of(b, iterable, "or", np.any)


@implements(all)
def all_(b: OpBuilder, iterable: Value) -> Value:
    """Return whether all items are true."""
    return _all_of(b, iterable, "and", np.all)


def _all_of(b: OpBuilder, iterable: Value, name: str, function: Any) -> Value:
    if isinstance(iterable, ArrayValue) and iterable.rank == 1:
        entry = find(function)
        assert entry is not None
        return bool_(b, call_entry(b, entry, [iterable], {}))
    tests = [truth(b, item) for item in sequences.items(b, iterable)]
    decides = name == "or"
    if any(test is decides for test in tests):
        return Static(decides)
    found: ScalarExpr = Const(not decides, types.bool_)
    for test in tests:
        if not isinstance(test, bool):
            found = op(name, found, test)
    return Static(not decides) if isinstance(found, Const) else Scalar(found, weak=True)


@implements(isinstance)
def isinstance_(b: OpBuilder, obj: Value, class_or_tuple: Value) -> Value:
    """Decided at compile time, from the type of the value."""
    classes = b.static(class_or_tuple, "the class")
    with raised_by("Python"):
        isinstance(0, classes)
    if isinstance(obj, Static):
        return Static(isinstance(obj.value, classes))
    others = python_types(obj) if is_number(obj) else ()
    found = {issubclass(cls, classes) for cls in (_python_class(b, obj), *others)}
    if len(found) > 1:
        require_one_kind(obj, "isinstance()")
    return Static(found.pop())


def _python_class(b: OpBuilder, value: Value) -> type:
    match value:
        case ArrayValue():
            return np.ndarray
        case ObjectValue(cls=cls) | RecordValue(cls=cls):
            return cls
        case TupleValue(is_list=is_list, cls=cls):
            return cls or (list if is_list else tuple)
        case ListValue(levels=levels):
            return list if levels[0] else tuple
        case DictValue():
            return dict
        case TextValue():
            return str
        case RangeValue():
            return range
        case SliceValue():
            return slice
    if is_number(value):
        dtype = dtype_of(value)
        return python_type(dtype) if is_weak(value) else dtype.numpy.type
    raise b.error(f"the class of {kind_of(value)} is not known")


@implements(type)
def type_(b: OpBuilder, obj: Value) -> Value:
    """The class of a value, known at compile time."""
    require_one_kind(obj, "type()")
    return Static(type(obj.value) if isinstance(obj, Static) else _python_class(b, obj))


# -- sequences -------------------------------------------------------------------------------------------------------


@implements(filter)
def filter_(b: OpBuilder, function: Value, iterable: Value) -> Value:
    """The items for which a function is true, or that are true themselves."""
    if sequences.is_known(iterable):
        items = sequences.items(b, iterable)
        tests = [bool_(b, item if function == NONE else b.call(function, item)) for item in items]
        if all(isinstance(test, Static) for test in tests):
            return TupleValue(tuple(item for item, test in zip(items, tests, strict=True) if test == Static(True)))
        pairs = tuple(TupleValue((item, b.hold(test))) for item, test in zip(items, tests, strict=True))
        return b.call(Static(itertools_functions.marked), TupleValue(pairs))
    if function == NONE:
        return b.call(Static(itertools_functions.true_ones), iterable)
    return b.call(Static(itertools_functions.filtered), function, iterable)


@implements(functools.reduce)
def reduce_(b: OpBuilder, function: Value, sequence: Value, initial: Value = MISSING) -> Value:
    """Items combined from the left by a function of two."""
    items = [*([] if initial == MISSING else [initial]), *sequences.items(b, sequence)]
    if not items:
        raise b.error("reduce() of empty iterable with no initial value", notes=("Python raises TypeError here",))
    total = items[0]
    for item in items[1:]:
        total = b.hold(b.call(function, total, item))
    return total


def _operator(symbol: str) -> Callable[..., Value]:
    def call(b: OpBuilder, a: Value, other: Value) -> Value:
        return b.operator(symbol, a, other)

    return call


for _function, _symbol in (
    (operator.add, "+"), (operator.sub, "-"), (operator.mul, "*"), (operator.truediv, "/"), (operator.floordiv, "//"),
    (operator.mod, "%"), (operator.pow, "**"), (operator.and_, "&"), (operator.or_, "|"), (operator.xor, "^"),
    (operator.matmul, "@"), (operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="),
):  # fmt: skip
    implements(_function)(_operator(_symbol))

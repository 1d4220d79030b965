"""Values that depend on a condition: ``x if c else y``, ``and``, ``or``, comparisons, identity and membership.

Where neither side needs code of its own, the choice is an operation (``select``); otherwise a branch, so that what is
not chosen is not run: ``i > 0 and a[i - 1] > 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower import elementwise, merges
from dcpy.frontend.lower.operators import COMPARISONS, binary, truth
from dcpy.frontend.lower.promotion import common
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.lower.refine import refine
from dcpy.frontend.values import (
    DictValue,
    IteratorValue,
    RangeValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.ir import types
from dcpy.ir.expr import Const, ScalarExpr, loads_of, op
from dcpy.ir.region import Branch, Region

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder
    from dcpy.frontend.lower.frame import Frame

Thunk = Callable[[], Value]


def negate(test: bool | ScalarExpr) -> Value:
    """``not test``."""
    return Static(not test) if isinstance(test, bool) else Scalar(op("not", test), weak=True)


def as_value(test: bool | ScalarExpr) -> Value:
    """A condition as a Python bool."""
    return Static(test) if isinstance(test, bool) else Scalar(test, weak=True)


def compare(b: Builder, symbol: str, left: Value, right: Value) -> Value:
    """One comparison of a chain."""
    if symbol in COMPARISONS:
        if symbol in ("==", "!=") and not (_comparable(left) and _comparable(right)):
            return Static((left == right) == (symbol == "=="))
        return binary(b, symbol, left, right)
    if symbol in ("is", "is not"):
        return Static(_identical(left, right) == (symbol == "is"))
    found = _member(b, left, right)
    return found if symbol == "in" else negate(truth(b, found))


def _comparable(value: Value) -> bool:
    return not isinstance(value, TupleValue | DictValue | RangeValue | IteratorValue) and value != Static(None)


def _identical(left: Value, right: Value) -> bool:
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value or (left == right and isinstance(left.value, bool | int | str))
    if Static(None) in (left, right):
        return False
    if type(left) is type(right) and not is_number(left):
        return left == right
    raise FrontendError("whether two values are the same object is not known", help="use == for numbers")


def _member(b: Builder, left: Value, right: Value) -> Value:
    candidates: tuple[Value, ...]
    if isinstance(right, TupleValue):
        candidates = right.items
    elif isinstance(right, DictValue):
        candidates = tuple(Static(key) for key, _ in right.items)
    elif isinstance(right, Static) and isinstance(right.value, tuple | list | set | frozenset | str | dict):
        if isinstance(left, Static):
            return Static(left.value in right.value)
        candidates = tuple(map(Static, sorted(right.value, key=repr)))
    else:
        raise FrontendError(f"`in` does not take {kind_of(right)}", help="compare with ==, or use (a == x).any()")
    tests = [truth(b, compare(b, "==", left, candidate)) for candidate in candidates]
    if any(test is True for test in tests):
        return Static(True)
    found: ScalarExpr = Const(False, types.bool_)
    for test in tests:
        if not isinstance(test, bool):
            found = op("or", found, test)
    return Scalar(found, weak=True) if any(not isinstance(test, bool) for test in tests) else Static(False)


def both(frame: Frame, left: Value, right: Thunk) -> Value:
    """``left and right``."""
    test = truth(frame.b, left)
    if isinstance(test, bool):
        return right() if test else left
    return choose(frame, test, right, lambda: _as_bool(left, test, value=False), "both")


def either(frame: Frame, left: Value, right: Thunk) -> Value:
    """``left or right``."""
    test = truth(frame.b, left)
    if isinstance(test, bool):
        return left if test else right()
    return choose(frame, test, lambda: _as_bool(left, test, value=True), right, "either")


def _as_bool(left: Value, test: ScalarExpr, *, value: bool) -> Value:
    """The left operand where it decides: a bool is then known."""
    if isinstance(left, Scalar) and left.expr == test:
        return Static(value if left.weak else np.bool_(value))
    return left


def choose(frame: Frame, test: ScalarExpr, yes: Thunk, no: Thunk, name: str) -> Value:
    """``yes if test else no``, each computed only where it is chosen."""
    emit = frame.emit
    outer = emit.ranges
    regions: list[Region] = []
    found: list[Value | None] = []
    for thunk, holds in ((yes, True), (no, False)):
        emit.ranges = refine(outer, test, holds=holds)
        with emit.attempt() as region:
            found.append(_value_or_raise(frame, thunk, region))
        regions.append(region)
    emit.ranges = outer
    known = [value for value in found if value is not None]
    if not known:
        raise FrontendError("both sides of the choice raise an exception")
    values = known if len(known) == 2 else known * 2
    plain = not any(region.blocks or region.containers for region in regions)
    if plain and all(is_number(value) and _always_safe(frame, value) for value in values):
        return _select(test, values[0], values[1])
    joined = merges.join(frame, name, values)
    merges.require_usable(joined)
    for region, value in zip(regions, found, strict=True):
        with emit.inside(region):
            merges.move(frame, [] if value is None else [(joined, value)])
    emit.block(Branch([(test, regions[0])], _filled(regions[1])))
    return joined


def _value_or_raise(frame: Frame, thunk: Thunk, region: Region) -> Value | None:
    """The value; None where computing it raises, which then happens where this side is chosen."""
    try:
        return thunk()
    except WillRaise as error:
        for block in list(region.blocks):
            region.remove(block)
        region.containers.clear()
        error.emit(frame.b)
        return None


def _always_safe(frame: Frame, value: Value) -> bool:
    """Whether all elements that the value reads exist also where the condition does not hold."""
    ranges = frame.emit.ranges
    return all(
        ranges.proves_nonneg(index) and ranges.proves_lt(index, size)
        for load in loads_of(scalar_expr(value))
        for index, size in zip(load.indices, frame.emit.descs[load.container].shape, strict=True)
    )


def _filled(region: Region) -> Region | None:
    return region if region.blocks else None


def _select(test: ScalarExpr, yes: Value, no: Value) -> Value:
    if yes == no:
        return yes
    meeting = common((yes, no))
    if meeting is None:
        kinds = f"{kind_of(yes)} or {kind_of(no)}"
        raise FrontendError(f"this is {kinds}, depending on a condition", help="convert both sides, or test with `if`")
    dtype, weak = meeting
    left, right = (elementwise.convert(scalar_expr(value), dtype) for value in (yes, no))
    match left, right:  # ``test and x`` of bools reads better as itself
        case _, Const(value=False, dtype=types.bool_):
            return Scalar(op("and", test, left), weak)
        case Const(value=True, dtype=types.bool_), _:
            return Scalar(op("or", test, right), weak)
    return Scalar(op("select", test, left, right), weak)

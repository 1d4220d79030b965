"""Comparisons: of numbers and arrays, of tuples item by item, identity, membership.

What has no items in common with the other side (None, a string, a tuple of another length) is unequal, as in Python;
what NumPy would compare element by element is left to NumPy's rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import kinds_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    ObjectValue,
    RangeValue,
    RecordValue,
    Scalar,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    as_integer,
    is_number,
    kind_of,
)
from dcpy.frontend.lower.arithmetic.operand_classes import COMPARISONS
from dcpy.frontend.lower.arithmetic.operators import binary, truth
from dcpy.frontend.lower.control.path_selectors import chosen, is_number_of
from dcpy.frontend.lower.frame import IdentityMatters
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import characters, texts
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.python.containers.known_keys import holds, same_items
from dcpy.frontend.specialize.record_arguments import is_frozen
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

Truth = bool | ScalarExpr

FEW = 16  # items of tuples in lists that are compared one by one


def compare(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    """One comparison of a chain."""
    if isinstance(left, VariantValue) or isinstance(right, VariantValue):
        return as_value(_of_kinds(b, symbol, left, right))
    if TextValue in (type(left), type(right)) and symbol in ("==", "!="):
        simple = texts.equal(b, left, right)
        same = truth(b, characters.equal(b, left, right)) if simple is None else simple
        return as_value(same if symbol == "==" else inverse(same))
    return _compare(b, symbol, left, right)


def _compare(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    if symbol in ("is", "is not"):
        same = _identical(left, right)
        return as_value(same if symbol == "is" else inverse(same))
    if symbol in ("in", "not in"):
        found = _member(b, left, right)
        return as_value(found if symbol == "in" else inverse(found))
    if _numeric(left) and _numeric(right):
        return binary(b, symbol, left, right)
    if ArrayValue in (type(left), type(right)):
        return _with_array(b, symbol, left, right)
    if _sequence_kind(left) and _sequence_kind(right):
        return as_value(_sequences(b, symbol, left, right))
    if symbol in ("==", "!=") and _is_object(left) and _is_object(right):
        if isinstance(left, ObjectValue) and left == right:
            return Static(symbol == "==")
        raise FrontendError(
            f"{kind_of(left)} is compared with {kind_of(right)}", help="compare their fields, or `a is b`"
        )
    if symbol in ("==", "!="):
        return as_value((_equal_known(left, right)) == (symbol == "=="))
    if isinstance(left, Static) and isinstance(right, Static):
        return binary(b, symbol, left, right)  # strings
    raise WillRaise("TypeError", f"{symbol} does not compare {kind_of(left)} and {kind_of(right)}", by="Python")


OF_ALL_KINDS = ("==", "!=", "is", "is not", "in", "not in")  # Python has them for everything


def _of_kinds(b: OpBuilder, symbol: str, left: Value, right: Value) -> Truth:
    """A comparison with an item of a list that is one of several kinds: that of the kind that it is."""
    which = left.which if isinstance(left, VariantValue) else right.which if isinstance(right, VariantValue) else ""
    numbers = [number for value in (left, right) if isinstance(value, VariantValue) and value.which == which
               for number, _ in value.options]  # fmt: skip
    found: Truth = False
    for number in dict.fromkeys(numbers):
        sides = [chosen(value, {which: number}) for value in (left, right)]
        test = truth(b, compare(b, symbol, *sides))
        found = either_holds(found, both_hold(is_number_of(which, number), test))
    return found


def as_value(test: Truth) -> Value:
    """A condition as a Python bool."""
    return Static(test) if isinstance(test, bool) else Scalar(test, weak=True)


def inverse(test: Truth) -> Truth:
    """Return whether it does not hold."""
    return not test if isinstance(test, bool) else op("not", test)


def both_hold(left: Truth, right: Truth) -> Truth:
    """``left and right``, of which both may be evaluated."""
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    return op("and", left, right)


def either_holds(left: Truth, right: Truth) -> Truth:
    """``left or right``, of which both may be evaluated."""
    if isinstance(left, bool):
        return True if left else right
    if isinstance(right, bool):
        return True if right else left
    return op("or", left, right)


def _numeric(value: Value) -> bool:
    return isinstance(value, ArrayValue) or is_number(value)


def _with_array(b: OpBuilder, symbol: str, left: Value, right: Value) -> Value:
    """NumPy compares with the elements of a tuple or list, and with None and strings element by element as well."""
    other = right if isinstance(left, ArrayValue) else left
    if _sequence_kind(other):
        return binary(b, symbol, left, right)
    raise FrontendError(
        f"an array is compared with {kind_of(other)}",
        notes=("NumPy compares each element with it",),
        help="write `x is None`" if other == Static(None) else "compare with a number or an array",
    )


def _sequence_kind(value: Value) -> type | None:
    match value:
        case TupleValue(is_list=is_list):
            return list if is_list else tuple
        case ListValue(levels=levels):
            return list if levels[0] else tuple
        case Static(value=tuple() | list() as known):
            return type(known)
    return None


def _sequences(b: OpBuilder, symbol: str, left: Value, right: Value) -> Truth:
    """Tuples or lists, item by item."""
    same_kind = _sequence_kind(left) is _sequence_kind(right)
    if ListValue in (type(left), type(right)) and not all(sequences.is_countable(b, one, FEW) for one in (left, right)):
        return _counted(b, symbol, left, right) if same_kind else symbol == "!="
    ours, theirs = sequences.items(b, left), sequences.items(b, right)
    if symbol in ("==", "!="):
        equal: Truth = same_kind and len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=False) if equal else ():
            equal = both_hold(equal, truth(b, compare(b, "==", mine, other)))
        return equal if symbol == "==" else inverse(equal)
    if not same_kind:
        raise FrontendError(f"{symbol} does not compare a tuple and a list", notes=("Python raises TypeError here",))
    assert symbol in COMPARISONS
    lengths = {"<": len(ours) < len(theirs), "<=": len(ours) <= len(theirs),
               ">": len(ours) > len(theirs), ">=": len(ours) >= len(theirs)}  # fmt: skip
    result: Truth = lengths[symbol]
    for mine, other in reversed(list(zip(ours, theirs, strict=False))):
        equal = truth(b, compare(b, "==", mine, other))
        decided = truth(b, compare(b, symbol[0], mine, other))
        result = either_holds(decided, both_hold(equal, result))
    return result


def _counted(b: OpBuilder, symbol: str, left: Value, right: Value) -> Truth:
    """Lists of numbers whose lengths are known at run time only."""
    if symbol not in ("==", "!="):
        raise FrontendError(
            "the order of two lists is not computed at run time", help="compare their items in a loop"
        )
    if TupleValue(()) in (left, right):
        empty = inverse(truth(b, right if left == TupleValue(()) else left))
        return empty if symbol == "==" else inverse(empty)
    packed = any(isinstance(one, ListValue) and one.packed is not None for one in (left, right))
    equal = truth(b, b.call(Static(same_items), left, right) if packed else
                  b.call(Static(np.array_equal), b.array(left), b.array(right)))  # fmt: skip
    return equal if symbol == "==" else inverse(equal)


def _equal_known(left: Value, right: Value) -> bool:
    """Equality of what has no elements that run-time values decide."""
    if isinstance(left, DictValue | RangeValue) and isinstance(right, DictValue | RangeValue) and left != right:
        raise FrontendError("whether dictionaries or ranges are equal is not known", help="compare their parts")
    if isinstance(left, Static) and isinstance(right, Static) and not is_number(left):
        return bool(left.value == right.value)
    return left == right


def _same_truth(left: Value, right: Value) -> Truth | None:
    """``x is True``: Python has one True and one False, and NumPy's are others; None where that is not asked."""
    flags = [isinstance(value, Static) and isinstance(value.value, bool) for value in (left, right)]
    known, other = (left, right) if flags[0] else (right, left)
    if not any(flags) or not isinstance(other, Scalar | SymInt) or bool in (instead := kinds_of(other)[1:]):
        return None
    assert isinstance(known, Static)
    if isinstance(other, Scalar) and other.weak and other.dtype == types.bool_:
        return None if instead else other.expr if known.value else inverse(other.expr)
    return False


def _identical(left: Value, right: Value) -> Truth:
    truth_ = _same_truth(left, right)
    if truth_ is not None:
        return truth_
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value or (left == right and isinstance(left.value, bool | int | str))
    if Static(None) in (left, right):
        return False
    if isinstance(left, TupleValue | ListValue) and isinstance(right, TupleValue | ListValue):
        return left.token is not None and left.token == right.token
    if isinstance(left, RecordValue) and _is_object(right):
        if not is_frozen(left.cls):
            raise IdentityMatters(left.cls)
        raise FrontendError(
            f"whether {kind_of(left)} is the same object is not known",
            notes=("objects of a frozen class have no identity, only fields",),
            help="compare its fields",
        )
    if type(left) is type(right) and not is_number(left):
        return left == right
    raise FrontendError(
        "whether two values are the same object is not known",
        notes=("compiled code stores numbers without Python objects",),
        help="use == for numbers",
    )


def _is_object(value: Value) -> bool:
    return isinstance(value, ObjectValue | RecordValue)


def _member(b: OpBuilder, left: Value, right: Value) -> Truth:
    """``left in right``."""
    if isinstance(right, ArrayValue):
        return truth(b, b.call(Static(np.any), binary(b, "==", right, left)))
    if isinstance(right, ListValue):
        return _in_list(b, left, right)
    if isinstance(right, RangeValue):
        return _in_range(b, left, right)
    if isinstance(left, TextValue) and isinstance(right, Static) and isinstance(right.value, str):
        _require_character(b, left)
    if isinstance(right, TextValue):
        _require_character(b, left)
        items = characters.of_text(b, right)
        return _member(b, left, items)
    if isinstance(left, Static) and isinstance(right, Static) and isinstance(right.value, _CONTAINERS):
        return bool(left.value in right.value)
    found: Truth = False
    for candidate in _candidates(right):
        found = either_holds(found, truth(b, compare(b, "==", left, candidate)))
    return found


def _require_character(b: OpBuilder, value: Value) -> None:
    if characters.code_of(b, value) is None:
        raise FrontendError(f"`in` looks for a character, not for {kind_of(value)}", help="compare slices of the text")


_CONTAINERS = (tuple, list, set, frozenset, str, bytes, dict, range)


def _candidates(right: Value) -> tuple[Value, ...]:
    """Return what an item of something of known length may be."""
    match right:
        case TupleValue(items=items):
            return items
        case DictValue(items=pairs):
            return tuple(Static(key) for key, _ in pairs)
        case Static(value=bytes() as known):
            return tuple(map(Static, sorted(set(known))))
        case Static(value=known) if isinstance(known, _CONTAINERS):
            return tuple(map(Static, sorted(known, key=repr)))
    raise FrontendError(f"`in` does not take {kind_of(right)}", help="compare with ==, or use (a == x).any()")


def _in_list(b: OpBuilder, left: Value, right: ListValue) -> Truth:
    of_other_kind = isinstance(left, Static) and not is_number(left)
    if right.holds_numbers and (len(right.levels) == 2 or of_other_kind):
        return truth(b, b.call(Static(holds), right, left))
    if len(right.levels) > 1 or not right.holds_numbers or not is_number(left):
        raise FrontendError(f"`in` does not compare {kind_of(left)} with lists at run time")
    return _member(b, left, right.array)


def _in_range(b: OpBuilder, number: Value, values: RangeValue) -> Truth:
    """An integer is in a range if it lies between the bounds and on a step."""
    found, step = as_integer(number), values.step.constant
    if found is None or step is None:
        raise FrontendError(
            f"whether {kind_of(number)} is in a range is not known", help="compare with the bounds: `a <= x < b`"
        )
    first, last = (values.start, values.stop - 1) if step > 0 else (values.stop + 1, values.start)
    tests: list[Truth] = []
    for difference in (found - first, last - found):
        proved = b.emit.ranges.proves_nonneg(difference)
        tests.append(proved or op("ge", Index(difference), Const(0, types.int64)))
    steps = (found - values.start) % abs(step)
    on_step: Truth = True if abs(step) == 1 else op("eq", Index(steps), Const(0, types.int64))
    return both_hold(both_hold(*tests), on_step)

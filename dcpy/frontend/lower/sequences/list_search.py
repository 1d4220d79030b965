"""List search: ``index`` and ``count``, decided now where all items are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    as_integer,
    integer,
    is_number,
    kind_of,
)
from dcpy.frontend.lower.arithmetic.comparisons import compare
from dcpy.frontend.lower.arithmetic.operators import binary, truth
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.python.containers.known_keys import count_of, first_place
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

List = TupleValue | ListValue


def of_any(frame: Frame, owner: List, name: str, args: Sequence[Value]) -> Value:
    """``index`` and ``count``, which tuples have as well."""
    most = 1 if name == "count" else 3
    if not 1 <= len(args) <= most:
        raise FrontendError(f"{name}() takes 1 argument, not {len(args)}", notes=("Python raises TypeError here",))
    if len(args) > 1:
        raise FrontendError(f"{name}() in a part of a list is not supported", help="search x[start:stop]")
    if isinstance(owner, TupleValue):
        places = matching(frame, owner, args[0])
        if places is not None:
            if name == "count":
                return Static(len(places))
            if not places:
                kind = "list" if owner.is_list else "tuple"
                shown = repr(args[0].value) if isinstance(args[0], Static) else "x"
                raise WillRaise("ValueError", f"{shown} is not in {kind}" if kind == "list" else
                                "tuple.index(x): x not in tuple", by="Python")  # fmt: skip
            return Static(places[0])
    if name == "index":
        known = as_integer(args[0])
        return position(frame, owner, args[0], "{0} is not in list" if known is not None else "x is not in list")
    if _one_by_one(owner, args[0]):
        return frame.b.call(Static(count_of), owner, args[0])
    equal = _equal(frame, owner, args[0])
    found = frame.b.call(Static(np.count_nonzero), equal)
    return replace(found, weak=True) if isinstance(found, Scalar) else found


def matching(frame: Frame, owner: TupleValue, value: Value) -> list[int] | None:
    """The positions of equal items; None where run-time values decide."""
    tests = [truth(frame.b, compare(frame.b, "==", item, value)) for item in owner.items]
    if not all(isinstance(test, bool) for test in tests):
        return None
    return [place for place, test in enumerate(tests) if test]


def _one_by_one(owner: List, value: Value) -> bool:
    """Return whether items are compared by Python's rules: tuples, items of several kinds, and numbers with None."""
    if not isinstance(owner, ListValue) or not owner.holds_numbers:
        return False
    return len(owner.levels) > 1 or (isinstance(value, Static) and not is_number(value))


def _equal(frame: Frame, owner: List, value: Value) -> ArrayValue:
    if not is_number(value):
        raise FrontendError(f"{kind_of(value)} is looked for in a list at run time", help="compare in a loop")
    array = frame.b.array(owner) if isinstance(owner, TupleValue) else owner.array
    return frame.b.array(binary(frame.b, "==", array, value))


def position(frame: Frame, owner: List, value: Value, message: str) -> Value:
    """The position of the first equal item; a `ValueError` where there is none."""
    b = frame.b
    if _one_by_one(owner, value):
        first = b.integer(b.call(Static(first_place), owner, value), "a position")
        b.emit.require(first, "ValueError", message)
        return integer(first)
    equal = _equal(frame, owner, value)
    found = truth(b, b.call(Static(np.any), equal))
    known = as_integer(value)
    values = [Index(known)] if known is not None and "{0}" in message else []
    b.check(Const(found, types.bool_) if isinstance(found, bool) else found, "ValueError", message, values)
    place = b.call(Static(np.argmax), equal)
    return replace(place, weak=True) if isinstance(place, Scalar) else place

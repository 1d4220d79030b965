"""Values that depend on a condition: ``x if c else y``, ``and``, ``or``.

Where neither side needs code of its own, the choice is an operation (``select``); otherwise a branch, so that what is
not chosen is not run: ``i > 0 and a[i - 1] > 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.arithmetic.promotion import common
from dcpy.frontend.lower.arrays import resizing
from dcpy.frontend.lower.control import hoisting, merges
from dcpy.frontend.lower.control.refine import refine
from dcpy.frontend.lower.names import settle
from dcpy.frontend.lower.objects.dataclasses import require_same_fields
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.lower.sequences import references
from dcpy.frontend.values import Scalar, Static, Value, is_number, kind_of, scalar_expr
from dcpy.frontend.varying import VARYING
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, loads_of, op
from dcpy.ir.region import Branch, Region
from dcpy.ir.symbolic import Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Thunk = Callable[[], Value]


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
    waiting = [list(operands) for operands in frame.program.pending]
    sides: list[tuple[Region, Value, Ranges]] = []  # those that do not raise
    regions: list[Region] = []
    for thunk, holds in ((yes, True), (no, False)):
        emit.ranges = refine(outer, test, holds=holds)
        before = dict(frame.env)
        with emit.attempt() as region:
            found = _value_or_raise(frame, thunk, region)
            require_same_fields(before, frame.env)
            if found is not None:
                sides.append((region, found, emit.ranges))
        regions.append(region)
    emit.ranges = outer
    if _settled_inside(frame, waiting):  # operands that wait outside were computed inside a side: once more, outside
        settle(frame)
        return choose(frame, test, yes, no, name)
    if not sides:
        raise FrontendError("both sides of the choice raise an exception")
    values = [value for _, value, _ in sides]
    plain = not any(region.blocks or region.containers for region in regions)
    if plain and all(is_number(value) and _always_safe(frame, value) for value in values):
        return _select(frame, test, values[0], values[-1])
    name = f"{name}@{emit.fresh('@')}"  # another choice of this expression may still be waiting to be used
    joined = merges.join(frame, name, values, merges.Paths([ranges for _, _, ranges in sides], merge=_place(frame)))
    merges.require_usable(frame, joined)
    for region, value, ranges in sides:
        with emit.inside(region, ranges):
            merges.move(frame, [(joined, value)])
    emit.block(Branch([(test, regions[0])], _filled(regions[1])))
    return resizing.concrete(frame, joined) if isinstance(joined, VARYING) else references.shown(frame, joined)


def _settled_inside(frame: Frame, waiting: list[list[Value]]) -> bool:
    """Whether operands that are not used yet have changed meanwhile; they are put back."""
    pairs = list(zip(frame.program.pending, waiting, strict=True))
    changed = any(now is not was for operands, before in pairs for now, was in zip(operands, before, strict=True))
    for operands, before in pairs:
        operands[:] = before
    return changed


def _value_or_raise(frame: Frame, thunk: Thunk, region: Region) -> Value | None:
    """The value; None where computing it raises, which then happens where this side is chosen."""
    try:
        return thunk()
    except WillRaise as error:
        for block in list(region.blocks):
            region.remove(block)
        region.containers.clear()
        frame.b.raise_here(error)
        return None


def _always_safe(frame: Frame, value: Value) -> bool:
    """Whether all elements that the value reads exist also where the condition does not hold."""
    return all(
        frame.emit.ranges.proves_in_range(load.indices, frame.emit.descs[load.container].shape)
        for load in loads_of(scalar_expr(value))
    )


def _filled(region: Region) -> Region | None:
    return region if region.blocks else None


def _place(frame: Frame) -> object:
    """The place of the expression that is being evaluated."""
    place = frame.emit.place
    return hoisting.key_of(frame, place[1]) if place is not None and place[0] is frame else None


def _select(frame: Frame, test: ScalarExpr, yes: Value, no: Value) -> Value:
    if yes == no:
        return yes
    meeting = common((yes, no))
    if meeting is None:
        kinds = f"{kind_of(yes)} or {kind_of(no)}"
        message = f"this is {kinds}, depending on a condition"
        raise frame.b.by_path(_place(frame), FrontendError(message, help="convert both sides, or test with `if`"))
    left, right = (elementwise.convert(scalar_expr(value), meeting.dtype) for value in (yes, no))
    match left, right:  # ``test and x`` of bools reads better as itself
        case _, Const(value=False, dtype=types.bool_):
            return Scalar(op("and", test, left), meeting.weak, meeting.instead)
        case Const(value=True, dtype=types.bool_), _:
            return Scalar(op("or", test, right), meeting.weak, meeting.instead)
    return Scalar(op("select", test, left, right), meeting.weak, meeting.instead)

"""Conditional expressions: ``x if c else y``, ``and``, ``or``.

Where neither side needs code of its own, the choice is an operation (``select``); otherwise a branch, so that what is
not chosen is not run: ``i > 0 and a[i - 1] > 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import VARYING
from dcpy.frontend.abstract_values.kinds_by_path import all_of
from dcpy.frontend.abstract_values.number_kinds import types_of
from dcpy.frontend.abstract_values.values import (
    Scalar,
    Static,
    TextValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.arithmetic.promotion import joined_number
from dcpy.frontend.lower.arrays import dynamic_sizes
from dcpy.frontend.lower.control import expression_splitting, joins
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import materialize
from dcpy.frontend.lower.objects.dataclass_objects import require_same_fields
from dcpy.frontend.lower.sequences import item_words, iterator_uses, list_references
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.branch_facts import refine_ranges
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
    waiting = [list(operands) for operands in frame.program.pending_operands]
    sides: list[tuple[Region, Value, Ranges]] = []  # those that do not raise
    regions: list[Region] = []
    with iterator_uses.on_one_of(frame.program) as end_of_side:
        for thunk, holds in ((yes, True), (no, False)):
            emit.ranges = refine_ranges(outer, test, holds=holds)
            before = dict(frame.env)
            with emit.attempt() as region:
                found = _value_or_raise(frame, thunk, region)
                require_same_fields(before, frame.env)
                if found is not None:
                    sides.append((region, found, emit.ranges))
            regions.append(region)
            end_of_side(found is not None)
    emit.ranges = outer
    if _changed_inside(frame, waiting):  # operands that wait outside were computed inside a side: once more, outside
        materialize(frame)
        return choose(frame, test, yes, no, name)
    if not sides:
        raise FrontendError("both sides of the choice raise an exception")
    values = [value for _, value, _ in sides]
    plain = not any(region.blocks or region.containers for region in regions)
    if plain and all(is_number(value) and _always_safe(frame, value) for value in values):
        return select(frame, test, values[0], values[-1])
    if any(isinstance(value, TextValue) for value in values) and all(map(_is_short_text, values)):
        return _chosen_text(frame, test, sides, regions, f"{name}@{emit.fresh('@')}")
    name = f"{name}@{emit.fresh('@')}"  # another choice of this expression may still be waiting to be used
    joined = joins.join(frame, name, values, joins.Paths([ranges for _, _, ranges in sides], merge=_place(frame)))
    joins.require_usable(frame, joined)
    for region, value, ranges in sides:
        with emit.inside(region, ranges):
            joins.move(frame, [(joined, value)])
    emit.block(Branch([(test, regions[0])], _filled(regions[1])))
    return (
        dynamic_sizes.concrete(frame, joined) if isinstance(joined, VARYING) else list_references.shown(frame, joined)
    )


def _is_short_text(value: Value) -> bool:
    if isinstance(value, TextValue):
        return all(map(is_number, item_words.numbers_in(value)))
    return isinstance(value, Static) and isinstance(value.value, str)


def _chosen_text(
    frame: Frame, test: ScalarExpr, sides: Sequence[tuple[Region, Value, Ranges]], regions: Sequence[Region], name: str
) -> Value:  # fmt: skip
    """One of two texts, by a number that says which, with places outside for the numbers in them."""
    which = frame.slot(f"{name}_which", types.int64, weak=True)
    options: list[Value] = []
    for position, (region, text, ranges) in enumerate(sides):
        pairs: list[tuple[Value, Value]] = [(which, Static(position))]
        if isinstance(text, TextValue):
            numbers = item_words.numbers_in(text)
            slots = [frame.slot(f"{name}_{position}_{k}", dtype_of(number), is_weak(number))
                     for k, number in enumerate(numbers)]  # fmt: skip
            pairs += zip(slots, numbers, strict=True)
            left = iter(slots)
            parts = (part if isinstance(part, str) else (next(left), *part[1:]) for part in text.parts)
            text = TextValue(tuple(parts))
        options.append(text)
        with frame.emit.inside(region, ranges):
            joins.move(frame, pairs)
    frame.emit.block(Branch([(test, regions[0])], _filled(regions[1])))
    return item_words.one_of(frame.b, scalar_expr(which), options)


def _changed_inside(frame: Frame, waiting: list[list[Value]]) -> bool:
    """Return whether operands that are not used yet have changed meanwhile; they are put back."""
    pairs = list(zip(frame.program.pending_operands, waiting, strict=True))
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
    """Return whether all elements that the value reads exist also where the condition does not hold."""
    return all(
        frame.emit.ranges.proves_in_range(load.indices, frame.emit.descs[load.container].shape)
        for load in loads_of(scalar_expr(value))
    )


def _filled(region: Region) -> Region | None:
    return region if region.blocks else None


def _place(frame: Frame) -> object:
    """The place of the expression that is being evaluated."""
    place = frame.emit.place
    return expression_splitting.key_of(frame, place[1]) if place is not None and place[0] is frame else None


def select(frame: Frame, test: ScalarExpr, yes: Value, no: Value) -> Value:
    """One of two numbers, both of which are computed."""
    if yes == no:
        return yes
    meeting = joined_number((yes, no))
    if meeting is None:
        kinds = f"{kind_of(yes)} or {kind_of(no)}"
        message = f"this is {kinds}, depending on a condition"
        raise frame.b.by_path(_place(frame), FrontendError(message, help="convert both sides, or test with `if`"))
    left, right = (elementwise.convert(scalar_expr(value), meeting.dtype) for value in (yes, no))
    others = meeting.other_kinds
    if types_of(yes) != types_of(no):
        others = all_of([others], _place(frame), tells=not frame.is_in_loop)
    match left, right:  # ``test and x`` of bools reads better as itself
        case _, Const(value=False, dtype=types.bool_):
            return Scalar(op("and", test, left), meeting.weak, others)
        case Const(value=True, dtype=types.bool_), _:
            return Scalar(op("or", test, right), meeting.weak, others)
    return Scalar(op("select", test, left, right), meeting.weak, others)

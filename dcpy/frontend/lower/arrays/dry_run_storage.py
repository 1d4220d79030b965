"""Storage of types found by dry runs: slots that a dry run took back are declared again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.dynamic_arrays import AxisWindow, Resized, SlidingWindow
from dcpy.frontend.abstract_values.list_values import GrownText, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Maybe,
    RecordValue,
    Scalar,
    TextValue,
    TupleValue,
    Value,
)
from dcpy.frontend.lower.arrays.name_aliases import shown_by_others
from dcpy.frontend.lower.sequences import item_kinds
from dcpy.ir.expressions.scalar import Load

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def in_slots_again(frame: Frame, name: str, value: Value) -> Value:  # noqa: C901  (one case per kind)
    """The same type in a slot that exists now (dry runs take theirs back)."""
    match value:
        case Scalar(expr=Load(dtype=dtype), weak=weak, other_kinds=instead):
            return frame.slot(name, dtype, weak, instead)
        case ArrayValue(container=container, dtype=dtype, shape=shape):
            axes = frame.program.slot_axes.get(container, ())
            return frame.array_slot(name, dtype, shape, axes, shown_by_others(frame, name, [frame.env]))
        case GrownText(items=items):
            busy = shown_by_others(frame, name, [frame.env])
            return GrownText(frame.list_slot(name, item_kinds.kind_of_list(frame.b, items), busy))
        case TextValue(parts=parts):
            return TextValue(tuple(
                part if isinstance(part, str) else (in_slots_again(frame, f"{name}_{k}", part[0]), *part[1:])
                for k, part in enumerate(parts)
            ))  # fmt: skip
        case ListValue(array=array) if value.size:
            return frame.list_slot(name, item_kinds.kind_of_list(frame.b, value))
        case ListValue(array=array):
            own = in_slots_again(frame, name, array)
            assert isinstance(own, ArrayValue)  # slots keep their kind
            return replace(value, array=own)
        case Resized(slot=slot, sizes=sizes, grows=grows):
            busy = shown_by_others(frame, name, [frame.env])
            again = frame.growing_slot(name, slot.dtype, busy) if grows else frame.array_slot(
                name, slot.dtype, slot.shape, busy=busy)  # fmt: skip
            kept = tuple(None if size is None else frame.size_slot(name, k) for k, size in enumerate(sizes))
            return Resized(again, kept, grows)
        case SlidingWindow(like=like, places=places):
            return SlidingWindow(like, tuple(_same_place(frame, name, k, place) for k, place in enumerate(places)))
        case Maybe(value=inner, condition=Load()):
            return Maybe(in_slots_again(frame, name, inner), frame.flag(name))
        case TupleValue(items=items) | RecordValue(items=items):
            there = (in_slots_again(frame, f"{name}_{k}", item) for k, item in enumerate(items))
            return replace(value, items=tuple(there))
    return value


def _same_place(frame: Frame, name: str, dim: int, place: AxisWindow) -> AxisWindow:
    slots = {what: getattr(place, what) for what in ("start", "size", "step")}
    return AxisWindow(**{what: slot and frame.place_slot(name, what, dim) for what, slot in slots.items()})

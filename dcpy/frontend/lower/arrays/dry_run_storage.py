"""Storage of types found by dry runs: homes that a dry run took back are declared again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.dynamic_arrays import AxisWindow, Resized, SlidingWindow
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, Maybe, RecordValue, Scalar, TupleValue, Value
from dcpy.frontend.lower.arrays.name_aliases import shown_by_others
from dcpy.frontend.lower.sequences import item_kinds
from dcpy.ir.expressions.scalar import Load

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def rehomed(frame: Frame, name: str, value: Value) -> Value:
    """The same type in a home that exists now (dry runs take theirs back)."""
    match value:
        case Scalar(expr=Load(dtype=dtype), weak=weak, other_kinds=instead):
            return frame.home(name, dtype, weak, instead)
        case ArrayValue(container=container, dtype=dtype, shape=shape):
            axes = frame.program.home_axes.get(container, ())
            return frame.array_home(name, dtype, shape, axes, shown_by_others(frame, name, [frame.env]))
        case ListValue(array=array) if value.size:
            return frame.list_home(name, item_kinds.kind_of_list(frame.b, value))
        case ListValue(array=array):
            own = rehomed(frame, name, array)
            assert isinstance(own, ArrayValue)  # homes keep their kind
            return replace(value, array=own)
        case Resized(home=home, sizes=sizes, grows=grows):
            busy = shown_by_others(frame, name, [frame.env])
            again = frame.growing_home(name, home.dtype, busy) if grows else frame.array_home(
                name, home.dtype, home.shape, busy=busy)  # fmt: skip
            kept = tuple(None if size is None else frame.size_home(name, k) for k, size in enumerate(sizes))
            return Resized(again, kept, grows)
        case SlidingWindow(like=like, places=places):
            return SlidingWindow(like, tuple(_same_place(frame, name, k, place) for k, place in enumerate(places)))
        case Maybe(value=inner, condition=Load()):
            return Maybe(rehomed(frame, name, inner), frame.flag(name))
        case TupleValue(items=items) | RecordValue(items=items):
            return replace(value, items=tuple(rehomed(frame, f"{name}_{k}", item) for k, item in enumerate(items)))
    return value


def _same_place(frame: Frame, name: str, dim: int, place: AxisWindow) -> AxisWindow:
    homes = {what: getattr(place, what) for what in ("start", "size", "step")}
    return AxisWindow(**{what: home and frame.place_home(name, what, dim) for what, home in homes.items()})

"""Types that dry runs have found, where the code is written: dry runs take back the homes of names that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.lists import ListValue
from dcpy.frontend.lower.arrays.sharing import shown_by_others
from dcpy.frontend.lower.sequences import listing
from dcpy.frontend.values import ArrayValue, Maybe, RecordValue, Scalar, TupleValue, Value
from dcpy.frontend.varying import Place, Resized, Sliding
from dcpy.ir.expressions.scalar import Load

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def rehomed(frame: Frame, name: str, value: Value) -> Value:
    """The same type in a home that exists now (dry runs take theirs back)."""
    match value:
        case Scalar(expr=Load(dtype=dtype), weak=weak, instead=instead):
            return frame.home(name, dtype, weak, instead)
        case ArrayValue(dtype=dtype, shape=shape):
            return frame.array_home(name, dtype, shape, shown_by_others(frame, name, [frame.env]))
        case ListValue(array=array) if value.size:
            return frame.list_home(name, listing.kind_of_list(frame.b, value))
        case ListValue(array=array):
            own = rehomed(frame, name, array)
            assert isinstance(own, ArrayValue)  # homes keep their kind
            return replace(value, array=own)
        case Resized(home=home, sizes=sizes, grows=grows):
            busy = shown_by_others(frame, name, [frame.env])
            again = frame.growing_home(name, home.dtype, busy) if grows else frame.array_home(
                name, home.dtype, home.shape, busy)  # fmt: skip
            kept = tuple(None if size is None else frame.size_home(name, k) for k, size in enumerate(sizes))
            return Resized(again, kept, grows)
        case Sliding(like=like, places=places):
            return Sliding(like, tuple(_same_place(frame, name, k, place) for k, place in enumerate(places)))
        case Maybe(value=inner, condition=Load()):
            return Maybe(rehomed(frame, name, inner), frame.flag(name))
        case TupleValue(items=items) | RecordValue(items=items):
            return replace(value, items=tuple(rehomed(frame, f"{name}_{k}", item) for k, item in enumerate(items)))
    return value


def _same_place(frame: Frame, name: str, dim: int, place: Place) -> Place:
    homes = {what: getattr(place, what) for what in ("start", "size", "step")}
    return Place(**{what: home and frame.place_home(name, what, dim) for what, home in homes.items()})

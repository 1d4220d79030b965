"""Texts where paths meet: those of one form are the text of numbers that meet in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.values import Missing, Static, TextValue, Value, is_number
from dcpy.frontend.lower.sequences import growing_texts

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def join(
    frame: Frame, name: str, plain: Sequence[Value], paths: Any, join_values: Callable[..., Value]
) -> Value | None:  # fmt: skip
    """Return the text in which texts meet; None for other values, and where what is around their numbers differs."""
    if not all(map(growing_texts.is_text, plain)):
        return None
    same_form = len({_form(value) for value in plain}) == 1
    if any(map(growing_texts.is_grown, plain)) or (paths.texts_grow and not same_form):
        return growing_texts.slot_of(frame, name, plain, paths.visible_containers)
    values = [value for value in plain if isinstance(value, TextValue)]
    if len(values) < len(plain):
        return None
    if not same_form:
        return None
    parts: list[str | tuple[Value, int, str]] = []
    for k, column in enumerate(zip(*(value.parts for value in values), strict=True)):
        first = column[0]
        if isinstance(first, str):
            parts.append(first)
            continue
        found = [part[0] for part in column if not isinstance(part, str)]
        if not all(map(is_number, found)):
            return None
        joined = join_values(frame, f"{name}_{k}", found, paths)
        if isinstance(joined, Missing):
            return joined
        parts.append((joined, *first[1:]))
    return TextValue(tuple(parts))


def _form(value: Value) -> object:
    """The text around numbers, and how they are shown."""
    if not isinstance(value, TextValue):
        return value.value if isinstance(value, Static) else None
    return tuple(part if isinstance(part, str) else part[1:] for part in value.parts)


def numbers(target: TextValue, source: TextValue) -> list[tuple[Value, Value]]:
    """Return the values in two texts of one form, side by side."""
    parts = zip(target.parts, source.parts, strict=True)
    return [(mine[0], other[0]) for mine, other in parts if not isinstance(mine, str) and not isinstance(other, str)]

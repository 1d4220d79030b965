"""Formatted parts of f-strings: constants now, numbers where the text is shown; by Python where a format is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.string_formatting import CHOSEN, formatted
from dcpy.base.text_table import TABLE
from dcpy.frontend.abstract_values.values import Static, TextValue, Value
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.texts import Part
from dcpy.frontend.python.spelled_texts import FORMATTED

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


def part(b: OpBuilder, value: Value, conversion: int, spec: Value) -> Part:
    """``{value!conversion:spec}``."""
    if not isinstance(spec, Static):
        shown = value if conversion < 0 else TextValue(((value, conversion, ""),))
        return b.call(Static(FORMATTED), shown, spec), CHOSEN, TABLE
    if isinstance(value, Static):
        with raised_by("Python"):
            return formatted(value.value, conversion, str(spec.value))
    return sequences.as_it_is(b, value), conversion, str(spec.value)

"""Numbers as a dialect of C spells them."""

from __future__ import annotations

import math

import numpy as np

from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.emit.types import spelled
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Number
from dcpy.ir.types import DType

_SUFFIX = {"i64": "L", "u64": "UL", "u32": "u"}


def spell(dialect: Dialect, value: Number, dtype: DType) -> str:
    """The text of a real number, or of a complex one in braces."""
    match dtype.kind:
        case "b":
            return dialect.word("true" if value else "false")
        case "c":
            part = dtype.real
            number = complex(value)
            return f"{{{spell(dialect, number.real, part)}, {spell(dialect, number.imag, part)}}}"
        case "f":
            return _spell_float(dialect, float(value), dtype)  # type: ignore[arg-type]
    number = int(value)  # type: ignore[arg-type]
    if dtype == types.int64:
        return str(number) if number > -(2**63) else "(-__INT64_MAX__ - 1)"
    if dtype == types.int32 and number == -(2**31):
        return "(-__INT32_MAX__ - 1)"
    text = f"{number}{_SUFFIX.get(dtype.name, '')}"
    return f"({spelled(dialect, dtype)}){text}" if dtype.itemsize < 4 else text


def _spell_float(dialect: Dialect, value: float, dtype: DType) -> str:
    suffix = {"f32": "f", "f16": "f"}.get(dtype.name, "")
    if math.isnan(value):
        text = dialect.word("nan").format(suffix)
    elif math.isinf(value):
        text = ("-" if value < 0 else "") + dialect.word("infinity").format(suffix)
    else:
        text = repr(value) if dtype == types.float64 else str(dtype.numpy.type(value).astype(np.float32))
        text += suffix
    return f"({spelled(dialect, dtype)}){text}" if dtype == types.float16 else text

"""Lists as arrays: arguments for parameters that are annotated as arrays; the arrays are read-only.

What a program wrote to such an array would be lost, and NumPy's flag says so to the dispatcher. Numbers become those of
the annotation where NumPy calls that safe: integers become floats, floats no integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.frontend.specialize.argument_types import ArgType, ArrayType


def lists_as_arrays(names: Sequence[str], values: tuple[Any, ...], annotated: Mapping[str, ArgType]) -> tuple[Any, ...]:
    """The values of a call, with arrays for lists that are to be arrays; others stay as they are."""
    found = list(values)
    for place, (name, value) in enumerate(zip(names, values, strict=False)):
        kind = annotated.get(name)
        if type(value) is list and isinstance(kind, ArrayType):
            found[place] = _as_array(value, kind)
    return tuple(found)


def _as_array(value: list[Any], kind: ArrayType) -> Any:
    """The array, or the list where it is none of that dtype and so many dimensions."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        return value
    safe = array.size == 0 or np.can_cast(array.dtype, kind.dtype.numpy, "safe")
    if array.ndim != len(kind.dims) or array.dtype.kind not in "biufc" or not safe:
        return value
    found = np.array(value, kind.dtype.numpy)
    found.flags.writeable = False
    return found

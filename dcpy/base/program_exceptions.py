"""Program exceptions: those that a compiled program can raise, by the names that its checks carry.

These are Python's own, and some others that no builtin stands for. For frequent messages there is advice.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import FrozenInstanceError

import numpy as np

_OTHERS: dict[str, type[Exception]] = {
    "LinAlgError": np.linalg.LinAlgError,
    "UFuncTypeError": TypeError,
    "AxisError": np.exceptions.AxisError,
    "FrozenInstanceError": FrozenInstanceError,
}
#: the beginning of a message -> what to write instead
_ADVICE = {
    r"operands could not be broadcast together": "sizes must be equal, or 1; a[:, None] adds a dimension of size 1",
    r"could not broadcast input array from shape": "give both sides the same shape, or sizes of 1",
    r"matmul: Input operand 1 has a mismatch": "the first operand needs as many columns as the second has rows",
    r"all the input array": "give them the same sizes except along the axis; a[None, :] adds a dimension",
    r"the rows have different lengths": "pad the rows to one length",
    r"Last 2 dimensions of the array must be square": "np.linalg.lstsq and np.linalg.pinv take other shapes",
    r"cannot reshape array of size": "the product of the new sizes must be the number of elements; "
    "-1 stands for the remaining size",
    r"cannot access local variable": "assign it before the `if` or the loop, or on every path",
    r"list assignment index out of range": "a list grows by .append(...)",
    r"index -?\d+ is out of bounds for axis \d+ with size 0": "test the size before: the axis is empty",
    r"index -?\d+ is out of bounds for axis \d+ with size (\d+)": "there are {0} elements: 0 is the first, -1 the last",
    r".* does not fit into the 64 bits that integers have in a program": "compute with float(x); or let integers wrap "
    "around, by np.int64(x) or @dcpy.program(int_overflow='wrap'); for x**y % m, pow(x, y, m)",
    r"too many indices for array: array is 0-dimensional": "it is one number already",
    r"too many indices for array: array is (\d+)-dimensional": "at most {0} can be given; x[:, None] adds a dimension",
    r"deadlock: .* waits for room in": "give the stream a larger depth, or take its elements in another process",
    r"deadlock: .* waits for an element of": "push as many elements as are taken, and push them first or in another "
    "process",
}


def advice_on(message: str) -> str:
    """Return advice for an exception with this message; "" where there is none."""
    for pattern, text in _ADVICE.items():
        found = re.match(pattern, message)
        if found is not None:
            return text.format(*found.groups())
    return ""


def exception_type(name: str) -> type[Exception] | None:
    """The exception (or warning category) of that name; None where there is none."""
    found = _OTHERS.get(name) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None

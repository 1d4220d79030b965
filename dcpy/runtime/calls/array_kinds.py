"""Kinds of arrays that a program returns in kind: those of libraries that exchange memory by DLPack both ways.

Such an array (a tensor of PyTorch's, an array of JAX's) is read in place, and the library makes arrays of its own of
the results, over the same memory. It needs to say how: by the namespace of the array API, or by a function
``from_dlpack`` of the package that the class is of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.base.foreign_arrays import foreign_array

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ArrayKind:
    """A class of arrays, and its library's function that takes memory by DLPack."""

    cls: type
    from_dlpack: Callable[[Any], Any]

    def made_of(self, result: Array) -> Any:
        """The library's array over the memory of a result, or of a copy of what nobody can write to.

        Raises `ArgumentError` where the library has no such array.
        """
        try:
            return self.from_dlpack(result)
        except Exception as error:  # a dtype that it has not, strides below 0, or memory that is read-only
            if not result.flags.writeable:
                return self.from_dlpack(result.copy())
            kind = f"{self.cls.__module__}.{self.cls.__qualname__}"
            raise ArgumentError(
                f"the program returns an array of {result.dtype} with strides {result.strides}, of which "
                f"{kind} cannot be made",
                notes=(f"its library says: {error}",),
                help="return a copy, or let results be NumPy's: @dcpy.program(convert=True)",
            ) from error


def exchanges_memory(kind: type) -> bool:
    """Return whether arrays of a class may be of a kind: asked of each value of a call that nothing has served yet."""
    return hasattr(kind, "__dlpack__") and not issubclass(kind, np.ndarray)


def kind_of(value: Any) -> ArrayKind | None:
    """The kind of an array that is in the memory of the CPU; None for others."""
    kind = type(value)
    if not exchanges_memory(kind) or not hasattr(kind, "__dlpack_device__"):
        return None
    found = foreign_array(value)
    if found is None or found.device or found.is_partitioned:
        return None
    space = getattr(value, "__array_namespace__", None)
    library = sys.modules.get(kind.__module__.partition(".")[0]) if space is None else space()
    function = getattr(library, "from_dlpack", None)
    return None if function is None else ArrayKind(kind, function)

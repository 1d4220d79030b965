"""Types of LIR: what a value is, and into which memory a pointer points. How they are spelled is the emitter's.

A number has its dtype. `Basic` has what C needs beside those, and no element of an array is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.types import DType


class Basic(Enum):
    """Types without a dtype."""

    VOID = "void"
    BYTE = "byte"
    SIZE = "size"  #: of memory, in bytes
    INT = "int"  #: the type to which C's operators promote narrow integers
    WIDE = "wide"  #: in which sizes are computed that 64 bits may not hold; takes indices
    PACE = "pace"  #: how often a loop asks whether it is interrupted


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of elements in one memory; with `const`, it is read-only."""

    element: LirType
    const: bool = False
    space: Space = Space.HOST


@dataclass(frozen=True, slots=True)
class Reference:
    """Another name for a variable of the caller."""

    element: LirType


@dataclass(frozen=True, slots=True)
class Lanes:
    """A token of `count` elements side by side, which hardware moves at once."""

    element: DType
    count: int

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.element.itemsize * self.count


@dataclass(frozen=True, slots=True)
class Fifo:
    """A queue of elements, or of tokens, between two processes; in hardware it has a `depth`, a number of places."""

    element: DType | Lanes
    depth: int = 0


@dataclass(frozen=True, slots=True)
class VectorType:
    """16 bytes of elements, which a device loads and stores at once."""

    element: DType


LirType = DType | Basic | Pointer | Reference | Fifo | Lanes | VectorType
TYPES = (DType, Basic, Pointer, Reference, Fifo, Lanes, VectorType)

INDEX = types.int64  #: of indices and sizes
SMALL_INDEX = types.int32  #: of those in kernels for which 32 bits suffice
STATUS = types.int32  #: of what a function returns: the number of the check that failed
TRUTH = types.bool_

"""Element types: NumPy's booleans, integers, floats and complex numbers.

A `DType` knows its short name in the textual IR (``f64``) and its NumPy name (``float64``). Promotion is never decided
here: the frontend asks NumPy itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np


@cache
def _dtype_named(name: str) -> np.dtype:
    return np.dtype(name)


@dataclass(frozen=True, slots=True)
class DType:
    """A scalar element type; compare and hash by value."""

    name: str
    numpy_name: str

    @property
    def numpy(self) -> np.dtype:
        """The NumPy dtype, native byte order."""
        return _dtype_named(self.numpy_name)

    @property
    def kind(self) -> str:
        """NumPy's kind letter: ``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` float, ``c`` complex."""
        return self.numpy.kind

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_inexact(self) -> bool:
        return self.kind in "fc"

    @property
    def real(self) -> DType:
        """The dtype of the real and the imaginary part of a complex one; of others, the dtype itself."""
        return _PARTS.get(self, self)

    @property
    def complex(self) -> DType:
        """The dtype of complex numbers with parts of this one; of other numbers, the dtype itself."""
        return next((whole for whole, part in _PARTS.items() if part == self), self)

    def annotation(self, shape: Sequence[object]) -> str:
        """Return the type of an array with this shape as users write it in annotations: ``float64[N, 3]``."""
        return f"{self.numpy_name}[{', '.join(map(str, shape))}]"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"dcpy.{self.numpy_name}"


bool_ = DType("bool", "bool")
int8 = DType("i8", "int8")
int16 = DType("i16", "int16")
int32 = DType("i32", "int32")
int64 = DType("i64", "int64")
uint8 = DType("u8", "uint8")
uint16 = DType("u16", "uint16")
uint32 = DType("u32", "uint32")
uint64 = DType("u64", "uint64")
float16 = DType("f16", "float16")
float32 = DType("f32", "float32")
float64 = DType("f64", "float64")
complex64 = DType("c64", "complex64")
complex128 = DType("c128", "complex128")

_PARTS: dict[DType, DType] = {complex64: float32, complex128: float64}

DTYPES: tuple[DType, ...] = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, float32, float64, complex64, complex128,
)  # fmt: skip
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in DTYPES}
_BY_NUMPY: dict[str, DType] = {dtype.numpy_name: dtype for dtype in DTYPES}


def from_numpy(dtype: object) -> DType:
    """The `DType` of anything that ``np.dtype`` takes; `KeyError` where dcpy has none (objects, strings, structs).

    Byte order is ignored: dcpy computes in the machine's own.
    """
    return _BY_NUMPY[np.dtype(dtype).newbyteorder("=").name]  # type: ignore[call-overload]

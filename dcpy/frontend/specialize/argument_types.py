"""Argument types: what a program is compiled for, and which types share symbols.

Frozen values: equal types, equal program. ``N`` in two shapes is one size; a size of 1 is the constant 1, so that
broadcasting is decided at compile time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcpy.base.assumptions import Assumption
from dcpy.base.bit_generators import WORDS
from dcpy.ir import data, types
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.ir.types import DType

Assumed = tuple[tuple[str, Assumption], ...]  # of symbols, by name


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array: `layout` is ``C``, ``F`` or ``axes`` (packed), or ``strided`` (one symbol per dimension, in elements).

    The `axes` of a packed one are all of them, from the slowest to the fastest.
    Of a strided array, `axes` are those with several elements, from the longest stride to the shortest,
    without those of stride 0; None: not known. Pairs in `equal_stride_axes` are axes of one stride, a later and an
    earlier one. `alias`: arguments of one non-empty group may overlap in memory. `not_one` lists symbols of `dims` that
    were inferred from a size other than 1, and must differ from 1 in every call; `maybe_one` those that may be 1, and
    then broadcast: a program passes slices to its functions. Where an annotation asks for an expression such as
    ``2*N``, `annotated_sizes` has it, and the size a symbol of its own. `assumed` has what the annotation assumes of
    symbols.
    """

    dtype: DType
    dims: tuple[Expr, ...]
    layout: str = "C"
    alias: str = ""
    not_one: tuple[str, ...] = ()
    maybe_one: tuple[str, ...] = ()
    annotated_sizes: tuple[Expr | None, ...] = ()
    assumed: Assumed = ()
    axes: tuple[int, ...] | None = None
    equal_stride_axes: tuple[tuple[int, int], ...] = ()

    def descriptor(self, name: str) -> data.Array:
        """The container of an argument called `name`."""
        if self.layout == "strided":
            strides = tuple(self._stride(name, axis) for axis in range(len(self.dims)))
            return data.Array(self.dtype, self.dims, strides, alias=self.alias)
        order = self.layout if self.axes is None else self.axes
        return data.Array.packed(self.dtype, self.dims, order=order, alias=self.alias)

    def _stride(self, name: str, axis: int) -> Expr:
        if self.axes is not None and axis not in self.axes and self.dims[axis] is not ONE:
            return ZERO
        return sym(stride_symbol(name, dict(self.equal_stride_axes).get(axis, axis)))

    def __str__(self) -> str:
        axes = "" if self.axes is None else ", ".join(map(str, self.axes))
        by_axes = f"strided by axes {axes}" if self.layout == "strided" else f"axes {axes}"
        layout = "" if self.layout == "C" else f" ({by_axes if self.axes is not None else self.layout})"
        return f"{self.dtype.annotation(self.dims)}{layout}"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar: `weak` is a number of Python's own (bool, int, float, complex), else a NumPy scalar.

    `converts`: declared by an annotation, so that Python numbers are taken and become the dtype.
    """

    dtype: DType
    weak: bool = False
    converts: bool = False

    def __str__(self) -> str:
        return f"{'Python ' if self.weak else ''}{self.dtype.numpy_name}"


@dataclass(frozen=True, slots=True)
class GeneratorType:
    """An ``np.random.Generator``, passed as NumPy's struct bitgen: an array of words. `alias` as of arrays."""

    alias: str = ""

    def descriptor(self, name: str) -> data.Array:
        """The container of an argument called `name`."""
        return data.Array.packed(types.uint64, (WORDS,), alias=self.alias)

    def __str__(self) -> str:
        return "Generator"


@dataclass(frozen=True, slots=True, eq=False)
class ConstantType:
    """A value that is part of the program: None, a bool, a string, a function, a tuple of such."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantType) or type(other.value) is not type(self.value):
            return False
        plain = isinstance(self.value, bool | int | float | complex | str | tuple | type(None))
        return repr(other.value) == repr(self.value) if plain else other.value is self.value

    def __hash__(self) -> int:
        return hash(type(self.value))

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A field that no program can read, and that no call looks at: `reason` says why, `help` what to do."""

    reason: str
    help: str = ""

    def __str__(self) -> str:
        return "opaque"


ArgType = ArrayType | ScalarType | GeneratorType | ConstantType | OpaqueType


def stride_symbol(name: str, axis: int) -> str:
    """The symbol of a stride of a strided argument."""
    return f"{name}_s{axis}"

"""Call operands of vendors' libraries: matrices in place or packed, and factors by value.

A matrix that lies by rows is, to a library that stores by columns, its own transpose: so ``c = a b`` is asked for as
``cᵀ = bᵀ aᵀ``, and nothing is moved (`VendorCall.matrix`, `operation`).
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.name_resolution import desc_at
from dcpy.ir.data import Array, View, packed_strides
from dcpy.ir.expressions.scalar import Const, Index, Ref, ScalarExpr, cast, op
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of
from dcpy.ir.tree import owners_around
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.blas.expand.cblas import LETTERS, CblasCall, CblasVector, Matrix

ON_DEVICE = ("gpu",)
AS_IT_IS, TRANSPOSED = 0, 1


class VendorCall(CblasCall):
    """A call whose operands are places of the device. Sizes have 64 bits; a negative one is that of an empty slice."""

    def __init__(self, f: Fragment, dtype: DType) -> None:
        refuse_in_maps(f)
        if dtype not in LETTERS:
            f.decline(f"takes {', '.join(map(str, LETTERS))}, not {dtype}")
        super().__init__(f, dtype)

    def is_length(self, size: Expr) -> None:
        """See `size`."""

    def fits(self, value: Expr) -> None:
        """All numbers do."""

    def matrix(self, operand: Operand, *, written: bool = False, summed_up: bool = False) -> Matrix:
        """An operand where it lies, if its place on the device will have the strides that are known here."""
        if lies_the_same(self.f, operand):
            return super().matrix(operand, written=written, summed_up=summed_up)
        packed = self._packed(operand, written=written, summed_up=summed_up)
        rows, columns = operand.shape
        return Matrix(packed, rows, columns, False, max_of(columns, 1))

    def stack(self, operand: Operand, *, written: bool = False, summed_up: bool = False) -> tuple[Matrix, Expr]:
        """The first of several matrices with the memlet of all, and how far apart they are: 0 if it is one for all."""
        if len(operand.shape) == 2:
            return self.matrix(operand, written=written, summed_up=summed_up), ZERO
        (_, rows, columns), (far, down, across) = operand.shape, operand.strides
        by_rows = across is ONE and self._rows_fit(down, columns, rows)
        if lies_the_same(self.f, operand) and (by_rows or (down is ONE and self._rows_fit(across, rows, columns))):
            first = Subset((ZERO, Range(ZERO, rows), Range(ZERO, columns)))
            memlet = replace(operand.memlet, subset=operand.memlet.subset.compose(first))
            found = super().matrix(Operand(memlet, operand.desc), written=written, summed_up=summed_up)
            return replace(found, memlet=operand.memlet), far
        packed = self._packed(operand, written=written, summed_up=summed_up)
        return Matrix(packed, rows, columns, False, max_of(columns, 1)), rows * columns

    def vector(self, operand: Operand, *, written: bool = False, summed_up: bool = False) -> CblasVector:
        """The vector as `matrix` has it."""
        if lies_the_same(self.f, operand):
            return super().vector(operand, written=written, summed_up=summed_up)
        (size,) = operand.shape
        packed = self._packed(operand, written=written, summed_up=summed_up)
        return CblasVector(packed, size, ONE)

    @property
    def type(self) -> ScalarExpr:
        """The letter of the dtype."""
        return number(ord(self.letter))

    def size(self, value: Expr) -> ScalarExpr:
        """A size; 0 for a negative one."""
        return Index(value if self.f.ranges.proves_nonneg(value) else max_of(value, 0))

    def parts(self, name: str) -> tuple[ScalarExpr, ScalarExpr]:
        """The real and the imaginary part of ``number * scalar input``, as float64."""
        value = complex(getattr(self.f.node, name, 1))
        if name not in self.f.node.inputs:
            return real(value.real), real(value.imag)
        scalar = self.f.input(name)
        self.inputs[name] = scalar.memlet
        given = cast(Ref(name, scalar.dtype), self.dtype)
        product = given if value == 1 else op("mul", Const(value if self.is_complex else value.real, self.dtype), given)
        if not self.is_complex:
            return cast(product, types.float64), real(0)
        return cast(op("real", product), types.float64), cast(op("imag", product), types.float64)


def refuse_in_maps(f: Fragment) -> None:
    """Threads cannot call a library."""
    if any(isinstance(owner, Map) for owner in owners_around(f.node)):
        f.decline("is inside of a map, whose threads cannot call a library")


def lies_the_same(f: Fragment, operand: Operand) -> bool:
    """Return whether a container fills its memory, by rows or by columns: then its twin on a device has the same
    strides.
    """
    desc = operand.desc
    while isinstance(desc, View):
        desc = desc_at(f.node, desc.of)
    return isinstance(desc, Array) and desc.strides in (packed_strides(desc.shape), packed_strides(desc.shape, "F"))


def operation(matrix: Matrix) -> ScalarExpr:
    """Return the transposition of a matrix as it lies in memory, seen by columns."""
    return number(TRANSPOSED if matrix.is_transposed else AS_IT_IS)


def number(value: int) -> ScalarExpr:
    """An integer argument."""
    return Const(int(value), types.int64)


def real(value: float) -> ScalarExpr:
    """A part of a factor."""
    return Const(float(value), types.float64)


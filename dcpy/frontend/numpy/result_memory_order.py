"""Memory order of what functions return, where it is not that of the arrays of which their implementations make it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.implements import operation, results_lie
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder

METHODS = np.ndarray


@results_lie(
    np.argsort, np.argpartition, np.repeat, np.take, np.compress, np.choose, np.select, np.interp, np.percentile,
    np.quantile,
    np.searchsorted, np.digitize, np.isin, np.kron, np.outer, np.inner, np.dot, np.matmul, np.tensordot, np.vdot,
    np.cov, np.corrcoef, np.meshgrid, np.indices, np.tile,
    np.linalg.inv, np.linalg.solve, np.linalg.cholesky, np.linalg.qr, np.linalg.pinv, np.linalg.matrix_power,
    METHODS.argsort, METHODS.argpartition, METHODS.repeat, METHODS.take, METHODS.compress, METHODS.choose, METHODS.dot,
)  # fmt: skip
def in_c_order(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """C order, for operands of any order."""
    return tuple(range(found.rank))


@results_lie(
    np.sort, np.partition, np.nan_to_num, np.angle, np.i0, np.sort_complex, np.piecewise, np.unwrap,
    np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft,
)  # fmt: skip
def as_first(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """The order of a copy of the first operand."""
    return memory_order.order_of_copy(b, operands[0] if operands else found)


@results_lie(np.polyval)
def as_last(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """The order of a copy of the last operand."""
    return memory_order.order_of_copy(b, operands[-1] if operands else found)


@results_lie(np.pad, np.delete, np.insert, np.imag, np.packbits, np.unpackbits)
def as_first_if_packed(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """Fortran order where the first operand lies so, else C order."""
    return memory_order.order_as_packed(b, operands[0] if operands else found)


@results_lie(np.nanpercentile, np.nanquantile)
def behind_rest(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """C order, but that the parts of several quantiles, which are the first axis, lie beside each other."""
    several = bool(operands) and found.rank >= operands[0].rank
    return (*range(1, found.rank), 0) if several else tuple(range(found.rank))


@operation
def lying_as_a_copy(b: OpBuilder, found: Value, copied: Value) -> Value:
    """A new array, which lies in NumPy as a copy of another one, however a body written in Python has made it."""
    if isinstance(found, ArrayValue) and isinstance(copied, ArrayValue):
        memory_order.lie_as_made(b, found, memory_order.order_of_copy(b, copied), [copied])
    return found


@operation
def lying_in_c_order(b: OpBuilder, found: Value) -> Value:
    """A new array, which lies in C order in NumPy, however a body written in Python has made it."""
    made = b.array(found)
    memory_order.lie_as_made(b, made, tuple(range(made.rank)), ())
    return made

"""Contractions: what reductions, dot, matrix-vector and matrix products have in common, as a value.

A `Contraction` names its dimensions, which of them are summed over, and the dimension along which neighbours lie in
memory (`inner`). Two modules write it: `maps` as a nest that any target can fuse and schedule, `cpu` as the blocks,
tiles and partial sums that processors like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dcpy.ir import types
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr
from dcpy.ir.types import DType
from dcpy.libraries.fragment import Element, Fragment

WIDER = {types.float16: types.float64, types.float32: types.float64, types.complex64: types.complex128}

Indices = Sequence[Expr]


@dataclass(frozen=True, slots=True)
class Contraction:
    """``store(kept indices) = op over the summed dimensions of element(all indices)``.

    `element(f, target, indices, wcr)` writes one element's contribution, `store(f, kept, value)` takes a result.
    `dtype` is the accumulator's, `identity` where it starts.
    """

    sizes: tuple[Expr, ...]
    summed: tuple[int, ...]
    inner: int
    op: str
    dtype: DType
    identity: bool | int | float | complex
    element: Callable[[Fragment, Element, Indices, str], object]
    store: Callable[[Fragment, Indices, Element], object]
    short: DType | None = None  # what a few columns may be summed in, where `dtype` is wider

    @property
    def kept(self) -> tuple[int, ...]:
        """The dimensions of the result."""
        return tuple(dim for dim in range(len(self.sizes)) if dim not in self.summed)

    @property
    def is_chunked(self) -> bool:
        """Return whether the order of combination matters for accuracy, so that partial sums pay."""
        return self.op in ("add", "mul") and self.dtype.is_inexact

    def whole(self, dim: int) -> Range:
        """All of a dimension."""
        return Range(ZERO, self.sizes[dim])

    def in_order(self, position: Mapping[int, Expr]) -> list[Expr]:
        """One index per dimension, from where each dimension stands."""
        return [position[dim] for dim in range(len(self.sizes))]


def accumulator_dtype(op: str, dtype: DType) -> DType:
    """The dtype to accumulate in: the result's own, but sums of short floats are taken in double precision.

    They are as close to exact as NumPy's pairwise sums, or closer, along any axis and however long it is.
    """
    return WIDER.get(dtype, dtype) if op == "add" else dtype


def short_dtype(dtype: DType, accumulator: DType) -> DType | None:
    """Return a dtype that sums a few elements of `dtype`; None where it is the accumulator's.

    float16 has no arithmetic of its own.
    """
    short = types.float32 if dtype == types.float16 else dtype
    return short if short != accumulator else None


def innermost(sizes: Sequence[Expr], *strides: Sequence[Expr]) -> int:
    """The dimension to loop over innermost: one where most operands have stride 1, else the last.

    `strides` has one sequence per operand, with stride 0 where the operand does not have that dimension.
    """
    scores = [sum(1 for operand in strides if operand[dim] is ONE) for dim in range(len(sizes))]
    best = max(scores, default=0)
    return max((dim for dim, score in enumerate(scores) if score == best), default=-1)

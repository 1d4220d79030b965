"""Expansion of ``@``: a product of matrices, of a matrix and a vector, or of two vectors."""

from __future__ import annotations

from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, MatMul


def specialized(node: MatMul) -> Gemm | Gemv | Dot:
    """The BLAS operation that computes a `MatMul`, by the ranks of its operands."""
    a, b, c = node.inputs["a"], node.inputs["b"], node.outputs["c"]
    match len(a.subset.shape), len(b.subset.shape):
        case 1, 1:
            return Dot({"x": a, "y": b}, {"result": c}, span=node.span)
        case 1, _:
            return Gemv({"a": b, "x": a}, {"y": c}, trans_a=True, span=node.span)
        case _, 1:
            return Gemv({"a": a, "x": b}, {"y": c}, span=node.span)
        case _:
            return Gemm({"a": a, "b": b}, {"c": c}, span=node.span)


@expands(MatMul, "specialize")
def matmul_as_blas(node: MatMul, f: Fragment) -> None:
    """Become a `Gemm`, `Gemv` or `Dot`, which is expanded in its turn."""
    f.add(specialized(node))

"""Derivative rules of products: linear in each of their operands."""

from __future__ import annotations

from dcpy.ir.library.adjoints import DerivativeRule
from dcpy.libraries.blas.nodes import BatchedGemm, Gemm, Gemv, Ger

MATMUL = DerivativeRule(lambda node: ("a", "b"))
DOT = DerivativeRule(lambda node: ("x", "y"))


def _factors(node: Gemm | Gemv | BatchedGemm | Ger) -> tuple[str, ...]:
    """The operands of a product without a summand, and without factors that are inputs."""
    names = tuple(node.inputs)
    return names if len(names) == 2 else ()


SCALED = DerivativeRule(_factors)

"""Derivative rules of reductions: a sum is linear, an extremum's position has no derivative."""

from __future__ import annotations

from dcpy.ir.library.adjoints import DerivativeRule
from dcpy.libraries.reduce.nodes import Reduce


def _factors(node: Reduce) -> tuple[str, ...]:
    return ("x",) if node.op == "add" else ()


REDUCE = DerivativeRule(_factors)

"""Derivative rules of scans: running sums are linear."""

from __future__ import annotations

from dcpy.ir.library.adjoints import DerivativeRule
from dcpy.libraries.scan.nodes import Scan


def _factors(node: Scan) -> tuple[str, ...]:
    return ("x",) if node.op == "add" and "initial" not in node.inputs else ()


SCAN = DerivativeRule(_factors)

"""Derivative rules of Fourier transforms, which are linear."""

from __future__ import annotations

from dcpy.ir.library.adjoints import DerivativeRule

TRANSFORM = DerivativeRule(lambda node: ("x",))

"""Derivative rules of masks and index arrays: what is selected is linear in the array, and constant in the indices."""

from __future__ import annotations

from dcpy.ir.library.adjoints import DerivativeRule

SELECTION = DerivativeRule(lambda node: ("x",))

"""Figures with units, as explanations and errors print them."""

from __future__ import annotations

UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def figure_text(value: float, unit: str) -> str:
    """``16.8 MB``"""
    for factor, prefix in UNITS:
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"

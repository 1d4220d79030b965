"""Explanation text: lines of Python, and figures with units."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.ir.tree import Element, subtree

UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def lines_of(*elements: Element) -> dict[str, set[int]]:
    """The lines of Python that elements, and all inside of them, compute; by file."""
    found: dict[str, set[int]] = {}
    for each in elements:
        for element in subtree(each):
            if element.span is not None:
                found.setdefault(element.span.file, set()).add(element.span.line)
    return found


def location_text(lines: Mapping[str, set[int]]) -> str:
    """``softmax.py:7, 8``"""
    files = (f"{file.rpartition('/')[2]}:{', '.join(map(str, sorted(found)))}" for file, found in lines.items())
    return "; ".join(files) or "(no line)"


def figure_text(value: float, unit: str) -> str:
    """``16.8 MB``"""
    for factor, prefix in UNITS:
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"

"""Explanation text: lines of Python."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.ir.tree import Element, subtree


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

"""A figure: what was measured, beside the bar that it is to reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table of ``python -m benchmarks``."""

    what: str
    bar: str
    measured: str
    reached: bool

"""Findings of ``dcpy doctor``: what was looked for on this machine, and what to install where it is missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. `needed`: nothing compiles without it."""

    what: str
    found: bool
    detail: str
    needed: bool = False

"""Requests of speculation: facts about run-time values under which better code can be written."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.ir.symbolic import Expr, Ranges

MOST = 12  # conditions that one branch tests


@dataclass
class FactRequests:
    """Facts over symbols that have a value where the statement starts, each ``fact >= 0``."""

    known: frozenset[str]
    requested: dict[Expr, None] = field(default_factory=dict)

    def take(self, fact: Expr, ranges: Ranges) -> bool:
        """Wishes that ``fact >= 0``, unless that is known to be wrong."""
        if not fact.is_linear or not self.known.issuperset(fact.symbols) or ranges.proves_lt(fact, 0):
            return False
        if len(self.requested) >= MOST:
            return False
        self.requested[fact] = None
        return True

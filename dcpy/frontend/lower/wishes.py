"""Facts that lowering would like to know of run-time values: a version of the code is made for where they hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.ir.symbolic import Expr, Ranges

MOST = 12  # conditions that one branch tests


@dataclass
class Wishes:
    """Facts over symbols that have a value where the statement starts, each ``fact >= 0``."""

    known: frozenset[str]
    made: dict[Expr, None] = field(default_factory=dict)

    def take(self, fact: Expr, ranges: Ranges) -> bool:
        """Wishes that ``fact >= 0``, unless that is known to be wrong."""
        if not fact.is_linear or not self.known.issuperset(fact.symbols) or ranges.proves_lt(fact, 0):
            return False
        if len(self.made) >= MOST:
            return False
        self.made[fact] = None
        return True

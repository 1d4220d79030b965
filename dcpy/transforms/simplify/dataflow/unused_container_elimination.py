"""UnusedContainerElimination: containers that nothing touches go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, whole


@dataclass(frozen=True)
class UnusedContainerElimination(Transformation[tuple[str, ...]]):
    """Take out the declarations of unused transients, views and constants.

    before   data t: f64[N] transient        after   state { B = f(A) }
             state { B = f(A) }

    Other passes leave them behind when they take out the last user; they need not be allocated.
    """

    name: ClassVar[str] = "unused-container-elimination"
    pattern = whole()

    def plan(self, m: Match) -> tuple[str, ...] | Refusal:
        """The unused containers; what only they show is unused, too."""
        unused = tuple(name for name in m.uses.containers() if m.uses.is_unused(name))
        return unused or Refusal("every container is an argument, a result, or used")

    def apply(self, m: Match, plan: tuple[str, ...], rw: Rewriter) -> None:
        rw.undeclare_unused(plan)

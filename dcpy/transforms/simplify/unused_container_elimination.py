"""UnusedContainerElimination: containers that nothing touches go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.transforms.api import YES, Aspect, Match, Rewriter, Transformation, Verdict, no, whole


@dataclass(frozen=True)
class UnusedContainerElimination(Transformation):
    """Take out the declarations of transients, views and constants that nobody reads, writes or views.

    before   data t: f64[N] transient        after   state { B = f(A) }
             state { B = f(A) }

    Other passes leave them behind when they take out the last user; nobody should allocate them.
    """

    name: ClassVar[str] = "unused-container-elimination"
    looks_at: ClassVar[Aspect] = Aspect.CONTROL | Aspect.DATAFLOW | Aspect.VALUES
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    pattern = whole()

    def can_be_applied(self, m: Match) -> Verdict:
        unused = any(m.uses.is_unused(name) for name in m.uses.containers())
        return YES if unused else no("every container is an argument, a result, or used")

    def apply(self, m: Match, rw: Rewriter) -> None:
        rw.undeclare_unused(rw.uses.containers())

"""TrailingContinueElimination: a `continue` behind which the iteration has nothing left to do is no jump."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.region import Block, Branch, Continue, Loop, While
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class TrailingContinueElimination(Transformation[Legal]):
    """Take out a `continue` that is the last thing its iteration does.

    before   loop i = 0:N { if A[i] < 0 { continue } else { B[i] = f(A[i]) } }
    after    loop i = 0:N { if A[i] < 0 { } else { B[i] = f(A[i]) } }

    Then nothing leaves the iteration early any more, which loops need that become maps.
    """

    name: ClassVar[str] = "trailing-continue-elimination"
    jump = capture(Continue)
    pattern = one(jump)

    def plan(self, m: Match) -> Legal | Refusal:
        """Refuse jumps behind which there is something, in their region or behind a branch that they are in."""
        block: Block = m[self.jump]
        for owner in owners_around(block):
            region = block.region
            if region is None or region.blocks[-1] is not block:
                return Refusal("there is something behind it that it jumps over")
            if isinstance(owner, Loop | While):
                return LEGAL
            if not isinstance(owner, Branch):
                break
            block = owner
        return Refusal("its loop is not around it")

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.erase(m[self.jump])

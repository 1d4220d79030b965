"""DeadBranchElimination: conditions with a known answer go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expr import ScalarExpr
from dcpy.ir.region import Branch, Region
from dcpy.transforms.api import YES, Aspect, Match, Rewriter, Transformation, Verdict, capture, no, one
from dcpy.transforms.simplify.folding import decide


@dataclass(frozen=True)
class DeadBranchElimination(Transformation):
    """Keep of a branch only the cases that may be taken.

    before   if 1 < 2 { B = f(A) }        after   state { B = f(A) }
             else     { B = g(A) }

    A case goes when its condition never holds; one whose condition always holds becomes the `else`, and the cases
    after it go. A branch with nothing but an `else` becomes the blocks of it. What is known of sizes, parameters and
    assigned symbols counts: ``N >= 0`` holds for a size.
    """

    name: ClassVar[str] = "dead-branch-elimination"
    looks_at: ClassVar[Aspect] = Aspect.CONTROL | Aspect.VALUES
    changes: ClassVar[Aspect] = Aspect.ALL
    branch = capture(Branch)
    pattern = one(branch)

    def can_be_applied(self, m: Match) -> Verdict:
        branch = m[self.branch]
        if all(answer is None for answer in answers(branch, m)) and branch.cases:
            return no("no condition has an answer that is known before the run")
        return YES

    def apply(self, m: Match, rw: Rewriter) -> None:
        branch = m[self.branch]
        kept, otherwise = _reachable(branch, answers(branch, m))
        alive = [*(region for _, region in kept), otherwise]
        for region in branch.regions():
            if region not in alive:
                rw.clear_region(region)
        rw.update(branch, cases=kept, otherwise=otherwise)
        if not kept and otherwise is not None:
            rw.inline_region(otherwise, branch)
        elif not kept:
            rw.erase(branch)


def _reachable(branch: Branch, known: list[bool | None]) -> tuple[list[tuple[ScalarExpr, Region]], Region | None]:
    """The cases that may be taken, and what is left of the `else`."""
    kept: list[tuple[ScalarExpr, Region]] = []
    for case, answer in zip(branch.cases, known, strict=True):
        if answer:
            return kept, case[1]
        if answer is None:
            kept.append(case)
    return kept, branch.otherwise


def answers(branch: Branch, m: Match) -> list[bool | None]:
    """For each case, whether its condition always or never holds, where that is known."""
    ranges = m.uses.ranges_at(branch)
    return [decide(condition, ranges) for condition, _ in branch.cases]

"""DeadBranchElimination: conditions with a known answer go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.region import Branch, Region
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.constant_folding import decide


@dataclass(frozen=True)
class DeadBranchElimination(Transformation["Reachable"]):
    """Keep of a branch only the cases that may be taken.

    before   if 1 < 2 { B = f(A) }        after   state { B = f(A) }
             else     { B = g(A) }

    A case goes when its condition never holds; one whose condition always holds becomes the `else`, and the cases
    after it go. A branch with nothing but an `else` becomes the blocks of it. What is known of sizes, parameters and
    assigned symbols counts: ``N >= 0`` holds for a size.
    """

    name: ClassVar[str] = "dead-branch-elimination"
    branch = capture(Branch)
    pattern = one(branch)

    def plan(self, m: Match) -> Reachable | Refusal:
        branch = m[self.branch]
        known = answers(branch, m)
        if all(answer is None for answer in known) and branch.cases:
            return Refusal("no condition has an answer that is known before the run")
        return _reachable(branch, known)

    def apply(self, m: Match, plan: Reachable, rw: Rewriter) -> None:
        branch, otherwise = m[self.branch], plan.otherwise
        alive = [*(region for _, region in plan.cases), otherwise]
        for region in branch.regions():
            if region not in alive:
                rw.clear_region(region)
        rw.update(branch, cases=list(plan.cases), otherwise=otherwise)
        if not plan.cases and otherwise is not None:
            rw.inline_region(otherwise, branch)
        elif not plan.cases:
            rw.erase(branch)


@dataclass(frozen=True, slots=True)
class Reachable:
    """The cases that may be taken, and what is left of the `else`."""

    cases: tuple[tuple[ScalarExpr, Region], ...]
    otherwise: Region | None


def _reachable(branch: Branch, known: list[bool | None]) -> Reachable:
    kept: list[tuple[ScalarExpr, Region]] = []
    for case, answer in zip(branch.cases, known, strict=True):
        if answer:
            return Reachable(tuple(kept), case[1])
        if answer is None:
            kept.append(case)
    return Reachable(tuple(kept), branch.otherwise)


def answers(branch: Branch, m: Match) -> list[bool | None]:
    """Answers for each case, whether its condition always or never holds, where that is known."""
    ranges = m.uses.ranges_at(branch)
    return [decide(condition, ranges) for condition, _ in branch.cases]

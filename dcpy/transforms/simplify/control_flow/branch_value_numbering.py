"""BranchValueNumbering: a branch whose condition and results are known from an earlier branch is removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.value_numbering import value_number
from dcpy.ir.data import Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.region import Branch, Check, State
from dcpy.ir.tree import dominates, is_inside, jumps, region_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.common_subexpression_elimination import why_not_the_same


@dataclass(frozen=True)
class BranchValueNumbering(Transformation["RepeatedBranch"]):
    """Value numbering of conditionals: a branch that decides and computes what an earlier one did goes away.

    before   if a == b { x = f(a) } else { x = g(a) }          after   if a == b { x = f(a) } else { x = g(a) }
             if a == b { y = f(a) } else { y = g(a) }                  B = x + x
             B = x + y

    Applies to branches of one region that consist of states and checks, that fill private scalars which no other
    statement writes, where nothing that they read changes in between. A check is not made again either: the second one
    could only fail where the first one has.
    (Alpern, Wegman and Zadeck, Detecting Equality of Variables in Programs, 1988.)
    """

    name: ClassVar[str] = "branch-value-numbering"
    optional: ClassVar[bool] = True
    second = capture(Branch)
    pattern = one(second)

    def plan(self, m: Match) -> RepeatedBranch | Refusal:
        """Return scalars that hold the same values. Refuses branches that nothing equal stands before."""
        second, uses = m[self.second], m.uses
        region = region_of(second)
        earlier = [block for block in region.blocks[: region.index(second)] if isinstance(block, Branch)]
        if not earlier:
            return Refusal("no branch stands before it")
        results = _results(second, uses)
        if isinstance(results, Refusal):
            return results
        if any(not dominates(second, reader) for name in results for reader in uses.readers(name)):
            return Refusal("its result may be needed where it has not been computed yet")
        number = value_number(second, results)
        for first in reversed(earlier):
            theirs = _results(first, uses)
            if isinstance(theirs, Refusal) or number != value_number(first, theirs):
                continue
            pairs = list(zip(results, theirs, strict=True))
            if any(uses.desc(a) != uses.desc(b) or uses.home(a) is not uses.home(b) for a, b in pairs):
                continue  # what no case fills is what it was, in each run of the region that declares it
            between = region.blocks[region.index(first) : region.index(second)]
            if any(uses.home(a) is not region for a, _ in pairs) and any(any(jumps(block)) for block in between):
                return Refusal("an iteration may leave before it, with one of its scalars filled, and not the other")
            changed = why_not_the_same(first, second, (*results, *theirs), region, uses)
            return changed or RepeatedBranch(dict(pairs))
        return Refusal("no branch before it computes the same")

    def apply(self, m: Match, plan: RepeatedBranch, rw: Rewriter) -> None:
        rw.erase(m[self.second])
        for name, kept in plan.same.items():
            rw.rename_container(name, kept)
        rw.undeclare_unused(plan.same)


@dataclass(frozen=True, slots=True)
class RepeatedBranch:
    """The scalars that the second branch fills, and those of the first one that hold the same."""

    same: Mapping[str, str]


def _results(branch: Branch, uses: Uses) -> tuple[str, ...] | Refusal:
    """The scalars that a branch fills, and that no other statement writes; or why it cannot be left out."""
    blocks = (block for region in branch.regions() for block in region.walk_blocks())
    if effects_of(branch) & ~Effect.MAY_RAISE or not all(isinstance(block, State | Check | Branch) for block in blocks):
        return Refusal("it does more than to check and to compute")
    reads, writes = names_in(branch, uses)
    for name in writes:
        if not isinstance(uses.desc(name), Scalar) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
            return Refusal(f"{name!r} is no scalar of its own")
        if name in reads or any(not is_inside(writer, branch) for writer in uses.writers(name)):
            return Refusal(f"{name!r} holds values from elsewhere")
    return tuple(writes)

"""RangeCheckElimination: checks of computed integers that cannot fail go away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.path_values import holds_on_all_paths
from dcpy.ir.expressions.scalar import Const, Index, Op, ScalarExpr, WrapIndex, cast, loads_of, op
from dcpy.ir.region import Check, SymbolAssign
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class RangeCheckElimination(Transformation[ScalarExpr | None]):
    """Range-check elimination: an index that lies inside on each path to it is not checked, nor a sum that fits.

    before   tasklet (a <- j[i]) -> (o -> k) { o = min(max(a, 0), N - 1) }     after   tasklet ...
             let p = wrap(k[], N)                                                      let p = k[]

    Applies to what reads containers, where the values of scalars, forward substituted along each path
    (`ir.analysis.dataflow.path_values`), with what branches and checks have tested on the way, prove that the index is
    at least 0 and below the size, or that the condition of a check holds. What counts from the end if it is negative is
    not asked where it never is. (Gupta, Optimizing array bound checks using
    flow analysis, 1993; Blume and Eigenmann, Symbolic range propagation, 1995.)
    """

    name: ClassVar[str] = "range-check-elimination"
    block: ClassVar[Capture[Check | SymbolAssign]] = capture(Check, SymbolAssign)
    pattern = one(block)

    def plan(self, m: Match) -> ScalarExpr | Refusal | None:
        """The value that is assigned without the check; None where the block only checks."""
        block = m[self.block]
        value = block.value if isinstance(block, SymbolAssign) else None
        match block:
            case Check(condition=condition):
                pass
            case SymbolAssign(value=WrapIndex(arg=arg, size=size)):
                value = index = cast(arg, types.int64)
                condition = op("and", op("ge", index, Const(0, types.int64)), op("lt", index, Index(size)))
            case SymbolAssign(value=Op(name="select", args=(negative, _, value))):
                condition = op("not", negative)
            case _:
                return Refusal("it checks nothing")
        if not loads_of(condition):
            return Refusal("it checks nothing that is read from containers")
        if not holds_on_all_paths(condition, block, m.uses):
            return Refusal("the check may fail, as far as is known")
        return value

    def apply(self, m: Match, plan: ScalarExpr | None, rw: Rewriter) -> None:
        block = m[self.block]
        if plan is None:
            rw.erase(block)
        else:
            rw.update(block, value=plan)

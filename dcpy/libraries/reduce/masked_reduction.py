"""MaskedReduction: ``a[m].sum()`` is taken over all of ``a``, with the identity for what the mask does not select."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.data import Array
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.libraries.indexing.passes.packed_values import SelectedValues, selected
from dcpy.libraries.indexing.passes.predication import Predicated, take_out
from dcpy.libraries.reduce.nodes import Reduce
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MaskedReduction(Transformation[SelectedValues]):
    """Reduce over all elements, with the operation's identity for those that a mask does not select.

    before   compress (mask <- m, x0 <- a) -> (out0 -> t)      after   map i = 0:N { u[i] = select(m[i], a[i], 0) }
             reduce (x <- t[0:n]) -> (out -> s)                        reduce (x <- u[0:N]) -> (out -> s)

    Applies where one mask selects all that the operand is computed from, along a dimension that is reduced, and where
    nothing of that changes meanwhile. Which element is added to which is open for a sum; zeros add no error to it.
    Computing all must cost less than packing some: at most `costs.predicated` units of work per element.
    """

    name: ClassVar[str] = "masked-reduction"
    reduce = capture(Reduce)
    pattern = one(reduce)

    costs: Costs = COSTS

    def plan(self, m: Match) -> SelectedValues | Refusal:
        """Return how the operand follows from what a mask selects along one of the axes."""
        node, uses = m[self.reduce], m.uses
        x = node.inputs["x"]
        desc = uses.desc(x.container)
        if desc.dtype != uses.desc(node.outputs["out"].container).dtype and node.op in ("min", "max"):
            return Refusal("its elements are converted, and there is no identity of both dtypes")
        refusal = Refusal("it reduces nothing")
        for axis in node.axes:
            chosen = selected(x, None, axis, node, uses, self.costs)
            if not isinstance(chosen, Refusal):
                return chosen
            refusal = chosen
        return refusal

    def apply(self, m: Match, plan: SelectedValues, rw: Rewriter) -> Reduce:
        """Return the reduction over all elements."""
        node = m[self.reduce]
        x = node.inputs["x"]
        desc = rw.uses.desc(x.container)
        assert isinstance(desc, Array)
        dtype, shape = desc.dtype, plan.shape(x.subset.shape)
        home = rw.uses.home(x.container)
        whole = rw.declare_fresh(x.container, Array.packed(dtype, shape, transient=True, span=desc.span), home)
        target = Memlet(whole, Subset.whole(shape))
        neutral = Const(identity_value(node.op, dtype), dtype)

        def chosen(mask: ScalarExpr, value: ScalarExpr) -> ScalarExpr:
            return op("select", mask, value, neutral)

        Predicated(plan, shape, node, rw).finish(x.container, target, chosen)
        more = len(plan.mask.subset.shape) - 1
        axes = [axis + more * (axis > plan.axis) for axis in node.axes]
        axes += range(plan.axis + 1, plan.axis + 1 + more)
        rw.update(node, inputs={"x": target}, axes=tuple(sorted(axes)))
        take_out(plan, rw)
        return node

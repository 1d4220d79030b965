"""LoopOverDecompositions: decompositions of stacks of matrices run as one call after the other on devices, where dcpy
has no kernel for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from dcpy.ir.editing.nest_edits import alone_in_state, move_body
from dcpy.ir.nodes import LibraryNode, Map
from dcpy.ir.region import Loop, Region
from dcpy.ir.schedules import Undecided
from dcpy.ir.tree import owners_around
from dcpy.libraries.lapack.expand.cusolver import SMALL
from dcpy.libraries.lapack.nodes import Eigh, LapackNode, Svd
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline


@dataclass(frozen=True)
class LoopOverDecompositions(Transformation[Map]):
    """Run the decompositions of a stack of matrices in turn: threads of a kernel cannot call a library, a loop can.

    before   map i = 0:N { lapack.svd (a <- A[i, 0:M, 0:K]) -> (s -> S[i, 0:K], info -> info); check info == 0 }
    after    loop i = 0:N { lapack.svd (a <- A[i, 0:M, 0:K]) -> (s -> S[i, 0:K], info -> info); check info == 0 }

    Any order is one that a map may have. Applies to singular values, and eigenvalues of Hermitian matrices, for which
    there are no kernels; not where matrices are known to be small, which the host does in less time than a call takes.
    """

    name: ClassVar[str] = "loop-over-decompositions"
    node = capture(LapackNode)
    pattern = one(node)

    def plan(self, m: Match) -> Map | Refusal:
        """The map around it; refuses other nodes, and small matrices."""
        node = m[self.node]
        if not isinstance(node, Svd | Eigh):
            return Refusal("it has kernels, or no call")
        stack = next(owners_around(node), None)
        if not isinstance(stack, Map):
            return Refusal("it is inside of no map")
        if not isinstance(stack.schedule, Undecided) or any(isinstance(owner, Map) for owner in owners_around(stack)):
            return Refusal("the map has a schedule, or is inside of another one")
        others = (other for other in stack.body.walk_nodes() if isinstance(other, Map | LibraryNode))
        if any(not isinstance(other, Svd | Eigh) for other in others):
            return Refusal("there are other maps or nodes beside it, which may be a kernel")
        rows = node.inputs["a"].subset.shape[0].constant
        if rows is not None and rows <= SMALL:
            return Refusal(f"matrices of {rows} rows are work for the host, which has LAPACK")
        return stack

    def apply(self, m: Match, plan: Map, rw: Rewriter) -> Loop:
        """Return the outermost loop."""
        stack = plan
        state = alone_in_state(stack, rw)
        loops = [
            Loop(param, values, Region(), span=stack.span)
            for param, values in zip(stack.params, stack.domain, strict=True)
        ]
        for outer, inner in pairwise(loops):
            outer.body.add(inner)
        rw.insert_before(state, loops[0])
        move_body(stack.body, loops[-1].body, rw)
        rw.forward(stack, loops[0])
        rw.erase(state)
        return loops[0]


FOR_DEVICES = Pipeline("lapack-for-devices", LoopOverDecompositions())

"""MapToForLoop: a map becomes sequential loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from dcpy.ir.editing.nest_edits import alone_in_state, move_body
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Region
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MapToForLoop(Transformation[Legal]):
    """Sequentialization: run the iterations of a map in order, one loop for each parameter. LoopToMap undoes it.

    before   map i = 0:N, j = 0:M { B[i, j] = f(A[i, j]) }
    after    loop i = 0:N { loop j = 0:M { B[i, j] = f(A[i, j]) } }

    Always keeps the meaning: any order is one that a map may have. Loops can be unrolled, peeled, skewed and jammed. A
    schedule is lost. (Ben-Nun et al., Stateful Dataflow Multigraphs, SC 2019.)
    """

    name: ClassVar[str] = "map-to-for-loop"
    map = capture(Map)
    pattern = one(map)

    def plan(self, m: Match) -> Legal | Refusal:
        """The empty plan: nothing is refused."""
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> tuple[Loop, ...]:
        """Return the loops, outermost first."""
        return as_loops(m[self.map], rw)


def as_loops(node: Map, rw: Rewriter) -> tuple[Loop, ...]:
    """Replace a map by loops; return them, the outermost one first."""
    state = alone_in_state(node, rw)
    pairs = list(zip(node.params, node.domain, strict=True))
    loops = tuple(Loop(param, values, Region(), span=node.span) for param, values in pairs)
    for outer, inner in pairwise(loops):
        outer.body.add(inner)
    rw.insert_before(state, loops[0])
    move_body(node.body, loops[-1].body, rw)
    rw.forward(node, loops[0])
    rw.erase(state)
    return loops

"""PartialSums: long sums are sums of sums, so that rounding errors grow slowly, and vectors have several to add up.

What expansions write for any target is one accumulator and one map. NumPy's pairwise sum is closer to exact than that;
so are chunks, which are also what vector instructions are good at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Scalar
from dcpy.ir.editing.nest_edits import expand_map, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine import COSTS, Costs
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import owners_around
from dcpy.transforms.memory.accumulate_transient import Accumulation, accumulate, accumulation
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PartialSums(GraphPass):
    """Divides the sums and products of floats that each iteration of a map takes into chunks.

    before   map i = 0:N { acc = 0; map k = 0:K { acc (add) <- A[i, k] } ... }
    after    map i = 0:N { acc = 0; map c = 0:K:1024 { part = 0
                                                       map k = c:min(c + 1024, K) { part (add) <- A[i, k] }
                                                       acc (add) <- part } ... }
    """

    name: ClassVar[str] = "partial-sums"
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Divides each long one."""
        chunk = self.costs.partial_sum
        for node in list(rw.sdfg.body.walk_nodes()):
            if isinstance(node, Map) and _is_long(node, chunk) and (names := _sums(node, rw.uses)):
                _divide(node, names, chunk, rw)


def _is_long(node: Map, chunk: int) -> bool:
    """Whether it is a plain inner loop that may have more iterations than a chunk has terms."""
    *_, last = node.domain
    if not isinstance(node.schedule, Undecided) or last.step is not ONE:
        return False
    if last.size.constant is not None and last.size.constant <= chunk:
        return False
    if not all(isinstance(block, State) for block in node.body.blocks):
        return False
    is_flat = all(isinstance(inner, Tasklet) for inner in node.body.walk_nodes())
    return is_flat and any(isinstance(owner, Map) for owner in owners_around(node))


def _sums(node: Map, uses: Uses) -> list[str]:
    """The private scalars that a map adds floats to, or multiplies."""
    found: dict[str, None] = {}
    for inner in node.body.walk_nodes():
        for memlet in inner.writes():
            desc = uses.desc(memlet.container)
            if memlet.wcr in ("add", "mul") and isinstance(desc, Scalar) and desc.dtype.is_inexact:
                found[memlet.container] = None
    outside = [name for name in found if all(uses.home(name) is not region for region in node.body.walk_regions())]
    return [name for name in outside if uses.desc(name).transient]


def _divide(node: Map, names: list[str], chunk: int, rw: Rewriter) -> None:
    split_axis(node, node.params[-1], chunk, rw)
    inner = expand_map(node, len(node.params) - 1, rw)
    for name in names:
        found = accumulation(name, inner, rw.uses)
        if isinstance(found, Accumulation):
            accumulate(found, inner, rw)

"""PartialSums: long sums are divided into chunks, so that rounding errors grow slowly and sums vectorize.

The neutral expansion of a sum is one accumulator and one map. NumPy's pairwise sum is more accurate than that; so are
chunks, which also suit vector instructions. If all threads work on one sum, each block of chunks has a slot for its
part, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.nest_edits import expand_map, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, sym
from dcpy.ir.tree import owners_around
from dcpy.transforms.memory.accumulate_transient import Accumulation, accumulate, accumulation
from dcpy.transforms.passes import GraphPass

CHEAP = 8  #: units of work of a term, at most, for which threads take whole blocks: as of a product of two numbers


@dataclass(frozen=True)
class PartialSums(GraphPass):
    """Divide the sums and products of floats in each iteration of a map into chunks.

    before   map i = 0:N { acc = 0; map k = 0:K { acc (add) <- A[i, k] } ... }
    after    map i = 0:N { acc = 0; map c = 0:K:1024 { part = 0
                                                       map k = c:min(c + 1024, K) { part (add) <- A[i, k] }
                                                       acc (add) <- part } ... }

    A sum without a map around it becomes blocks of chunks first, for threads, if its terms are cheap (a few expensive
    terms are a task already):

    before   acc = 0; map k = 0:K { acc (add) <- x[k] }
    after    acc = 0; map b = 0:K:32768 { part = 0; map k = b:min(b + 32768, K) { part (add) <- x[k] }
                                          parts[b//32768] = part }
             map s = 0:ceil(K/32768) { acc (add) <- parts[s] }
    """

    name: ClassVar[str] = "partial-sums"
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Divide each long sum."""
        for node in list(rw.sdfg.body.walk_nodes()):
            if isinstance(node, Map) and _is_long(node, self.costs.partial_sum) and (names := _sums(node, rw.uses)):
                self._divide(node, names, rw)

    def _divide(self, node: Map, names: list[str], rw: Rewriter) -> None:
        is_inner = any(isinstance(owner, Map) for owner in owners_around(node))
        if not is_inner and work_of(node, rw.sdfg, self.costs)[1] > CHEAP:
            return
        if not is_inner:
            node = self._blocks(node, names, rw)
            names = _sums(node, rw.uses)
        split_axis(node, node.params[-1], self.costs.partial_sum, rw)
        _accumulate(expand_map(node, len(node.params) - 1, rw), names, rw)

    def _blocks(self, node: Map, names: list[str], rw: Rewriter) -> Map:
        """Divide a sum into blocks with a slot each, and their sum; return the map inside a block."""
        many = len(node.params) > 1  # rows, which are not known to be one run of memory
        length = self.costs.rows_per_block if many else self.costs.partial_sum * self.costs.sums_per_block
        tile = split_axis(node, node.params[0], length, rw)
        inner = expand_map(node, 1, rw)
        for target in _accumulate(inner, names, rw):
            _give_slots(node, tile, target, rw)
        return inner


def _accumulate(node: Map, names: list[str], rw: Rewriter) -> list[Memlet]:
    """Combine values in scalars of the scope around a map first; return the tasklets that add these up."""
    targets: list[Memlet] = []
    for name in names:
        found = accumulation(name, node, rw.uses)
        if isinstance(found, Accumulation):
            accumulate(found, node, rw)
            targets.append(found.target)
    return targets


def _give_slots(node: Map, tile: str, target: Memlet, rw: Rewriter) -> None:
    """Give the partial result of each iteration a slot of its own, and add a map that combines them."""
    (values,), state, desc = node.domain, node.state, rw.uses.desc(target.container)
    assert state is not None
    parts = rw.declare_fresh("parts", Array.packed(desc.dtype, (values.size,), transient=True), state.region)
    own = Memlet(parts, Subset.point((sym(tile) - values.start) // values.step))
    for last in (inner for block in node.body.blocks if isinstance(block, State) for inner in block.nodes):
        rw.replace_memlets(last, lambda memlet: own if memlet == target else memlet)
    slot = rw.fresh_name("slot")
    source = Memlet(parts, Subset.point(sym(slot)))
    taken = Tasklet({"part": source}, {"out": replace(target)}, (("out", Ref("part", desc.dtype)),))
    total = Map((slot,), (Range(ZERO, values.size),), Region([State(nodes=[taken])]), span=node.span)
    rw.add_node(total, state, state.index(node) + 1)


def _is_long(node: Map, chunk: int) -> bool:
    """Return whether a map is sequential and may have more iterations than a chunk has terms."""
    *_, last = node.domain
    if not isinstance(node.schedule, Undecided) or last.step is not ONE:
        return False
    if last.size.constant is not None and last.size.constant <= chunk:
        return False
    if not all(isinstance(block, State) for block in node.body.blocks):
        return False
    return all(isinstance(inner, Tasklet) for inner in node.body.walk_nodes())


def _sums(node: Map, uses: Uses) -> list[str]:
    """The private scalars into which a map sums or multiplies floats."""
    found: dict[str, None] = {}
    for memlet in _combined(node):
        desc = uses.desc(memlet.container)
        if memlet.wcr in ("add", "mul") and isinstance(desc, Scalar) and desc.dtype.is_inexact:
            found[memlet.container] = None
    outside = [name for name in found if all(uses.home(name) is not region for region in node.body.walk_regions())]
    return [name for name in outside if uses.desc(name).transient]


def _combined(node: Map) -> list[Memlet]:
    return [memlet for inner in node.body.walk_nodes() for memlet in inner.writes() if memlet.wcr]

"""DistributeElementWiseArrayOp: an element-wise operation on arrays that each rank has runs in blocks (the paper's)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array
from dcpy.ir.distribution import Axis, Blocked, Distribution
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.ir.region import State
from dcpy.ir.symbolic import ZERO, ExprLike, ceil_div, sym
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.distributed.accesses import anchors_of, node_accesses
from dcpy.transforms.distributed.communication.insert_communication import serve
from dcpy.transforms.distributed.resolved_placement import placed


@dataclass(frozen=True, slots=True)
class MapHome:
    """The home of the map, and the sizes of a grid to declare for it, if it is not there yet."""

    home: Distribution
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class DistributeElementWiseArrayOp(Transformation[MapHome]):
    """Run a map in blocks, and gather its results; operands that are at a root are scattered.

    before   map i = 0:N { tmp[i] = alpha * A[i] }     after   map i = 0:N home g(block 0 by b) {
                                                                 tmp_part[i] = alpha * A[i] }
                                                               copy tmp_part[0:N] -> tmp[0:N]

    The first `dims` dimensions are cut. Applies to maps that write what has a parameter as its index there, in arrays
    that each rank has whole: single elements, or what lies along the other dimensions (rows of a product). A grid that
    is not there is declared: ``g[g_p0]``, with symbols as its sizes.
    """

    name: ClassVar[str] = "distribute-element-wise"
    everywhere: ClassVar[bool] = True
    map = capture(Map)
    pattern = one(map)

    dims: int = 1
    grid: str = "g"  #: the name of the grid

    def plan(self, m: Match) -> MapHome | Refusal:
        node, uses = m[self.map], m.uses
        if node.home is not None:
            return Refusal("it has a home")
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("it is inside of another map, which runs on one rank")
        if Effect.ORDERED in effects_of(node):
            return Refusal("it has an effect that is seen outside, which would happen on each rank for itself")
        sizes = tuple(f"{self.grid}_p{axis}" for axis in range(self.dims))
        known = uses.sdfg.grids.get(self.grid)
        if known is not None and len(known.sizes) < self.dims:
            return Refusal(f"the grid {self.grid!r} has {len(known.sizes)} axes")
        if known is None and not all(uses.sdfg.is_free(name) for name in (self.grid, *sizes)):
            return Refusal(f"{self.grid!r} is the name of something else")
        ranks = known.sizes if known is not None else tuple(map(sym, sizes))
        home = self._home(m, ranks)
        return home if isinstance(home, Refusal) else MapHome(home, () if known is not None else sizes)

    def _home(self, m: Match, ranks: tuple[ExprLike, ...]) -> Distribution | Refusal:
        """Blocks of the first array that is written; the others have to follow."""
        node, uses = m[self.map], m.uses
        written = [access for access in node_accesses(node, uses) if access.is_write]
        for access in written:
            if placed(access.container, uses) is not None or not isinstance(uses.desc(access.container), Array):
                return Refusal(f"{access.memlet} is not in an array that each rank has")
            anchors = anchors_of(access, node.params)
            cut_ones = [anchor for anchor in anchors[: self.dims] if anchor is not None]
            labels = {anchor.label for anchor in cut_ones if anchor.low is anchor.high is ZERO}
            if len(labels) < self.dims or access.is_read:
                return Refusal(f"{access.memlet} is written, which is no operation on elements")
        if not written:
            return Refusal("it writes nothing")
        first = written[0]
        cut: dict[str, Axis] = {}
        for axis, (anchor, size) in enumerate(
            zip(anchors_of(first, node.params), uses.desc(first.container).shape, strict=True)
        ):
            if size is ZERO:
                return Refusal(f"{first.memlet} is written, which has no elements to give to ranks")
            if axis < self.dims and anchor is not None:
                cut[anchor.label] = Blocked(axis, ceil_div(size, ranks[axis]))
        return Distribution(self.grid, tuple(cut.get(param) for param in node.params))

    def apply(self, m: Match, plan: MapHome, rw: Rewriter) -> Map:
        node = m[self.map]
        if plan.sizes:
            rw.sdfg.add_grid(self.grid, *plan.sizes)
        rw.update(node, home=plan.home)
        assert isinstance(node.state, State)  # maps are in states
        serve(node.state, node, rw)
        return node

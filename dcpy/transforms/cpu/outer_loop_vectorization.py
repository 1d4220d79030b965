"""OuterLoopVectorization: points with data-dependent loops run in the lanes of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_in, accesses_of_body
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import is_scalar
from dcpy.ir.editing.remarks import described
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.field_roles import Role
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Break, Loop, Region, State, While
from dcpy.ir.schedules import Sequential, Undecided
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import is_inside, nodes_of, owners_around, subtree
from dcpy.transforms.cpu.if_conversion import asks_for_magnitudes, why_not_in_lanes
from dcpy.transforms.cpu.lanes_of_points import LoopPoints, put_in_lanes
from dcpy.transforms.passes import GraphPass

FEW = 4  # iterations: a loop of no more is written out


@dataclass(frozen=True)
class OuterLoopVectorization(GraphPass):
    """Outer-loop vectorization: vectorize a map around a loop with a data-dependent exit.

    before   map i = 0:N { z = A[i]; loop n = 0:T { if f(z) { break }; z = g(z, C[i]) }; B[i] = z }
    after    map I = 0:N:32 { z[32], c[32], active[32]
                 map i { z[i - I] = A[i];  c[i - I] = C[i];  active[i - I] = 1 }
                 loop n = 0:T { left = 0
                     map l = 0:32 { t = active[l] and not f(z[l]);  z[l] = select(t, g(z[l], c[l]), z[l])
                                    active[l] = t;  left (add) <- t }
                     if left == 0 { break } }
                 map j { B[j] = z[j - I] } }

    A loop that is a chain of dependent operations waits for the latency of each; lanes of several vectors hide it, but
    all run until the last one ends. Applies if the loop consists of tasklets and conditions on scalars of the point,
    and on elements at loop-invariant indices that are proved to be in range. Results of a lane after its end are
    discarded: its variables keep their values, and its stores happen once, after the loop. Complex numbers are stored
    as arrays of their parts.

    Magnitudes of complex numbers are compared by their squares; a point that squares cannot decide (within 32 units in
    the last place) is computed again, alone, by the original code. (Nuzman and Zaks, Outer-Loop Vectorization Revisited
    for Short SIMD Architectures, 2008.)
    """

    name: ClassVar[str] = "outer-loop-vectorization"
    optional: ClassVar[bool] = True
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Decide for each map; maps without a data-dependent loop are not reported."""
        for node in list(rw.sdfg.body.walk_nodes()):
            if not isinstance(node, Map) or not isinstance(node.schedule, Undecided):
                continue
            if any(isinstance(owner, Map) for owner in owners_around(node)):
                continue
            loops = [block for block in node.body.blocks if isinstance(block, Loop | While)]
            if len(loops) != 1 or not _ends_by_data(loops[0]):
                continue
            found = points_of_map(node, loops[0], rw.uses)
            if isinstance(found, Refusal):
                rw.remark(node, False, f"no lanes: {found}")
                continue
            lanes = self.costs.lanes * 4
            along = put_in_lanes(found, lanes, rw)
            rw.remark(node, True, f"{described(found.loop)} runs in {lanes} lanes along {along}")


def points_of_map(node: Map, loop: Loop | While, uses: Uses) -> LoopPoints | Refusal:
    """The parts of a map's body before, in, and after a loop; or the reason that points cannot run in lanes."""
    if any(values.step is not ONE or not set(node.params).isdisjoint(values.symbols) for values in node.domain):
        return Refusal("its points are not in rows")
    if isinstance(loop, Loop) and not isinstance(loop.schedule, Sequential):
        return Refusal(f"the loop is {loop.schedule}", (loop,))
    at = node.body.index(loop)
    before, behind = node.body.blocks[:at], node.body.blocks[at + 1 :]
    refusal = _why_not_plain(loop.body) or _why_not_around([*before, *behind], node)
    refusal = refusal or next(filter(None, map(why_not_in_lanes, _exprs(loop))), None)
    if refusal is not None:
        return refusal
    unsure = any(map(asks_for_magnitudes, _exprs(loop)))
    if unsure and _stores(before, node, uses):
        return Refusal("what is stored before the loop cannot be computed again")
    found = LoopPoints(node, loop, before, behind, unsure)
    return _access(found, uses) or found


def _ends_by_data(loop: Loop | While) -> bool:
    if isinstance(loop, While):
        return True
    few = loop.range.size.constant
    return (few is None or few > FEW) and any(isinstance(block, Break) for block in loop.body.walk_blocks())


def _why_not_plain(body: Region) -> Refusal | None:
    """The reason that a loop has more than tasklets on numbers and conditions; None if it does not."""
    for block in body.walk_blocks():
        if not isinstance(block, State | Branch | Break):
            return Refusal(f"there is a {described(block)} inside", (block,))
    for node in body.walk_nodes():
        if not isinstance(node, Tasklet) or effects_of(node):
            return Refusal(f"{described(node)} does more than to compute", (node,))
        if any(memlet.wcr or memlet.dynamic for memlet in (*node.reads(), *node.writes())):
            return Refusal(f"{described(node)} combines values in memory", (node,))
    private = (desc for region in body.walk_regions() for desc in region.containers.values())
    return None if all(map(is_scalar, private)) else Refusal("an iteration has an array of its own")


def _why_not_around(blocks: Sequence[Block], node: Map) -> Refusal | None:
    """The reason that the blocks around the loop are more than states of tasklets; None if they are not."""
    if not all(is_scalar(desc) for desc in node.body.containers.values()):
        return Refusal("a point has an array of its own")
    for block in blocks:
        if not isinstance(block, State) or not all(isinstance(inner, Tasklet) for inner in block.nodes):
            return Refusal(f"there is a {described(block)} beside the loop", (block,))
        if any(effects_of(inner) for inner in block.nodes):
            return Refusal("a point does more than to compute", (block,))
    return None


def _access(found: LoopPoints, uses: Uses) -> Refusal | None:
    """Sort the loop's accesses into carried values and inputs; or return the reason that this is impossible."""
    node, loop = found.node, found.loop
    changing = {name for element in subtree(loop) for name in element.all_of(Role.DEFINED)}
    accesses = accesses_of_body(loop, uses) if isinstance(loop, Loop) else accesses_in(loop, uses)
    for access in accesses:
        if access.subset is None or access.container != access.root:
            return Refusal(f"{access.root!r} is seen through something else")
        memlet = Memlet(access.root, access.subset)
        if not memlet.subset.is_point or not changing.isdisjoint(memlet.subset.symbols):
            return Refusal(f"{access.root!r} is not touched at one place")
        own = uses.home(access.root) is node.body
        written, read = (found.carried, found.given) if own else (found.stored, found.fetched)
        (written if access.is_write else read)[memlet] = None
    for access in accesses:
        others = [memlet for memlet in found.stored if memory_of(memlet.container, uses.desc) == access.memory]
        if any(memlet.container != access.root or memlet.subset != access.subset for memlet in others):
            return Refusal(f"{access.root!r} is written and touched at several places")
    for memlet in found.fetched:  # by all lanes, however often the loop runs
        if not uses.ranges_at(loop).proves_in_range(memlet.subset.dims, uses.desc(memlet.container).shape):
            return Refusal(f"{memlet.container!r} may have no such element for points that do not ask for it")
    for inner in (inner for block in found.behind for inner in nodes_of(block)):
        found.given |= {memlet: None for memlet in inner.reads() if uses.home(memlet.container) is node.body}
    for memlet in found.carried:
        found.given.pop(memlet, None)
    return None


def _stores(blocks: Iterable[Block], node: Map, uses: Uses) -> bool:
    """Return whether points write to containers other than their own variables."""
    nodes = (inner for block in blocks for inner in nodes_of(block))
    return any(not is_inside(uses.home(memlet.container), node) for inner in nodes for memlet in inner.writes())


def _exprs(loop: Loop | While) -> Iterator[ScalarExpr]:
    for element in subtree(loop):
        yield from element.exprs()

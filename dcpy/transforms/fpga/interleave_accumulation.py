"""InterleaveAccumulation: between two additions to a sum come as many to others as an addition takes cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Ref
from dcpy.ir.fpga.boards import latency
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Process, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of, sym
from dcpy.ir.tree import owners_around, subtree
from dcpy.ir.types import DType
from dcpy.transforms.passes import GraphPass

Sum = tuple[Memlet, int]  #: what is combined into, and the cycles that this takes
BURST = 16  #: rows at least: where these are neighbours in memory, f32 fill a port of 512 bits
MOST_SUMS = 4096  #: that one process keeps on the chip: 32 KB of doubles
EXTRA = 2  #: cycles that reading a sum and writing it take beside the addition


@dataclass(frozen=True)
class InterleaveAccumulation(GraphPass):
    """Sums of floats start a term in every cycle, though an addition takes L > 1 cycles.

    before   map j = 0:N { s = 0; map k = 0:K { s (add) <- f(j, k) }; y[j] = s }
    after    map t = 0:N:T { map l = 0:T { s[l] = 0 }
                             map k = 0:K, l = 0:T { s[l] (add) <- f(min(t + l, N - 1), k) }
                             map l = 0:min(T, N - t) { y[t + l] = s[l] } }

    T is a power of two, at least L: T sums take turns, and none is reordered. The last tile goes on with a row that is
    computed again, so that the distance is T there, too; its sum is not used. A sum with no map around gets T partial
    sums, and a tree that adds them up:

    before   map k = 0:K { s (add) <- x[k] }
    after    map l = 0:T { part[l] = 0 };  map k = 0:K { part[k % T] (add) <- x[k] }
             map l = 0:T/2 { part[l] (add) <- part[l + T/2] };  ...;  s (add) <- part[0]
    """

    name: ClassVar[str] = "interleave-accumulation"

    def decide(self, rw: Rewriter) -> None:
        """Map by map of each process, the outermost ones first."""
        for process in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Process)]:
            for node in [node for node in process.body.walk_nodes() if isinstance(node, Map)]:
                if node.state is not None and (sums := _inner_sums(node, rw.uses)):
                    refusal = _why_not_rows(node, rw.uses)
                    if not refusal:
                        turns = _whole(node, _turns(sums)) or _turns(sums)
                        _take_turns(node, turns, rw)
                        rw.remark(node, True, f"the sums of {turns} rows are interleaved")
                    else:
                        rw.remark(node, False, str(refusal))
            for node in [node for node in process.body.walk_nodes() if isinstance(node, Map)]:
                if node.state is not None and (found := _one_sum(node, rw.uses)):
                    _partial(node, found, rw)


def _turns(sums: Sequence[Sum]) -> int:
    """The next power of two from the latency of the slowest sum on; more where that makes rows of a memory burst."""
    slowest = max(cycles for _, cycles in sums) + EXTRA
    return max(1 << (slowest - 1).bit_length(), BURST)


def _combined(node: Map, uses: Uses) -> list[Sum]:
    """The scalars into which the innermost statements of a map combine floats, with the latency."""
    found: dict[Memlet, int] = {}
    for inner in node.body.walk_nodes():
        for memlet in inner.writes():
            desc = uses.desc(memlet.container)
            if memlet.wcr and isinstance(desc, Scalar) and (cycles := latency(memlet.wcr, desc.dtype)) > 1:
                found[memlet] = cycles
    return list(found.items())


# -- rows take turns ---------------------------------------------------------------------------------------------------


def _inner_sums(node: Map, uses: Uses) -> list[Sum]:
    """The sums of maps directly inside, into scalars that each iteration has for itself."""
    inner = [one for block in node.body.blocks if isinstance(block, State) for one in block.nodes]
    sums = [found for one in inner if isinstance(one, Map) for found in _combined(one, uses)]
    return [(memlet, cycles) for memlet, cycles in sums if memlet.container in node.body.containers]


def _whole(node: Map, least: int) -> int:
    """All rows, if these are few and lie side by side: then each operand is read once, in order; 0: not so."""
    count = node.domain[-1].size.constant or 0
    if not least <= count <= MOST_SUMS:
        return 0
    memlets = [memlet for inner in node.body.walk_nodes() for memlet in inner.reads() if memlet.subset.rank > 1]
    beside = any(memlet.subset.indices[-1] == sym(node.params[-1]) for memlet in memlets if memlet.subset.is_point)
    return count if beside else 0


def _why_not_rows(node: Map, uses: Uses) -> Refusal | None:
    param, values = node.params[-1], node.domain[-1]
    if values.step is not ONE:
        return Refusal(f"{param} does not go in steps of one")
    if len(node.body.blocks) != 1 or not isinstance(node.body.blocks[0], State):
        return Refusal("there is control flow in it")
    for name, desc in node.body.containers.items():
        if not isinstance(desc, Scalar):
            return Refusal(f"{name!r} is no scalar of an iteration")
    for inner in node.body.blocks[0].nodes:
        if isinstance(inner, Map):
            if refusal := _why_not_inside(inner, node, uses):
                return refusal
        elif not isinstance(inner, Tasklet | Copy):
            return Refusal(f"there is a {inner.kind} in it")
    return None


def _why_not_inside(inner: Map, node: Map, uses: Uses) -> Refusal | None:
    param = node.params[-1]
    if any(param in values.symbols for values in inner.domain):
        return Refusal(f"how many terms a sum has depends on {param}")
    for element in subtree(inner):
        if element is not inner and not isinstance(element, State | Tasklet | Copy):
            return Refusal(f"there is a {element.kind} in the sum")
        for memlet in element.writes():
            if memlet.container not in node.body.containers and memlet.container not in inner.body.containers:
                return Refusal(f"{memlet} is written for each term")
    return None


def _take_turns(node: Map, turns: int, rw: Rewriter) -> None:
    """Tiles the last axis; each statement, and each map inside, runs for all rows of a tile."""
    param, values = node.params[-1], node.domain[-1]
    (state,) = node.body.blocks
    assert isinstance(state, State)
    tile = rw.fresh_name(f"{param}_tile")
    rest = rw.uses.ranges_at(node).remainder(values.size, turns)
    groups = _groups(state.nodes, {*node.body.containers})
    axes = (*node.domain[:-1], Range(values.start, values.stop, const(turns)))
    for group, stores in groups:
        lane = rw.fresh_name(f"{param}_lane")
        row: Expr = sym(tile) + sym(lane)
        lanes: Expr = const(turns)
        if stores and rest != 0:
            lanes = min_of(lanes, values.stop - sym(tile))
        elif rest != 0:
            row = min_of(row, values.stop - ONE)
        _for_lanes(group, lane, Range(ZERO, lanes), {param: row}, node, rw)
    rw.update(node, params=(*node.params[:-1], tile), domain=axes)
    for name, desc in list(node.body.containers.items()):
        rw.redeclare(name, Array.packed(desc.dtype, (const(turns),), transient=True, span=desc.span))


def _groups(nodes: Sequence[Node], private: set[str]) -> list[tuple[list[Node], bool]]:
    """Runs of statements of one kind: a map alone, or others; and whether they write what is seen outside."""
    found: list[tuple[list[Node], bool]] = []
    for node in nodes:
        stores = not isinstance(node, Map) and any(memlet.container not in private for memlet in node.writes())
        joins = found and not isinstance(node, Map) and not isinstance(found[-1][0][0], Map) and found[-1][1] == stores
        if joins:
            found[-1][0].append(node)
        else:
            found.append(([node], stores))
    return found


def _for_lanes(
    group: list[Node], lane: str, lanes: Range, values: dict[str, Expr], around: Map, rw: Rewriter
) -> None:
    """Run statements for each lane: inside of a map if they are one, else in a map of their own."""
    (first, *_) = group
    private = {*around.body.containers}

    def of_lane(memlet: Memlet) -> Memlet:
        return replace(memlet, subset=Subset.point(sym(lane))) if memlet.container in private else memlet

    body = Region([State(span=first.span)])
    lanes_map = Map((lane,), (lanes,), body, span=first.span)
    if isinstance(first, Map):
        inside = [node for block in first.body.blocks if isinstance(block, State) for node in block.nodes]
        (*_, last) = (block for block in first.body.blocks if isinstance(block, State))
        rw.add_node(lanes_map, last)
        rw.hoist_containers(first.body, body)
    else:
        inside = group
        rw.add_node_before(first, lanes_map)
    (into,) = body.blocks
    assert isinstance(into, State)
    rw.move_nodes(inside, into)
    for node in inside:
        rw.substitute(node, Substitution(symbols=values))
        rw.replace_memlets(node, of_lane)
    if isinstance(first, Map):
        for block in [block for block in first.body.blocks if isinstance(block, State) and not block.nodes]:
            rw.erase(block)


# -- partial sums ------------------------------------------------------------------------------------------------------


def _one_sum(node: Map, uses: Uses) -> Sum | None:
    """The one scalar outside into which a loop of straight-line code combines, and nothing else it writes there."""
    if len(node.params) != 1 or any(isinstance(inner, Map) for inner in node.body.walk_nodes()):
        return None
    if any(not isinstance(block, State) for block in node.body.blocks) or node.domain[0].step is not ONE:
        return None
    private = node.body.containers
    sums = [(memlet, cycles) for memlet, cycles in _combined(node, uses) if memlet.container not in private]
    return sums[0] if len(sums) == 1 else None


def _partial(node: Map, found: Sum, rw: Rewriter) -> None:
    target, _ = found
    turns = _turns([found])
    state = node.state
    assert state is not None
    (process,) = [owner for owner in owners_around(node) if isinstance(owner, Process)][:1]
    dtype = rw.uses.desc(target.container).dtype
    desc = Array.packed(dtype, (const(turns),), transient=True, span=node.span)
    parts = rw.declare_fresh(f"{target.container}_parts", desc, process.body)
    ring = Memlet(parts, Subset.point(sym(node.params[0]) % const(turns)), wcr=target.wcr)
    rw.add_node_before(node, _lanes(turns, rw, node, lambda lane: _start(parts, lane, target, dtype)))
    for inner in list(node.body.walk_nodes()):
        rw.replace_memlets(inner, lambda memlet: ring if memlet == target else memlet)
    position = state.index(node) + 1
    width = turns // 2
    while width:
        rw.add_node(_half(width, parts, target, dtype, rw, node), state, position)
        position, width = position + 1, width // 2
    first = {"part": Memlet(parts, Subset.point(ZERO))}
    rw.add_node(Tasklet(first, {"out": target}, (("out", Ref("part", dtype)),), span=node.span), state, position)
    rw.remark(node, True, f"{turns} partial sums are interleaved, then a tree adds them up")


def _half(width: int, parts: str, target: Memlet, dtype: DType, rw: Rewriter, node: Map) -> Map:
    """A level of the tree: the second half of what is left is added to the first one."""
    return _lanes(width, rw, node, lambda lane: _folded(parts, lane, lane + width, target, dtype))


def _lanes(count: int, rw: Rewriter, node: Map, statement: Callable[[Expr], Tasklet]) -> Map:
    lane = rw.fresh_name("lane")
    body = Region([State(nodes=[statement(sym(lane))])])
    return Map((lane,), (Range(ZERO, const(count)),), body, span=node.span)


def _start(parts: str, lane: Expr, target: Memlet, dtype: DType) -> Tasklet:
    assert target.wcr
    value = Const(identity_value(target.wcr, dtype), dtype)
    return Tasklet({}, {"out": Memlet(parts, Subset.point(lane))}, (("out", value),))


def _folded(parts: str, lane: Expr, other: Expr, target: Memlet, dtype: DType) -> Tasklet:
    source, into = Memlet(parts, Subset.point(other)), Memlet(parts, Subset.point(lane), wcr=target.wcr)
    return Tasklet({"part": source}, {"out": into}, (("out", Ref("part", dtype)),))

"""VectorizePorts: what goes through queues goes in tokens of several elements, which are computed side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.options import InvalidOption
from dcpy.ir.data import Allocation, Array, Space, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import symbols_of
from dcpy.ir.fpga.memory import Partition
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Tasklet
from dcpy.ir.region import Dataflow, Loop, Process, Region, State
from dcpy.ir.schedules import UNROLLED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fpga.vector_lanes import Candidate, candidates_in, nodes_of, tail_of, why_not_lanes
from dcpy.transforms.passes import GraphPass

LEAST = 2  #: places of a queue between two pipelines, so that both go on in every cycle


@dataclass(frozen=True)
class VectorizePorts(GraphPass):
    """Loops of processes go on by W iterations at once, where all that share their queues can.

    before   process read_x { loop i = 0:N { x[i] -> xs } };  process f { loop i = 0:N { xs -> a; ...; b -> ys } }
    after    process read_x { loop t = 0:N//W { x[W*t:W*t + W] -> xs };  loop e = N//W*W:N:W { ...last ones -> xs } }
             process f { loop t = 0:ceil(N/W) { xs -> as[0:W];  loop l = 0:W @unrolled { as[l]...bs[l] };  bs -> ys } }

    A token has W elements, as many as fit `width` bytes, a power of two. Applies where neighbours in the loop are
    neighbours in memory, each run starts at a token, and no iteration needs another one; a sum has as many others
    between two of its terms as an addition takes cycles. Where sizes are not shown to be multiples of W, the reader
    fills the last token with the last element, again and again, and the writer stores only what is there. No operation
    is reordered.
    """

    name: ClassVar[str] = "vectorize-ports"
    width: int = 64  #: bytes of a token at most: what a port of the memory moves in a cycle
    most: int = 0  #: elements of a token at most; 0: as many as fit

    def __post_init__(self) -> None:
        if self.most & (self.most - 1):
            told = "fpga.lanes is a power of two, or 0: as the board's port"
            raise InvalidOption(f"tokens of {self.most} elements: {told}")

    def decide(self, rw: Rewriter) -> None:
        """Network by network; in each, what is connected by queues has tokens of one number of elements."""
        for block in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Dataflow)]:
            processes = [inner for inner in block.body.blocks if isinstance(inner, Process)]
            found = [one for process in processes for one in candidates_in(process, rw.uses)]
            for part in _connected(found):
                self._part(part, rw)

    def _part(self, part: Sequence[Candidate], rw: Rewriter) -> None:
        names = dict.fromkeys(name for one in part for name in one.streams)
        if not names:
            return
        lanes = self.width // max(rw.uses.desc(name).dtype.itemsize for name in names)
        lanes = min(lanes, self.most) if self.most else lanes
        best: list[Candidate] = []
        first: dict[Candidate, str] = {}
        while lanes > 1 and len(best) < len(part):
            chosen, why = _chosen(part, names, lanes, rw)
            first = first or why
            if len(chosen) > len(best):
                best, best_lanes = chosen, lanes
            lanes //= 2
        deepest = max(len(one.outer_loops) for one in part if one.streams)
        if best and all(len(one.outer_loops) < deepest for one in best):
            first |= dict.fromkeys(best, "loops that take longer go one by one")
            best = []
        for one in part:
            if one not in best:
                rw.remark(one.loop, False, first.get(one, "no queue that it shares has tokens"), about=one.title)
        if best:
            _vectorize(best, best_lanes, rw)


def _connected(found: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Loops that are connected by queues, or are of one process: parts that have nothing to do with each other."""
    import networkx

    graph = networkx.Graph()
    for number, one in enumerate(found):
        graph.add_edges_from((number, joined) for joined in (one.process, *one.streams))
    for part in networkx.connected_components(graph):  # in the order of their first loops
        yield [one for number, one in enumerate(found) if number in part]


def _chosen(
    part: Sequence[Candidate], names: dict[str, None], lanes: int, rw: Rewriter
) -> tuple[list[Candidate], dict[Candidate, str]]:
    """The loops of a part that can have so many lanes, if all that share a queue do; and why others cannot."""
    why: dict[Candidate, str] = {}
    for one in part:
        if refusal := one.refusal or why_not_lanes(one, lanes, rw.uses):
            why[one] = str(refusal)
    outside = _ends_elsewhere(part, names, rw)
    while True:
        chosen = [one for one in part if one not in why]
        for name in names:
            ends = [one for one in part if name in one.streams]
            slow = next((one.process.name for one in ends if one in why), "")
            reason = f"{slow!r} takes elements of {name!r} one by one" if slow else ""
            if name in outside:
                reason = f"{name!r} is met outside of innermost loops"
            elif not reason and not _pads_alike(ends, lanes, rw):
                reason = f"the last tokens of {name!r} would differ at its two ends"
            if reason:
                why |= {one: reason for one in ends if one not in why}
        if all(one not in why for one in chosen):
            return (chosen if any(one.streams for one in chosen) else []), why


def _ends_elsewhere(part: Sequence[Candidate], names: dict[str, None], rw: Rewriter) -> set[str]:
    """The queues to which something else than the loops of a part goes."""
    loops = [one.loop for one in part]

    def is_met_outside(name: str) -> bool:
        return any(not any(is_inside(element, loop) for loop in loops) for element in rw.uses.accessors(name))

    return {name for name in names if is_met_outside(name)}


def _pads_alike(ends: Sequence[Candidate], lanes: int, rw: Rewriter) -> bool:
    """Return whether as many tokens are pushed as are popped, though last ones are not full."""
    sizes = [one.size(rw.uses) for one in ends]
    whole = all(rw.uses.ranges_at(one.loop).remainder(size, lanes) == 0 for one, size in zip(ends, sizes, strict=True))
    return whole or (len(ends) == 2 and sizes[0] == sizes[1])


def _vectorize(chosen: Sequence[Candidate], lanes: int, rw: Rewriter) -> None:
    for name in dict.fromkeys(name for one in chosen for name in one.streams):
        desc = rw.uses.desc(name)
        assert isinstance(desc, Stream)
        held = desc.capacity.constant or 0  # a burst of elements is one of fewer tokens
        rw.redeclare(name, replace(desc, token=(lanes,), capacity=const(max(-(-held // lanes), min(held, LEAST)))))
    for one in chosen:
        rw.remark(one.loop, True, f"tokens of {lanes}", about=one.title)
        if one.is_port:
            _port(one, lanes, rw)
        else:
            _side_by_side(one, lanes, rw)


# -- readers and writers -----------------------------------------------------------------------------------------------


def _port(one: Candidate, lanes: int, rw: Rewriter) -> None:
    """Whole tokens as they are in memory, then the last elements."""
    loop, (copy,) = one.loop, nodes_of(one.loop)
    assert isinstance(copy, Copy)
    is_reader = isinstance(rw.uses.desc(copy.dst.container), Stream)
    there, queue = (copy.src, copy.dst) if is_reader else (copy.dst, copy.src)
    size, start = one.size(rw.uses), loop.range.start
    is_whole = rw.uses.ranges_at(loop).remainder(size, lanes) == 0
    desc = rw.uses.desc(queue.container)
    assert isinstance(desc, Stream)
    if loop.param not in there.subset.symbols:
        _side_by_side(one, lanes, rw)
        return
    token = rw.fresh_name(f"{loop.param}_token")
    first = start + sym(token) * lanes
    *rows, _ = there.subset.indices
    shift = there.subset.indices[-1] - sym(loop.param)
    block = replace(there, subset=Subset((*rows, Range(first + shift, first + shift + lanes))))
    body = Region([State(nodes=[_between(block, queue, is_reader, copy)])])
    loops = [Loop(token, Range.of(ZERO, size // lanes), body, loop.schedule, span=loop.span)]
    if not is_whole:
        loops.append(_last_elements(one, there, queue, size, lanes, rw, is_reader=is_reader))
    rw.replace(loop, *loops)


def _between(there: Memlet, queue: Memlet, is_reader: bool, copy: Copy) -> Copy:
    return Copy(there, queue, span=copy.span) if is_reader else Copy(queue, there, span=copy.span)


def _last_elements(
    one: Candidate, there: Memlet, queue: Memlet, size: Expr, lanes: int, rw: Rewriter, *, is_reader: bool
) -> Loop:
    """A last token that is not full: its reader repeats the last element, its writer stores what is there."""
    loop, (copy,) = one.loop, nodes_of(one.loop)
    assert isinstance(copy, Copy)
    dtype = rw.uses.desc(queue.container).dtype
    rest, lane, held = (rw.fresh_name(f"{loop.param}_{stem}") for stem in ("rest", "lane", "last"))
    element: Expr = sym(rest) + sym(lane)
    element = loop.range.start + (min_of(element, size - ONE) if is_reader else element)
    lanes_there = const(lanes) if is_reader else min_of(const(lanes), size - sym(rest))
    there = replace(there, subset=there.subset.subs({loop.param: element}))
    mine = Memlet(held, Subset.point(sym(lane)))
    each = Loop(lane, Range(ZERO, lanes_there), Region([State(nodes=[_between(there, mine, is_reader, copy)])]))
    whole = Memlet(held, Subset((Range.of(0, lanes),)))
    all_ = State(nodes=[_between(whole, queue, is_reader, copy)])
    return Loop(
        rest,
        tail_of(size, lanes),
        Region([each, all_] if is_reader else [all_, each], {held: _registers(dtype, lanes)}),
        span=loop.span,
    )


def _registers(dtype: object, lanes: int) -> Array:
    desc = Array.packed(dtype, (const(lanes),), transient=True)  # type: ignore[arg-type]
    return replace(desc, space=Space.LOCAL, allocation=Allocation.REGISTERS)


# -- what is between them ----------------------------------------------------------------------------------------------


def _side_by_side(one: Candidate, lanes: int, rw: Rewriter) -> None:
    """Take a token of each queue, run so many iterations side by side, and give a token to each queue."""
    loop, uses = one.loop, rw.uses
    size, start, param = one.size(uses), loop.range.start, loop.param
    is_whole = uses.ranges_at(loop).remainder(size, lanes) == 0
    pushed = {memlet.container for node in nodes_of(loop) for memlet in node.writes()}
    for name in _on_chip(one, rw):
        desc = uses.desc(name)
        assert isinstance(desc, Array)
        rw.redeclare(name, replace(desc, partition=(Partition(0, "cyclic", lanes),)))
    token, lane = rw.fresh_name(f"{param}_token"), rw.fresh_name(f"{param}_lane")
    element = sym(token) * lanes + sym(lane)
    if not is_whole and any(_mentions(node, param) for node in nodes_of(loop)):
        element = min_of(element, size - ONE)
    inside = Loop(lane, Range.of(0, lanes), Region(), UNROLLED, span=loop.span)
    blocks = list(loop.body.blocks)
    rw.insert(inside, loop.body)
    rw.move_blocks(blocks, inside.body)
    rw.hoist_containers(loop.body, inside.body)
    held = {}
    for name in one.streams:
        held[name] = rw.declare_fresh(f"{name}_lanes", _registers(uses.desc(name).dtype, lanes), loop.body)

    def of_lane(memlet: Memlet) -> Memlet:
        return Memlet(held[memlet.container], Subset.point(sym(lane))) if memlet.container in held else memlet

    for node in nodes_of(inside):
        rw.substitute(node, Substitution(symbols={param: start + element}))
        rw.replace_memlets(node, of_lane)
    whole = Subset((Range.of(0, lanes),))
    ends = [(Memlet(name, Subset()), Memlet(held[name], whole), name in pushed) for name in one.streams]
    pops = [Copy(queue, here, span=loop.span) for queue, here, is_pushed in ends if not is_pushed]
    pushes = [Copy(here, queue, span=loop.span) for queue, here, is_pushed in ends if is_pushed]
    if pops:
        rw.insert(State(nodes=list(pops)), loop.body, 0)
    if pushes:
        rw.insert(State(nodes=list(pushes)), loop.body)
    count = size // lanes
    if not is_whole:
        count = count + tail_of(size, lanes).size_within(uses.ranges_at(loop))
    rw.update(loop, param=token, range=Range(ZERO, count))


def _on_chip(one: Candidate, rw: Rewriter) -> list[str]:
    """Memory of the process that lanes share."""
    memlets = [memlet for node in nodes_of(one.loop) for memlet in (*node.reads(), *node.writes())]
    return list(
        dict.fromkeys(
            memlet.container
            for memlet in memlets
            if isinstance(rw.uses.desc(memlet.container), Array)
            and one.loop.param in memlet.subset.symbols
            and is_inside(rw.uses.home(memlet.container), one.process)
        )
    )


def _mentions(node: object, param: str) -> bool:
    """Return whether what a node does depends on the number of the iteration."""
    assert isinstance(node, Tasklet | Copy)
    if any(param in memlet.subset.symbols for memlet in (*node.reads(), *node.writes())):
        return True
    return isinstance(node, Tasklet) and any(param in symbols_of(code) for _, code in node.code)

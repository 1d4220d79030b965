"""TemporalPipelining: several steps of a stencil are processes in a chain, which reads and writes the grid once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

from dcpy.ir.data import Allocation, Array, Scalar, Stream
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.fpga.memory import how_to_number
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Dataflow, Loop, Process, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, max_of, sym
from dcpy.ir.tree import regions_around
from dcpy.transforms.fpga.stencil_windows import StencilWindow, box_loops, offset_of, window_of
from dcpy.transforms.fpga.streaming_memory import (
    DEPTH,
    MapProcesses,
    StreamedElement,
    add_window,
    computation,
    plain,
    ports_of,
    renamed,
    why_not_streamed,
)
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class GridBox:
    """Elements of an array that come row by row."""

    start: tuple[int, ...]
    extents: tuple[int, ...]

    def holds(self, other: GridBox) -> bool:
        """Return whether all elements of another one are in it."""
        pairs = zip(self.start, self.extents, other.start, other.extents, strict=True)
        return all(mine <= its and its + count <= mine + size for mine, size, its, count in pairs)


@dataclass(frozen=True, slots=True)
class TimeStepStage:
    """A map of a time step: what it reads, and what it writes."""

    node: Map
    source: str
    target: str
    reads: GridBox
    writes: GridBox
    window: StencilWindow | None  #: None: it reads one element for each that it writes


@dataclass(frozen=True)
class TemporalPipelining(GraphPass):
    """Makes a chain of the maps of S time steps, in which each stage hands its elements to the next one.

    before   loop t = 0:T { map i { B[i] = f(A[i - 1], A[i], A[i + 1]) };  map i { A[i] = g(B[i - 1], B[i + 1]) } }
    after    copy A -> A_next
             loop c = 0:(T - 1) // 2S { dataflow { read A ▷ f ▷ frame ▷ g ▷ frame ▷ f ... ▷ write A_next }
                                        dataflow { read A_next ▷ f ▷ frame ▷ g ▷ frame ▷ f ... ▷ write A } }
             ... and so on with half as many steps, down to 2 ...
             loop t = 2S * ((T - 1) // 2S):T { map i ...;  map i ... }

    A frame puts elements around those of a stage that no stage writes: they stay what they are in memory. The grid is
    read and written once per S steps. What is left, at least one step, runs as before, so arrays between the stages
    are what they are to be in the end. Applies where each map reads one array, the one that the map before wrote (the
    first one what the last one wrote), at constant distances, and sizes are numbers. No bit of a result changes.
    """

    name: ClassVar[str] = "temporal-pipelining"
    steps: int = 4  #: S

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop, those of the host."""
        for loop in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Loop)]:
            region = loop.region
            if region is None or any(isinstance(around.owner, Process) for around in regions_around(region)):
                continue
            if not any(isinstance(node, Map) for node in loop.body.walk_nodes()):
                continue
            stages = _stages(loop, rw)
            if isinstance(stages, Refusal):
                rw.remark(loop, False, str(stages))
            else:
                _chain(loop, stages, max(self.steps, 1), rw)


def _stages(loop: Loop, rw: Rewriter) -> list[TimeStepStage] | Refusal:
    if loop.range.step is not ONE:
        return Refusal("time steps are not counted one by one")
    found: list[TimeStepStage] = []
    for block in loop.body.blocks:
        if not isinstance(block, State):
            return Refusal(f"there is a {block.kind} in a time step")
        for node in block.nodes:
            stage = _stage(node, rw) if isinstance(node, Map) else Refusal(f"there is a {node.kind} in a time step")
            if isinstance(stage, Refusal):
                return stage
            found.append(stage)
    if any(element is not loop for element in rw.uses.users(loop.param)):
        return Refusal(f"a time step depends on {loop.param}")
    return _why_no_chain(found) or found


def _why_no_chain(found: Sequence[TimeStepStage]) -> Refusal | None:
    if len({stage.target for stage in found}) < len(found):
        return Refusal("an array is written twice in a time step")
    for before, stage in zip([*found[-1:], *found[:-1]], found, strict=True):
        if stage.source != before.target:
            return Refusal(f"{stage.source!r} is not what the map before writes")
        if not stage.reads.holds(before.writes):
            return Refusal(f"not all of {stage.source!r} that is written is read again")
    return None


def _stage(node: Map, rw: Rewriter) -> TimeStepStage | Refusal:
    if refusal := why_not_streamed(node, rw):
        return refusal
    bounds = [(values.start.constant, values.stop.constant, values.step.constant) for values in node.domain]
    if any(start is None or stop is None or step != 1 or stop <= start for start, stop, step in bounds):
        names = [name for values in node.domain for name in values.symbols]
        return Refusal(f"the sizes of the grid are not constant: {how_to_number(names)}")
    reads, writes = _elements(node, rw)
    sources, targets = {memlet.container for memlet in reads}, {memlet.container for memlet in writes}
    if len(sources) != 1 or len(writes) != 1:
        return Refusal(f"a map reads {len(sources)} arrays, and writes {len(writes)} elements")
    (source,), (target,) = sources, targets
    window = window_of(reads, node, rw.uses.ranges_at(node)) if len(reads) > 1 else None
    if isinstance(window, Refusal):
        return window
    points = tuple((stop or 0) - (start or 0) for start, stop, _ in bounds)
    boxes = [_box(memlet, node, points) for memlet in (reads[0], writes[0])]
    if boxes[0] is None or boxes[1] is None:
        return Refusal("it accesses elements at distances that are not constant")
    first = GridBox(_numbers(window.start), _numbers(window.box)) if window else boxes[0]
    return TimeStepStage(node, source, target, first, boxes[1], window)


def _elements(node: Map, rw: Rewriter) -> tuple[list[Memlet], list[Memlet]]:
    """The elements of arrays that an iteration reads, and those that it writes, each once."""
    inner = list(node.body.walk_nodes())
    reads = dict.fromkeys(memlet for one in inner for memlet in one.reads())
    writes = dict.fromkeys(memlet for one in inner for memlet in one.writes())
    found = ([one for one in table if isinstance(rw.uses.desc(one.container), Array)] for table in (reads, writes))
    return next(found), next(found)


def _box(memlet: Memlet, node: Map, points: tuple[int, ...]) -> GridBox | None:
    offset = offset_of(memlet, node.params)
    if offset is None:
        return None
    starts = [values.start.constant or 0 for values in node.domain]
    return GridBox(tuple(at + more for at, more in zip(starts, offset, strict=True)), points)


def _numbers(values: Sequence[Expr]) -> tuple[int, ...]:
    return tuple(value.constant or 0 for value in values)


def _chain(loop: Loop, stages: Sequence[TimeStepStage], steps: int, rw: Rewriter) -> None:
    """Chains of so many steps, of half as many for the rest, and so on; the loop keeps what is left."""
    region, grid = loop.region, stages[0].source
    assert region is not None  # `decide` asked
    desc = rw.uses.desc(grid)
    assert isinstance(desc, Array)  # `_elements` asked
    fresh = Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span)
    other = rw.declare_fresh(f"{plain(grid)}_next", replace(fresh, allocation=Allocation.HEAP), region)
    whole = Subset(tuple(Range.of(0, size) for size in desc.shape))
    rw.insert_before(loop, State(nodes=[Copy(Memlet(grid, whole), Memlet(other, whole), span=loop.span)]))
    while True:
        count: Expr = max_of(ZERO, (loop.range.stop - loop.range.start - ONE) // const(2 * steps))
        chains = Region()
        rw.insert_before(loop, Loop(rw.fresh_name(f"{loop.param}_chain"), Range(ZERO, count), chains, span=loop.span))
        for source, target in ((grid, other), (other, grid)):
            rw.insert(_network(list(stages) * steps, source, target, chains, rw), chains)
        rw.update(loop, range=Range(loop.range.start + count * (2 * steps), loop.range.stop))
        rw.remark(loop, True, f"{steps} time steps are a chain of {steps * len(stages)} stages")
        steps //= 2
        if steps < 2:
            return


def _network(stages: Sequence[TimeStepStage], source: str, target: str, region: Region, rw: Rewriter) -> Dataflow:
    """A chain of stages from one array to another one."""
    grid = stages[0].source
    network = MapProcesses(stages[0].node, rw)
    queue = _stream(grid, "in_order", region, rw)
    element, loops = _loops(stages[0].reads, rw)
    body = Region([State(nodes=[Copy(Memlet(source, element), Memlet(queue, Subset()), span=network.node.span)])])
    network.add(f"read_{plain(source)}", loops, body)
    for number, stage in enumerate(stages):
        network.node = stage.node
        queue = _computed(stage, queue, network, region)
        if number + 1 < len(stages) and stages[number + 1].reads != stage.writes:
            around = source if stage.target == grid else stage.target
            queue = _framed(stage, stages[number + 1].reads, around, queue, network, region)
    element, loops = _loops(stages[-1].writes, rw)
    body = Region([State(nodes=[Copy(Memlet(queue, Subset()), Memlet(target, element), span=network.node.span)])])
    network.add(f"write_{plain(target)}", loops, body)
    return Dataflow(Region(network.processes), span=stages[0].node.span)


def _stream(container: str, verb: str, region: Region, rw: Rewriter) -> str:
    desc = rw.uses.desc(container)
    return rw.declare_fresh(f"{plain(container)}_{verb}", Stream(desc.dtype, (), DEPTH, span=desc.span), region)


def _loops(box: GridBox, rw: Rewriter) -> tuple[Subset, list[tuple[str, Range]]]:
    return box_loops(box.start, box.extents, [rw.fresh_name("at") for _ in box.start])


def _computed(stage: TimeStepStage, queue: str, network: MapProcesses, region: Region) -> str:
    """The processes of one stage; gives the queue of its results."""
    rw, node = network.rw, stage.node
    reads, writes = ports_of(node, rw, region)
    if stage.window is None:
        rw.undeclare(reads[0].stream)
        reads = [replace(reads[0], stream=queue)]
    else:
        add_window(stage.window, reads, queue, network)
    names = network.params()
    body = clone_body(node.body, {old: sym(new) for old, new in names.items()}, rw)
    taken, given = ([_in_loops(port, names) for port in ports] for ports in (reads, writes))
    network.process("compute", names, computation(body, rw, taken, given))
    return writes[0].stream


def _in_loops(port: StreamedElement, names: dict[str, str]) -> StreamedElement:
    return replace(port, memlet=renamed(port.memlet, names))


def _framed(stage: TimeStepStage, box: GridBox, around: str, queue: str, network: MapProcesses, region: Region) -> str:
    """A process that puts elements of memory around those of a stage; gives the queue of all of them."""
    rw, inside = network.rw, stage.writes
    framed = _stream(stage.target, "framed", region, rw)
    desc = rw.uses.desc(around)
    register = rw.fresh_name(f"{plain(stage.target)}_value")
    here = Memlet(register, Subset())
    element, loops = _loops(box, rw)
    tests: list[ScalarExpr] = []
    for (name, values), start, extent in zip(loops, inside.start, inside.extents, strict=True):
        if (values.start.constant, values.size.constant) != (start, extent):
            tests += [op("ge", Index(sym(name)), Index(const(start)))]
            tests += [op("lt", Index(sym(name)), Index(const(start + extent)))]
    new = Region([State(nodes=[Copy(Memlet(queue, Subset()), here, span=stage.node.span)])])
    old = Region([State(nodes=[Copy(Memlet(around, element), here, span=stage.node.span)])])
    condition = reduce(lambda one, more: op("and", one, more), tests)
    last = State(nodes=[Copy(here, Memlet(framed, Subset()), span=stage.node.span)])
    value = Scalar(desc.dtype, transient=True, allocation=Allocation.REGISTER)
    body = Region([Branch([(condition, new)], old), last], {register: value})
    network.add(f"frame_{plain(stage.target)}", loops, body)
    return framed

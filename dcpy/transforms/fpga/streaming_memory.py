"""StreamingMemory: a map that works element by element becomes readers, a pipeline and writers, with queues between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from dcpy.ir.data import Allocation, Array, Scalar, Stream
from dcpy.ir.editing.copying import copy_region
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Loop, Process, Region, State
from dcpy.ir.schedules import SEQUENTIAL, Pipelined
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import const, sym
from dcpy.ir.tree import regions_around
from dcpy.transforms.fpga.stencil_windows import StencilWindow, WindowNames, box_loops, window_body, window_of
from dcpy.transforms.passes import GraphPass

DEPTH = const(2)  #: of a queue between a reader and a pipeline: no path meets another one again


@dataclass(frozen=True)
class StreamedElement:
    """An element that each iteration reads or writes, and the queue through which it goes."""

    memlet: Memlet
    stream: str
    register: str


@dataclass(frozen=True)
class StreamingMemory(GraphPass):
    """Each map whose iterations read and write single elements becomes a network of processes.

    before   map i { y[i] = f(x[i]) }     after   dataflow { process read_x { loop i { x[i] -> xs } }
                                                             process compute { loop i { xs -> a; f(a) -> ys } }
                                                             process write_y { loop i { ys -> y[i] } } }

    Applies where the body is straight-line code on elements. An array that is read and written is copied first: one
    process writes it, and no other may touch it. The order of the elements is that of the loops, on all sides. What
    is read at several places with constant distances is read once, if rows have a number as length (`stencil_windows`).
    """

    name: ClassVar[str] = "streaming-memory"

    def decide(self, rw: Rewriter) -> None:
        """Map by map, those that are in no other one."""
        for node in [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]:
            if node.state is None or _is_inside_a_scope(node):
                continue
            refusal = why_not_streamed(node, rw)
            rw.remark(node, not refusal, str(refusal or "its elements are streamed through queues"))
            if not refusal:
                _stream(node, rw)


def _is_inside_a_scope(node: Map) -> bool:
    """Return whether it runs in another map, or in a process."""
    region = node.state.region if node.state is not None else None
    return region is not None and any(
        isinstance(around.owner, Map | Process) for around in regions_around(region)
    )


def why_not_streamed(node: Map, rw: Rewriter) -> Refusal | None:
    """Return why a map's iterations are no straight-line code on single elements; None where they are."""
    written: dict[str, None] = {}
    for block in node.body.blocks:
        if not isinstance(block, State):
            return Refusal(f"there is a {block.kind} in it")
        for inner in block.nodes:
            if not isinstance(inner, Tasklet | Copy):
                return Refusal(f"there is a {inner.kind} in it")
            if refusal := _of_operands(inner, node, rw, written):
                return refusal
            written |= {memlet.container: None for memlet in inner.writes()}
    outside = [name for name in written if name not in node.body.containers]
    return None if outside else Refusal("it writes nothing")


def _of_operands(inner: Tasklet | Copy, node: Map, rw: Rewriter, written: dict[str, None]) -> Refusal | None:
    for memlet in (*inner.reads(), *inner.writes()):
        desc = rw.uses.desc(memlet.container)
        if memlet.container in node.body.containers:
            if not isinstance(desc, Scalar):
                return Refusal(f"{memlet.container!r} is no scalar of an iteration")
            continue
        if isinstance(desc, Stream) or not memlet.subset.is_point or memlet.wcr or memlet.dynamic:
            return Refusal(f"{memlet} is more than an element")
        is_array = isinstance(desc, Array) and not desc.alias and len(rw.uses.overlapping(memlet.container)) <= 1
        if not is_array and (memlet in inner.writes() or not isinstance(desc, Scalar)):
            return Refusal(f"{memlet.container!r} may share its memory, or is no array")
    again = [memlet for memlet in inner.reads() if memlet.container in written]
    if again and again[0].container not in node.body.containers:
        return Refusal(f"{again[0]} is read behind a write")
    return None


@dataclass
class MapProcesses:
    """The processes that are made of one map."""

    node: Map
    rw: Rewriter
    processes: list[Process] = field(default_factory=list)

    def params(self) -> dict[str, str]:
        """Names for the loops of another process."""
        return {name: self.rw.fresh_name(name) for name in self.node.params}

    def process(self, stem: str, names: dict[str, str], body: Region) -> None:
        """A process that runs a body for each iteration, in order."""
        values = {old: sym(new) for old, new in names.items()}
        dims = [
            (names[param], values_.subs(values))
            for param, values_ in zip(self.node.params, self.node.domain, strict=True)
        ]
        self.add(stem, dims, body)

    def add(self, stem: str, dims: Sequence[tuple[str, Range]], body: Region) -> None:
        """A process that runs a body in loops, of which the innermost one is a pipeline."""
        known = {process.name for process in self.processes}
        name, number = stem, 0
        while name in known:
            number += 1
            name = f"{stem}{number}"
        inner = True
        for param, dim in reversed(dims):
            schedule = Pipelined(1) if inner else SEQUENTIAL
            body = Region([Loop(param, dim, body, schedule, span=self.node.span)])
            inner = False
        self.processes.append(Process(name, (), (), body, span=self.node.span))


def _stream(node: Map, rw: Rewriter) -> None:
    before, state, _ = rw.split_state(node)
    region = state.region
    assert region is not None  # it is in the SDFG
    network = MapProcesses(node, rw)
    reads, writes = ports_of(node, rw, region)
    written = {port.memlet.container for port in writes}
    both = dict.fromkeys(port.memlet.container for port in reads if port.memlet.container in written)
    kept = {name: snapshot(name, rw, before) for name in both}
    for container in dict.fromkeys(port.memlet.container for port in reads):
        ports = [port for port in reads if port.memlet.container == container]
        window = window_of([port.memlet for port in ports], node, rw.uses.ranges_at(node))
        if isinstance(window, Refusal):
            if len(ports) > 1:
                rw.remark(node, False, f"{container!r} is read {len(ports)} times: {window}")
            for port in ports:
                _read(port, kept.get(container, container), network)
        else:
            rw.remark(node, True, f"{container!r} is read once, its window has {window.width} elements")
            _read_once(window, ports, kept.get(container, container), network, region)
    body = computation(copy_region(node.body), rw, reads, writes)
    rw.erase(node)
    network.process("compute", {name: name for name in node.params}, body)
    for port in writes:
        names = network.params()
        copy = Copy(Memlet(port.stream, Subset()), renamed(port.memlet, names), span=node.span)
        network.process(f"write_{plain(port.memlet.container)}", names, Region([State(nodes=[copy])]))
    rw.replace(state, Dataflow(Region(network.processes), span=node.span))


def _read(port: StreamedElement, source: str, network: MapProcesses) -> None:
    """A reader for what each iteration reads at one place."""
    names = network.params()
    copy = Copy(renamed(replace(port.memlet, container=source), names), Memlet(port.stream, Subset()))
    copy.span = network.node.span
    network.process(f"read_{plain(port.memlet.container)}", names, Region([State(nodes=[copy])]))


def _read_once(
    window: StencilWindow, ports: Sequence[StreamedElement], source: str, network: MapProcesses, region: Region
) -> None:
    """A reader for each element of an array once, and a process with a shift register that has those in reach."""
    rw, node, stem = network.rw, network.node, plain(ports[0].memlet.container)
    desc = rw.uses.desc(ports[0].memlet.container)
    queue = rw.declare_fresh(f"{stem}_in_order", Stream(desc.dtype, (), DEPTH, span=desc.span), region)
    element, loops = box_loops(window.start, window.box, [rw.fresh_name(param) for param in node.params])
    body = Region([State(nodes=[Copy(Memlet(source, element), Memlet(queue, Subset()), span=node.span)])])
    network.add(f"read_{stem}", loops, body)
    add_window(window, ports, queue, network)


def add_window(window: StencilWindow, ports: Sequence[StreamedElement], queue: str, network: MapProcesses) -> None:
    """A process with a shift register, between the elements of a box in their order and the taps of each iteration."""
    rw, node, stem = network.rw, network.node, plain(ports[0].memlet.container)
    desc = rw.uses.desc(ports[0].memlet.container)
    counts = 2 * len(node.params) + 1
    names = WindowNames(
        rw.fresh_name(f"{stem}_window"),
        tuple(rw.fresh_name("at") for _ in range(counts)),
        tuple(rw.fresh_name("place") for _ in range(counts)),
    )
    inside = window_body(window, desc.dtype, queue, [port.stream for port in ports], names)
    network.add(f"window_{stem}", [], inside)


def ports_of(node: Map, rw: Rewriter, region: Region) -> tuple[list[StreamedElement], list[StreamedElement]]:
    """The elements of arrays that an iteration reads, and those that it writes, each once."""
    reads: dict[Memlet, StreamedElement] = {}
    writes: dict[Memlet, StreamedElement] = {}
    for block in node.body.blocks:
        for inner in block.nodes if isinstance(block, State) else ():
            for table, end, memlets in ((reads, "read", inner.reads()), (writes, "written", inner.writes())):
                for memlet in memlets:
                    desc = rw.uses.desc(memlet.container)
                    if isinstance(desc, Array) and memlet not in table:
                        stem = plain(memlet.container)
                        stream = Stream(desc.dtype, (), DEPTH, span=desc.span)
                        name = rw.declare_fresh(f"{stem}_{end}", stream, region)
                        table[memlet] = StreamedElement(memlet, name, rw.fresh_name(f"{stem}_value"))
    return list(reads.values()), list(writes.values())


def plain(container: str) -> str:
    """A name as those of modules are."""
    return re.sub("__+", "_", container).strip("_")[:24]


def snapshot(name: str, rw: Rewriter, before: State) -> str:
    """A copy of an array as it is before the map, in the memory beside the chip."""
    desc = rw.uses.desc(name)
    assert isinstance(desc, Array)  # `why_not_streamed` let nothing else pass
    fresh = Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span)
    kept = rw.declare_fresh(f"{plain(name)}_before", replace(fresh, allocation=Allocation.HEAP), before.region)
    whole = Subset(tuple(Range.of(0, size) for size in desc.shape))
    rw.add_node(Copy(Memlet(name, whole), Memlet(kept, whole)), before)
    return kept


def renamed(memlet: Memlet, names: dict[str, str]) -> Memlet:
    """A memlet in loops with other variables."""
    return replace(memlet, subset=memlet.subset.subs({old: sym(new) for old, new in names.items()}))


def computation(
    body: Region, rw: Rewriter, reads: Sequence[StreamedElement], writes: Sequence[StreamedElement]
) -> Region:
    """A copy of the body of a map, made to stand between pops and pushes: what it reads and writes are registers."""
    span = next((inner.span for inner in body.walk_nodes()), None)
    taken = {port.memlet: port for port in reads}
    given = {port.memlet: port for port in writes}
    for inner in body.walk_nodes():
        match inner:
            case Tasklet():
                inner.inputs = {name: _of_register(memlet, taken) for name, memlet in inner.inputs.items()}
                inner.outputs = {name: _of_register(memlet, given) for name, memlet in inner.outputs.items()}
            case Copy():
                inner.src, inner.dst = _of_register(inner.src, taken), _of_register(inner.dst, given)
    for name, desc in list(body.containers.items()):
        assert isinstance(desc, Scalar)  # `why_not_streamed` let nothing else pass
        body.containers[name] = replace(desc, allocation=Allocation.REGISTER)
    for port in (*reads, *writes):
        dtype = rw.uses.desc(port.memlet.container).dtype
        body.containers[port.register] = Scalar(dtype, transient=True, allocation=Allocation.REGISTER)
    pops = [Copy(Memlet(port.stream, Subset()), Memlet(port.register, Subset()), span=span) for port in reads]
    pushes = [Copy(Memlet(port.register, Subset()), Memlet(port.stream, Subset()), span=span) for port in writes]
    if pops:
        body.insert(0, State(nodes=list(pops)))
    body.add(State(nodes=list(pushes)))
    return body


def _of_register(memlet: Memlet, ports: dict[Memlet, StreamedElement]) -> Memlet:
    port = ports.get(memlet)
    return memlet if port is None else Memlet(port.register, Subset())

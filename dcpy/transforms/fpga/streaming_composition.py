"""StreamingComposition: networks one behind the other become one, and what goes between them goes through a queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.access import MemoryAccess
from dcpy.ir.analysis.access_orders import same_order
from dcpy.ir.analysis.access_relations import accesses_in
from dcpy.ir.analysis.effects import effects_of
from dcpy.ir.data import Array, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Copy
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Loop, Process, State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import const
from dcpy.ir.tree import Element, subtree
from dcpy.transforms.passes import GraphPass

Touched = list[tuple[Process, MemoryAccess]]


@dataclass(frozen=True)
class StreamingComposition(GraphPass):
    """Joins neighbouring networks, if what one hands to the other comes and is taken in the same order.

    before   dataflow { ...; process write_t { loop i { ts -> t[i] } } }
             dataflow { process read_t { loop j { t[j] -> us } }; ... us ... }
    after    dataflow { ...;  ... ts ... }

    Orders are compared as access relations: the loops may be cut and named differently. An array on the way is a
    transient that nobody else sees. Networks that share nothing run at the same time. Declines where paths would part
    and meet again: how deep their queues must be would depend on sizes.
    """

    name: ClassVar[str] = "streaming-composition"

    def decide(self, rw: Rewriter) -> None:
        """Region by region, from the first network on, as far as it goes."""
        for region in list(rw.sdfg.body.walk_regions()):
            first: Dataflow | None = None
            for block in list(region.blocks):
                if isinstance(block, State) and (first is None or _goes_before(block, first, rw)):
                    continue
                if not isinstance(block, Dataflow):
                    first = None
                elif first is None:
                    first = block
                else:
                    handed = _handed_over(first, block, rw)
                    rw.remark(block, not isinstance(handed, Refusal), _told(handed))
                    if isinstance(handed, Refusal):
                        first = block
                    else:
                        _join(first, block, handed, rw)


@dataclass(frozen=True, slots=True)
class HandOver:
    """An array between two networks: who writes it, and who reads it."""

    container: str
    writer: Process
    reader: Process


def _goes_before(state: State, network: Dataflow, rw: Rewriter) -> bool:
    """Whether what the host does behind a network shares nothing with it; then it is done in front."""
    theirs = {name for _, access in _touched(network, rw) for name in rw.uses.overlapping(access.root)}
    mine: set[str] = set()
    for node in state.nodes:
        if effects_of(node):
            return False
        for element in subtree(node):
            touched = rw.uses.touches(element)
            mine |= {*map(rw.uses.root, (*touched.reads, *touched.writes))}
    if theirs & mine:
        return False
    if state.nodes:
        region = network.region
        assert region is not None  # it is in the SDFG
        rw.move_blocks([state], region, region.index(network))
    return True


def _told(handed: list[HandOver] | Refusal) -> str:
    if isinstance(handed, Refusal):
        return str(handed)
    names = ", ".join(repr(one.container) for one in handed)
    return f"{names} comes through a queue" if names else "it runs at the same time as the network before"


def _processes(block: Dataflow) -> list[Process]:
    return [inner for inner in block.body.blocks if isinstance(inner, Process)]


def _handed_over(first: Dataflow, second: Dataflow, rw: Rewriter) -> list[HandOver] | Refusal:
    """What goes from one network to the next one; or why they stay apart."""
    if any(_may_fail(element) for element in subtree(first)):
        return Refusal("what the network before checks must hold first")
    ours, theirs = list(_touched(first, rw)), list(_touched(second, rw))
    written = {one.memory for _, one in ours if one.is_write}
    read = {one.memory for _, one in ours if not one.is_write}
    found: dict[str, HandOver] = {}
    for process, access in theirs:
        if access.memory in written and not access.is_write and access.memory not in found:
            handed = _hand_over(access, process, ours, theirs, rw)
            if isinstance(handed, Refusal):
                return handed
            found[access.memory] = handed
        elif access.is_write and access.memory in written | read:
            return Refusal(f"{access.root!r} is written in one of them, and touched in the other one")
    if again := _meets_again(first, second, list(found.values()), rw):
        return Refusal(f"two paths would meet again in {again!r}")
    return list(found.values())


def _may_fail(element: Element) -> bool:
    """Whether it raises an exception itself; that a network may get stuck is not meant."""
    return not isinstance(element, Dataflow) and bool(element.effects & Effect.MAY_RAISE)


def _touched(block: Dataflow, rw: Rewriter) -> Iterator[tuple[Process, MemoryAccess]]:
    """What processes do with memory and with variables of the host."""
    for process in _processes(block):
        for access in accesses_in(process, rw.uses):
            if not isinstance(rw.uses.desc(access.root), Stream):
                yield process, access


def _hand_over(
    access: MemoryAccess, reader: Process, ours: Touched, theirs: Touched, rw: Rewriter
) -> HandOver | Refusal:
    """An array that the first network writes and the second one reads, through one access each."""
    name, desc = access.root, rw.uses.desc(access.root)
    writers = [one for one in ours if one[1].memory == access.memory]
    readers = [one for one in theirs if one[1].memory == access.memory]
    if not isinstance(desc, Array) or not rw.uses.is_private(name) or rw.uses.views_of(name):
        return Refusal(f"{name!r} is seen by others")
    if len(writers) != 1 or len(readers) != 1:
        return Refusal(f"{name!r} is written in {len(writers)} places, and read in {len(readers)}")
    elements = (*rw.uses.readers(name), *rw.uses.writers(name))
    if len(dict.fromkeys(elements)) != 2:
        return Refusal(f"{name!r} is needed in another place, too")
    ((writer, written),) = writers
    for one in (written, access):
        if not isinstance(one.place, Copy) or not one.is_sure() or one.subset is None or one.run_time:
            return Refusal(f"{one.memlet} is no plain access of a reader or writer")
    mine, its = _loops(written), _loops(access)
    assert written.subset is not None
    assert access.subset is not None
    if mine is None or its is None:
        return Refusal(f"the loops around {name!r} are not known")
    ranges = rw.uses.ranges_at(reader)
    if refusal := same_order(written.subset, mine, access.subset, its, ranges):
        return Refusal(f"{name!r}: {refusal}")
    return HandOver(name, writer, reader)


def _loops(access: MemoryAccess) -> list[tuple[str, Range]] | None:
    variables = [variable for scope in access.scopes for variable in scope.variables]
    return None if any(dim is None for _, dim in variables) else [(n, dim) for n, dim in variables if dim is not None]


def _meets_again(first: Dataflow, second: Dataflow, handed: list[HandOver], rw: Rewriter) -> str:
    """The process in which paths would meet that part in another one: then processes and queues are no tree."""
    root: dict[Process, Process] = {}

    def find(process: Process) -> Process:
        while process in root:
            process = root[process]
        return process

    for block in (first, second):
        ends: dict[str, Process] = {}
        for process in _processes(block):
            for name in dict.fromkeys(_streams(process, rw)):
                other = find(ends.setdefault(name, process))
                if other is not find(process):
                    root[find(process)] = other
    for one in handed:
        ours, theirs = find(one.writer), find(one.reader)
        if ours is theirs:
            return one.reader.name
        root[theirs] = ours
    return ""


def _streams(process: Process, rw: Rewriter) -> Iterator[str]:
    for element in subtree(process):
        for memlet in (*element.reads(), *element.writes()):
            if isinstance(rw.uses.desc(memlet.container), Stream):
                yield memlet.container


def _join(first: Dataflow, second: Dataflow, handed: list[HandOver], rw: Rewriter) -> None:
    for one in handed:
        _connect(one, second, rw)
    names = {process.name for process in _processes(first)}
    for process in _processes(second):
        if (name := _unused(process.name, names)) != process.name:
            rw.update(process, name=name)
        names.add(name)
    rw.hoist_containers(second.body, first.body)
    rw.move_blocks(list(second.body.blocks), first.body)
    rw.erase(second)
    rw.undeclare_unused([one.container for one in handed])


def _unused(name: str, names: set[str]) -> str:
    number, found = 0, name
    while found in names:
        number += 1
        found = f"{name}{number}"
    return found


def _connect(one: HandOver, second: Dataflow, rw: Rewriter) -> None:
    """The queue of the writer is that of the reader; who gives an element several times goes on doing so."""
    given = _copy(one.writer, one.container)
    taken = _copy(one.reader, one.container)
    source = given.src
    if (burst := _burst(one.writer)) > 1:
        stream = rw.uses.desc(source.container)
        assert isinstance(stream, Stream)  # a writer pops what it writes
        rw.redeclare(source.container, replace(stream, capacity=const(burst)))
    rw.erase(one.writer)
    queue = taken.dst.container
    if not isinstance(rw.uses.desc(queue), Stream) or taken.dst.subset.dims or source.subset.dims:
        rw.update(taken, src=source)  # queues of an array are named by numbers: the reader hands tokens on
        return
    rw.erase(one.reader)
    for element in list(subtree(second.body)):
        if queue in {memlet.container for memlet in (*element.reads(), *element.writes())}:
            rw.substitute(element, Substitution(containers={queue: source.container}))
    rw.undeclare_unused([queue])


def _burst(writer: Process) -> int:
    """How many elements come at once: those of a tile, if there are some. A queue has them while the next starts."""
    loops = [block for block in writer.body.walk_blocks() if isinstance(block, Loop)]
    return max((loop.range.step.constant or 1 for loop in loops), default=1) if len(loops) > 1 else 1


def _copy(process: Process, container: str) -> Copy:
    """The node of a reader or writer that goes to memory."""
    for element in subtree(process):
        if isinstance(element, Copy) and container in (element.src.container, element.dst.container):
            return element
    raise AssertionError(f"{process.name} does not copy {container}")


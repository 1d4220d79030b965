"""ReadBroadcast: data that two processes of a network read in one order is read once, and sent to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.polyhedral.traversal_order import same_order
from dcpy.ir.data import Allocation, Array, Scalar, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Dataflow, Loop, Process, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import subtree
from dcpy.transforms.fpga.reconvergent_paths import are_connected
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class Reader:
    """A process that gives elements of an array to a queue, once each time its loops run."""

    process: Process
    loops: tuple[tuple[str, Range], ...]
    copy: Copy

    @property
    def array(self) -> str:
        return self.copy.src.container

    @property
    def queue(self) -> str:
        return self.copy.dst.container


@dataclass(frozen=True)
class ReadBroadcast(GraphPass):
    """Readers of one array that give the same elements in the same order become one, and a tee behind it.

    before   process read_x { loop i { x[i] -> us } };  process read_x1 { loop j { x[j] -> vs } }
    after    process read_x { loop i { x[i] -> xs } };  process tee_x { loop k { xs -> v;  v -> us;  v -> vs } }

    Applies where nothing else connects the processes that take the elements. Otherwise paths would part in the tee and
    join again, and the necessary depths of their queues would depend on sizes. Orders are compared as access relations.
    """

    name: ClassVar[str] = "read-broadcast"

    def decide(self, rw: Rewriter) -> None:
        """Network by network, array by array; those of more dimensions first, for they are larger, mostly."""
        for block in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Dataflow)]:
            by_array: dict[str, list[Reader]] = {}
            for process in [inner for inner in block.body.blocks if isinstance(inner, Process)]:
                if reader := _reader(process, rw):
                    by_array.setdefault(reader.array, []).append(reader)
            for readers in sorted(by_array.values(), key=lambda readers: -len(rw.uses.desc(readers[0].array).shape)):
                _share(readers, block, rw)


def _reader(process: Process, rw: Rewriter) -> Reader | None:
    """Return the reader that a process is if it only copies elements of an array to a queue; None otherwise."""
    loops: list[tuple[str, Range]] = []
    region = process.body
    while len(region.blocks) == 1 and not process.params:
        (block,) = region.blocks
        match block:
            case Loop(param=param, range=values, body=body):
                loops.append((param, values))
                region = body
            case State(nodes=[Copy(src=src, dst=dst) as copy]) if loops:
                from_array = isinstance(rw.uses.desc(src.container), Array) and src.subset.is_point
                stream = rw.uses.desc(dst.container)
                to_queue = isinstance(stream, Stream) and not stream.shape and not stream.token
                return Reader(process, tuple(loops), copy) if from_array and to_queue else None
            case _:
                return None
    return None


def _share(readers: list[Reader], block: Dataflow, rw: Rewriter) -> None:
    left = list(readers)
    while left:
        first, *left = left
        same: list[Reader] = []
        for other in left:
            refusal = _why_not(first, [first, *same], other, block, rw)
            told = f"{first.array!r} is read by {first.process.name!r}, too: "
            rw.remark(other.process, not refusal, told + str(refusal or "a tee passes it to both"))
            if not refusal:
                same.append(other)
        left = [other for other in left if other not in same]
        if same:
            _tee(first, same, block, rw)


def _why_not(
    first: Reader, together: Sequence[Reader], other: Reader, block: Dataflow, rw: Rewriter
) -> Refusal | None:
    """Return why two readers stay two."""
    processes = [inner for inner in block.body.blocks if isinstance(inner, Process)]
    for one in together:
        if are_connected(processes, _taker(one, processes, rw), _taker(other, processes, rw), rw.uses):
            return Refusal("two paths would split at a tee and join again")
    if _is_same_nest(first, other):
        return None
    mine, its = first.copy.src.subset, other.copy.src.subset
    return same_order(mine, list(first.loops), its, list(other.loops), rw.uses.ranges_at(other.process))


def _is_same_nest(one: Reader, other: Reader) -> bool:
    """Return whether they differ in the names of their variables alone."""
    if len(one.loops) != len(other.loops):
        return False
    names = {mine: sym(its) for (mine, _), (its, _) in zip(one.loops, other.loops, strict=True)}
    ranges = zip(one.loops, other.loops, strict=True)
    alike = all(mine.subs(names) == its for (_, mine), (_, its) in ranges)
    return alike and one.copy.src.subset.subs(names) == other.copy.src.subset


def _taker(reader: Reader, processes: Sequence[Process], rw: Rewriter) -> Process:
    """Return the process that pops what a reader pushes."""
    for process in processes:
        if process is not reader.process:
            for element in subtree(process):
                if any(memlet.container == reader.queue for memlet in (*element.reads(), *element.writes())):
                    return process
    return reader.process


def _tee(first: Reader, others: Sequence[Reader], block: Dataflow, rw: Rewriter) -> None:
    """The first reader goes on, to a queue of its own; the tee pops from that, and pushes to all."""
    desc = rw.uses.desc(first.queue)
    assert isinstance(desc, Stream)  # a reader pushes to it
    region = rw.uses.home(first.queue)
    queue = Memlet(rw.declare_fresh(f"{first.queue}_once", desc, region), Subset())
    names = {name: rw.fresh_name(name) for name, _ in first.loops}
    values = {name: sym(fresh) for name, fresh in names.items()}
    held = rw.fresh_name(f"{first.queue}_held")
    register = Memlet(held, Subset())
    takers = [first.queue, *(other.queue for other in others)]
    span = first.copy.span
    copies = [Copy(queue, register, span=span), *(Copy(register, Memlet(name, Subset()), span=span) for name in takers)]
    element = Scalar(desc.dtype, transient=True, allocation=Allocation.REGISTER)
    body = Region([State(nodes=list(copies))], {held: element})
    for name, dim in reversed(first.loops):
        loop: Block = Loop(names[name], dim.subs(values), body, span=first.process.span)
        body = Region([loop])
    tee = Process(_title(first, block), (), (), body, span=first.process.span)
    rw.update(first.copy, dst=queue)
    rw.insert_after(first.process, tee)
    for other in others:
        rw.erase(other.process)


def _title(first: Reader, block: Dataflow) -> str:
    known = {inner.name for inner in block.body.blocks if isinstance(inner, Process)}
    stem = f"tee_{first.process.name.removeprefix('read_')}"
    name, number = stem, 0
    while name in known:
        number += 1
        name = f"{stem}{number}"
    return name

"""DecoupleMemory: a process that goes to memory leaves that to readers and writers, which run ahead and behind."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.polyhedral.footprints import Variable
from dcpy.ir.data import Allocation, Array, Scalar, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Loop, Process, Region, State
from dcpy.ir.schedules import SEQUENTIAL, UNROLLED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import const, sym
from dcpy.ir.tree import subtree
from dcpy.transforms.fpga.streaming_memory import DEPTH
from dcpy.transforms.maps.map_to_for_loop import as_loops
from dcpy.transforms.passes import GraphPass

WRITTEN_OUT = 64  #: tokens at most that a reader gives in one iteration of a pipeline


@dataclass(frozen=True)
class DecoupleMemory(GraphPass):
    """Each element that a process alone reads or writes goes through a queue of its own.

    before   process a { loop t { loop k { loop l = 0:T { s[l] (add) <- A[t + l, k] * x[k] } } } }
    after    process read_A { loop t { loop k { loop l = 0:T { A[t + l, k] -> As } } } }
             process read_x { loop t { loop k { x[k] -> v;  loop u = 0:T @unrolled { v -> xs } } } }
             process a { loop t { loop k { loop l = 0:T { s[l] (add) <- As * xs } } } }

    Applies where loops alone say how often each access happens. An array that is written is touched by nothing else.
    What does not change in the innermost loops is read once, and given as often as they run.
    """

    name: ClassVar[str] = "decouple-memory"

    def decide(self, rw: Rewriter) -> None:
        """Block by block, those of one process."""
        for block in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Dataflow)]:
            processes = [inner for inner in block.body.blocks if isinstance(inner, Process)]
            if len(processes) != 1 or processes[0].params:
                continue
            found = _accesses(processes[0], rw)
            refusal = found if isinstance(found, Refusal) else None
            rw.remark(processes[0], refusal is None, str(refusal or "separate processes read and write memory for it"))
            if not isinstance(found, Refusal):
                _decouple(block, processes[0], rw)


def _accesses(process: Process, rw: Rewriter) -> list[MemoryAccess] | Refusal:
    """Return the accesses of a process to arrays outside."""
    for element in subtree(process):
        if not isinstance(element, Process | State | Loop | Map | Tasklet | Copy):
            return Refusal(f"there is a {element.kind} in it")
    found = [one for one in accesses_in(process, rw.uses) if isinstance(rw.uses.desc(one.root), Array)]
    written = [one.memory for one in found if one.is_write]
    for access in found:
        if refusal := _why_not(access, found, written):
            return refusal
    return found if written and len(found) > 1 else Refusal("there is nothing to decouple")


def _why_not(access: MemoryAccess, found: list[MemoryAccess], written: list[str]) -> Refusal | None:
    memlet, place = access.memlet, access.place
    if access.mode is Mode.COMBINE or memlet.dynamic or not access.is_sure() or access.varying_symbols:
        return Refusal(f"{memlet} is not accessed in each iteration exactly once")
    if not memlet.subset.is_point or not isinstance(place, Tasklet | Copy):
        return Refusal(f"{memlet} is more than an element")
    if memlet.container != access.root:
        return Refusal(f"{memlet} is accessed through a view")
    if access.memory in written and (not access.is_write or written.count(access.memory) > 1):
        return Refusal(f"{access.root!r} is written, and accessed in another place")
    if any(values is None for _, values in _variables(access)):
        return Refusal(f"how often {memlet} happens is not known")
    same = [one for one in found if one.place is place and one.memlet == memlet]
    return Refusal(f"{memlet} is read twice at once") if len(same) > 1 else None


def _variables(access: MemoryAccess) -> list[Variable]:
    return [variable for scope in access.scopes for variable in scope.variables]


@dataclass
class _ProcessEnds:
    """Readers and writers of one process."""

    block: Dataflow
    rw: Rewriter
    names: set[str] = field(default_factory=set)
    readers: list[Process] = field(default_factory=list)
    writers: list[Process] = field(default_factory=list)

    def title(self, stem: str) -> str:
        name, number = stem, 0
        while name in self.names:
            number += 1
            name = f"{stem}{number}"
        self.names.add(name)
        return name


def _decouple(block: Dataflow, process: Process, rw: Rewriter) -> None:
    _as_loops(process, rw)
    ends = _ProcessEnds(block, rw, {process.name})
    found = _accesses(process, rw)
    assert not isinstance(found, Refusal)  # loops are what maps were
    for access in found:
        _through_a_queue(access, ends)
    for reader in ends.readers:
        rw.insert(reader, block.body, 0)
    for writer in ends.writers:
        rw.insert(writer, block.body)


def _as_loops(process: Process, rw: Rewriter) -> None:
    """Iterations of maps in their order: tokens come one after the other."""
    while maps := [node for node in process.body.walk_nodes() if isinstance(node, Map)]:
        as_loops(maps[0], rw)


def _through_a_queue(access: MemoryAccess, ends: _ProcessEnds) -> None:
    """A queue in place of the memory, and a process at its other end."""
    rw, memlet = ends.rw, access.memlet
    region = ends.block.region
    assert region is not None  # it is in the SDFG
    desc = rw.uses.desc(access.root)
    verb, stem = ("written", "write") if access.is_write else ("read", "read")
    stream = rw.declare_fresh(f"{plain(access.root)}_{verb}", Stream(desc.dtype, (), DEPTH, span=desc.span), region)
    queue = Memlet(stream, Subset())
    place = access.place
    assert isinstance(place, Tasklet | Copy)
    here = queue if access.is_write else _popped(access, queue, ends)
    rw.replace_memlets(place, lambda one: here if one == memlet else one)
    variables = [(name, values) for name, values in _variables(access) if values is not None]
    times, variables = (1, variables) if access.is_write else _repeats(memlet, variables)
    names = {name: rw.fresh_name(name) for name, _ in variables}
    fresh = {name: sym(other) for name, other in names.items()}
    there = replace(memlet, subset=memlet.subset.subs(fresh))
    ends_here = Copy(queue, there, span=place.span) if access.is_write else Copy(there, queue, span=place.span)
    body = Region([State(nodes=[ends_here])]) if times == 1 else _repeated(there, queue, times, ends)
    for name, values in reversed(variables):
        body = Region([Loop(names[name], values.subs(fresh), body, span=place.span)])
    process = Process(ends.title(f"{stem}_{plain(access.root)}"), (), (), body, span=place.span)
    (ends.writers if access.is_write else ends.readers).append(process)


def _popped(access: MemoryAccess, queue: Memlet, ends: _ProcessEnds) -> Memlet:
    """A register that has the next token when a node runs."""
    rw, place = ends.rw, access.place
    assert isinstance(place, Tasklet | Copy)
    assert place.state is not None
    desc = Scalar(rw.uses.desc(access.root).dtype, transient=True, allocation=Allocation.REGISTER)
    register = Memlet(rw.declare_fresh(f"{plain(access.root)}_value", desc, place.state.region), Subset())
    rw.add_node_before(place, Copy(queue, register, span=place.span))
    return register


def _repeats(memlet: Memlet, variables: list[tuple[str, Range]]) -> tuple[int, list[tuple[str, Range]]]:
    """Return how often an element is repeated in a row, and the loops in which it changes."""
    times, left = 1, list(variables)
    while len(left) > 1:
        name, values = left[-1]
        count = values.size.constant
        if name in memlet.subset.symbols or not count:
            break
        times *= count
        left.pop()
    return times, left


def _repeated(source: Memlet, queue: Memlet, times: int, ends: _ProcessEnds) -> Region:
    """Read an element once, and give it so many times."""
    rw = ends.rw
    dtype = rw.uses.desc(source.container).dtype
    held, count = rw.fresh_name(f"{plain(source.container)}_held"), rw.fresh_name("times")
    register = Memlet(held, Subset())
    again = Region([State(nodes=[Copy(register, queue)])])
    loop = Loop(count, Range.of(0, const(times)), again, UNROLLED if times <= WRITTEN_OUT else SEQUENTIAL)
    desc = Scalar(dtype, transient=True, allocation=Allocation.REGISTER)
    return Region([State(nodes=[Copy(source, register)]), loop], {held: desc})


def plain(container: str) -> str:
    """A name as those of modules are."""
    return re.sub("__+", "_", container).strip("_")[:24]

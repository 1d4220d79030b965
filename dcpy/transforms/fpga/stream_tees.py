"""Stream tees: connections between networks where several take an array, parts of it, and on-chip memory that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from dcpy.ir.data import Allocation, Array, Scalar, Space, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import ScalarExpr, op, substitute_symbols
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Block, Branch, Dataflow, Loop, Process, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, const, sym
from dcpy.ir.tree import subtree
from dcpy.transforms.fpga.inter_kernel_fifos import FifoKind, InterKernelFifo, InterKernelFifos, processes_of
from dcpy.transforms.fpga.streaming_memory import DEPTH, plain


def connect(found: InterKernelFifos, first: Dataflow, second: Dataflow, rw: Rewriter) -> None:
    """Take each array from the queue of its writer to its readers, and to memory if it is needed there.

    The last reader of an array that is not stored gets the writer's queue; in front of others is a tee.
    """
    for number, one in enumerate(found.arrays):
        goes_on = one.container in found.stored or any(
            other.container == one.container for other in found.arrays[number + 1 :]
        )
        queue = one.writer_copy.src
        _widen(one, queue, rw)
        if goes_on or one.way is FifoKind.IN_PART:
            queue = _passed_on(one, first, goes_on=goes_on, rw=rw)
        if not goes_on:
            rw.erase(one.writer)
        if one.way is FifoKind.HELD:
            _hold(one, queue, rw)
        else:
            _take(one, queue, second, rw)
    rw.undeclare_unused(dict.fromkeys(one.container for one in found.arrays))


def _stream(queue: Memlet, rw: Rewriter) -> Stream:
    stream = rw.uses.desc(queue.container)
    assert isinstance(stream, Stream)  # a writer pops what it writes
    return stream


def _widen(one: InterKernelFifo, queue: Memlet, rw: Rewriter) -> None:
    """Elements that come at once, those of a tile, are in the queue while the next ones start."""
    loops = [block for block in one.writer.body.walk_blocks() if isinstance(block, Loop)]
    burst = max((loop.range.step.constant or 1 for loop in loops), default=1) if len(loops) > 1 else 1
    if burst > 1:
        rw.redeclare(queue.container, replace(_stream(queue, rw), capacity=const(burst)))


def _passed_on(one: InterKernelFifo, first: Dataflow, *, goes_on: bool, rw: Rewriter) -> Memlet:
    """A process in front of the writer, which gives a reader its elements, and all of them to the writer if that stays.

    Returns the reader's queue.
    """
    source, stem = one.writer_copy.src, plain(one.container)
    desc = replace(_stream(source, rw), shape=(), capacity=DEPTH)
    region = rw.uses.home(source.container)
    queue = Memlet(rw.declare_fresh(f"{stem}_handed", desc, region), Subset())
    outputs: list[tuple[Memlet, tuple[ScalarExpr, ...]]] = [(queue, one.tests)]
    if goes_on:
        stored = Memlet(rw.declare_fresh(f"{stem}_stored", desc, region), Subset())
        outputs.append((stored, ()))
        rw.update(one.writer_copy, src=stored)
    name = unused(f"tee_{stem}" if goes_on else f"part_of_{stem}", {process.name for process in processes_of(first)})
    register = Scalar(desc.dtype, transient=True, allocation=Allocation.REGISTER)
    held = rw.fresh_name(f"{stem}_token")
    names = _fresh_variables(one, rw)
    blocks = _pushes(Memlet(held, Subset()), source, outputs, {old: sym(new) for old, new in names.items()}, one)
    body = _loops(one, names, Region(blocks, {held: register}))
    rw.insert_before(one.writer, Process(name, (), (), body, span=one.writer.span))
    return queue


def _pushes(
    register: Memlet,
    source: Memlet,
    outputs: Sequence[tuple[Memlet, tuple[ScalarExpr, ...]]],
    values: Mapping[str, Expr],
    one: InterKernelFifo,
) -> list[Block]:
    """Pop a token, and push it to each queue whose tests hold."""
    blocks: list[Block] = [State(nodes=[Copy(source, register, span=one.writer_copy.span)])]
    for queue, tests in outputs:
        push = State(nodes=[Copy(register, queue, span=one.reader_copy.span)])
        if tests:
            condition = reduce(lambda left, right: op("and", left, right), tests)
            blocks.append(Branch([(substitute_symbols(condition, values), Region([push]))]))
        else:
            blocks.append(push)
    return blocks


def _fresh_variables(one: InterKernelFifo, rw: Rewriter) -> dict[str, str]:
    return {name: rw.fresh_name(name) for name, _ in one.loops}


def _loops(one: InterKernelFifo, names: dict[str, str], body: Region) -> Region:
    """The writer's loops around a body, with these variables."""
    values = {old: sym(new) for old, new in names.items()}
    for name, dim in reversed(one.loops):
        body = Region([Loop(names[name], dim.subs(values), body, span=one.writer.span)])
    return body


def _hold(one: InterKernelFifo, queue: Memlet, rw: Rewriter) -> None:
    """The reader takes all elements into memory on the chip first, and then from there."""
    desc = rw.uses.desc(one.container)
    assert isinstance(desc, Array)  # `inter_kernel_fifos` asked
    memory = replace(
        Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span),
        space=Space.LOCAL,
        allocation=Allocation.BRAM,
    )
    name = rw.declare_fresh(f"{plain(one.container)}_held", memory, one.reader.body)
    names = _fresh_variables(one, rw)
    there = one.writer_copy.dst.subset.subs({old: sym(new) for old, new in names.items()})
    fill = Region([State(nodes=[Copy(queue, Memlet(name, there), span=one.writer_copy.span)])])
    for block in _loops(one, names, fill).blocks:
        rw.insert(block, one.reader.body, 0)
    rw.update(one.reader_copy, src=Memlet(name, one.reader_copy.src.subset))


def _take(one: InterKernelFifo, queue: Memlet, second: Dataflow, rw: Rewriter) -> None:
    """The queue is that of the reader; one that gives an element several times goes on doing so."""
    own = one.reader_copy.dst
    if not isinstance(rw.uses.desc(own.container), Stream) or own.subset.dims or queue.subset.dims:
        rw.update(one.reader_copy, src=queue)  # queues of an array are named by numbers: the reader hands tokens on
        return
    rw.erase(one.reader)
    for element in list(subtree(second.body)):
        if own.container in {memlet.container for memlet in (*element.reads(), *element.writes())}:
            rw.substitute(element, Substitution(containers={own.container: queue.container}))
    rw.undeclare_unused([own.container])


def unused(name: str, names: set[str]) -> str:
    """The name, with a number where it is taken."""
    number, found = 0, name
    while found in names:
        number += 1
        found = f"{name}{number}"
    return found

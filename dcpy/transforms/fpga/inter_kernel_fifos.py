"""Inter-kernel FIFOs: an array that one network writes and the next one reads goes through queues between them.

It goes as it comes, if it is taken in the order in which it is written (`traversal_order`). Of what is taken in that
order, too, but not all of it, a part goes on. What is taken in any other order is held on the chip, if it fits there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.polyhedral.traversal_order import same_order, within
from dcpy.ir.data import Array, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.nodes import Copy
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Process
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, Ranges, max_of, min_of, sym
from dcpy.ir.tree import Element, subtree
from dcpy.transforms.fpga.reconvergent_paths import reconvergences
from dcpy.transforms.fpga.stencil_windows import offset_of

MOST_HELD = 1 << 14  #: elements of an array that is held on the chip
MOST_MOVED = 1 << 17  #: accesses of networks that are joined where paths meet: a replay has to follow all of them

Loops = list[tuple[str, Range]]


class FifoKind(Enum):
    """Connection between the writer's queue and the reader's."""

    AS_IT_COMES = "comes through a queue"
    IN_PART = "comes through a queue in part"
    HELD = "comes through a queue, and is held on the chip"


@dataclass(frozen=True, slots=True)
class InterKernelFifo:
    """An array between two networks: the loops that write it, the loops that read it, and the elements."""

    container: str
    writer: Process
    writer_copy: Copy
    loops: tuple[tuple[str, Range], ...]
    reader: Process
    reader_copy: Copy
    way: FifoKind
    tests: tuple[ScalarExpr, ...] = ()  #: of the writer's variables: whether the reader takes the element


@dataclass(frozen=True, slots=True)
class InterKernelFifos:
    """All that goes from one network to the next one, and what has to be done for it."""

    arrays: tuple[InterKernelFifo, ...]
    stored: frozenset[str]  #: of these arrays, those that others need, too
    kept: tuple[str, ...]  #: arrays that the first network reads and the second one writes
    meet: bool  #: paths part and meet again


def fifos_between(first: Dataflow, second: Dataflow, rw: Rewriter) -> InterKernelFifos | Refusal:
    """Return the queues from one network to the next one; or why they stay apart."""
    if any(_may_fail(element) for element in subtree(first)):
        return Refusal("the checks of the network before it must pass first")
    ours, theirs = list(accessed(first, rw)), list(accessed(second, rw))
    written = {one.memory for _, one in ours if one.is_write}
    read = {one.memory for _, one in ours if not one.is_write}
    found: list[InterKernelFifo] = []
    kept: dict[str, None] = {}
    for process, access in theirs:
        if access.is_write and access.memory in written:
            return Refusal(f"{access.root!r} is written in one of them, and accessed in the other one")
        if access.is_write and access.memory in read:
            kept[access.root] = None
        elif access.memory in written:
            handed = _hand_over(access, process, ours, rw)
            if isinstance(handed, Refusal):
                return handed
            found.append(handed)
    for name in kept:
        if not found or not _can_be_kept(name, ours, rw):
            return Refusal(f"{name!r} is written in one of them, and accessed in the other one")
    stored = frozenset(one.container for one in found if _is_needed(one.container, found, rw))
    met = reconvergences([first, second], [(one.writer, one.reader) for one in found], rw.uses)
    if met is not None and (refusal := _may_wait([first, second], rw)):
        return Refusal(f"two paths would join in {met.name!r}, {refusal}")
    return InterKernelFifos(tuple(found), stored, tuple(kept), met is not None)


def processes_of(block: Dataflow) -> list[Process]:
    """The processes of a network."""
    return [inner for inner in block.body.blocks if isinstance(inner, Process)]


def accessed(block: Dataflow, rw: Rewriter) -> Iterator[tuple[Process, MemoryAccess]]:
    """Yield the accesses of processes to memory and to variables of the host."""
    for process in processes_of(block):
        for access in accesses_in(process, rw.uses):
            if not isinstance(rw.uses.desc(access.root), Stream):
                yield process, access


def _may_fail(element: Element) -> bool:
    """Return whether it raises an exception itself; that a network may get stuck is not meant."""
    return not isinstance(element, Dataflow) and bool(element.effects & Effect.MAY_RAISE)


def _hand_over(
    access: MemoryAccess, reader: Process, ours: Sequence[tuple[Process, MemoryAccess]], rw: Rewriter
) -> InterKernelFifo | Refusal:
    """An array that the first network writes through one access."""
    name, desc = access.root, rw.uses.desc(access.root)
    if not isinstance(desc, Array) or len(rw.uses.overlapping(name)) > 1:
        return Refusal(f"{name!r} has aliases")
    writers = [one for one in ours if one[1].memory == access.memory]
    if len(writers) != 1:
        return Refusal(f"{name!r} is touched in {len(writers)} places of the network that writes it")
    ((writer, written),) = writers
    for one in (written, access):
        if not isinstance(one.place, Copy) or one.mode is Mode.COMBINE or not one.is_sure() or one.varying_symbols:
            return Refusal(f"{one.memlet} is no plain access of a reader or writer")
    mine, its = _loops(written), _loops(access)
    if mine is None or its is None:
        return Refusal(f"the loops around {name!r} are not known")
    found = _way(written, mine, access, its, desc, rw, reader)
    if isinstance(found, Refusal):
        return Refusal(f"{name!r}: {found}")
    assert isinstance(written.place, Copy)
    assert isinstance(access.place, Copy)
    return InterKernelFifo(name, writer, written.place, tuple(mine), reader, access.place, *found)


def _way(
    written: MemoryAccess, mine: Loops, access: MemoryAccess, its: Loops, desc: Array, rw: Rewriter, reader: Process
) -> tuple[FifoKind, tuple[ScalarExpr, ...]] | Refusal:
    ours, theirs = written.subset, access.subset
    if ours is None or theirs is None:
        return Refusal("their elements are not known")
    ranges = rw.uses.ranges_at(reader)
    other_order = same_order(ours, mine, theirs, its, ranges)
    if not other_order:
        return FifoKind.AS_IT_COMES, ()
    part = _part(written, mine, access, its)
    if part is not None and not same_order(ours, part[0], theirs, its, ranges):
        return FifoKind.IN_PART, part[1]
    sizes = [size.constant for size in desc.shape]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes) or prod(known) > MOST_HELD:
        return other_order
    return within(theirs, its, ours, mine, ranges) or (FifoKind.HELD, ())


def _part(
    written: MemoryAccess, mine: Loops, access: MemoryAccess, its: Loops
) -> tuple[Loops, tuple[ScalarExpr, ...]] | None:
    """The writer's loops as far as they go over a box that the reader takes, and how to know that they do."""
    ours = offset_of(written.memlet, [name for name, _ in mine])
    theirs = offset_of(access.memlet, [name for name, _ in its])
    if ours is None or theirs is None or len(ours) != len(theirs):
        return None
    found: Loops = []
    tests: list[ScalarExpr] = []
    for (name, values), (_, box), at, other in zip(mine, its, ours, theirs, strict=True):
        start, stop = box.start + (other - at), box.stop + (other - at)
        if values.start != start:
            tests.append(op("ge", Index(sym(name)), Index(start)))
        if values.stop != stop:
            tests.append(op("lt", Index(sym(name)), Index(stop)))
        found.append((name, Range(max_of(values.start, start), min_of(values.stop, stop), values.step)))
    return found, tuple(tests)


def _loops(access: MemoryAccess) -> Loops | None:
    variables = [variable for scope in access.scopes for variable in scope.variables]
    known = [(name, dim) for name, dim in variables if dim is not None]
    return known if len(known) == len(variables) else None


def _is_needed(name: str, found: Sequence[InterKernelFifo], rw: Rewriter) -> bool:
    """Return whether a later process reads an array from memory, after those that read it from queues."""
    between = {node for one in found if one.container == name for node in (one.writer_copy, one.reader_copy)}
    users = {*rw.uses.readers(name), *rw.uses.writers(name)}
    return not rw.uses.is_private(name) or not users <= between


def _can_be_kept(name: str, ours: Sequence[tuple[Process, MemoryAccess]], rw: Rewriter) -> bool:
    """Return whether a network may read a copy of an array, which the host makes before it starts."""
    if not isinstance(rw.uses.desc(name), Array) or len(rw.uses.overlapping(name)) > 1:
        return False
    return all(isinstance(one.place, Copy) and one.memlet.container == name for _, one in ours if one.root == name)


def _may_wait(blocks: Sequence[Dataflow], rw: Rewriter) -> Refusal | None:
    """Return why queues between networks might be too short; None where the depths will be known.

    A queue that takes a whole array never lets its producer wait: so the first network comes to its end, and then the
    second one does. How much less than that will do is found by a replay, where that is short.
    """
    moved = 0
    for process in [process for block in blocks for process in processes_of(block)]:
        for access in accesses_in(process, rw.uses):
            ranges = rw.uses.ranges_at(access.place)
            variables = [variable for scope in access.scopes for variable in scope.variables]
            sizes = [None if values is None else _at_most(values.size, ranges) for _, values in variables]
            known = [size for size in sizes if size is not None]
            if len(known) < len(sizes) or access.varying_symbols:
                return Refusal(f"and how often {process.name!r} goes to {access.root!r} is no number")
            moved += prod(known)
    return Refusal(f"and {moved} tokens are too many to see how many wait there") if moved > MOST_MOVED else None


def _at_most(size: Expr, ranges: Ranges) -> int | None:
    """A number that a size does not exceed: itself, or a power of two."""
    if size.constant is not None:
        return size.constant
    powers = [1 << power for power in range(MOST_MOVED.bit_length())]
    return next((power for power in powers if ranges.proves_le(size, power)), None)

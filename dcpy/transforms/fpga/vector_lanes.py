"""Vector lanes: loops whose iterations may run side by side as lanes of tokens, and why others may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar, Space, Stream
from dcpy.ir.fpga.boards import latency
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, Process, Region, State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.ir.tree import is_inside

EXTRA = 2  #: cycles that reading a sum and writing it take beside the addition


@dataclass(eq=False)
class Candidate:
    """An innermost loop of a process, and the streams to which each of its iterations goes once."""

    process: Process
    loop: Loop
    outer_loops: tuple[Loop, ...]  #: outermost first
    streams: tuple[str, ...] = ()
    refusal: Refusal | None = None  #: why its iterations cannot run side by side, however many

    def size(self, uses: Uses) -> Expr:
        """Return the number of iterations."""
        return self.loop.range.size_within(uses.ranges_at(self.loop))

    @property
    def title(self) -> str:
        """Name for people."""
        return f"{self.loop.param} in {self.process.name!r}"

    @property
    def is_port(self) -> bool:
        """Return whether it does nothing but to bring elements from memory to a queue, or back."""
        nodes = nodes_of(self.loop)
        return len(nodes) == 1 and isinstance(nodes[0], Copy) and len(self.streams) == 1


def candidates_in(process: Process, uses: Uses) -> list[Candidate]:
    """The innermost loops of a process, in order; those that cannot have lanes say why."""
    found: list[Candidate] = []
    for loop, around in _innermost(process.body, ()):
        one = Candidate(process, loop, around)
        one.streams = tuple(dict.fromkeys(name for name in _accessed(loop) if isinstance(uses.desc(name), Stream)))
        one.refusal = _why_not_at_all(one, uses)
        found.append(one)
    return found


def nodes_of(loop: Loop) -> list[Node]:
    """Return the nodes of an iteration, in order."""
    return [node for block in loop.body.blocks if isinstance(block, State) for node in block.nodes]


def _innermost(region: Region, around: tuple[Loop, ...]) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    for block in region.blocks:
        if isinstance(block, Loop):
            if any(isinstance(inner, Loop) for inner in block.body.walk_blocks()):
                yield from _innermost(block.body, (*around, block))
            else:
                yield block, around


def _accessed(loop: Loop) -> Iterator[str]:
    for node in loop.body.walk_nodes():
        for memlet in (*node.reads(), *node.writes()):
            yield memlet.container


def _why_not_at_all(one: Candidate, uses: Uses) -> Refusal | None:
    loop = one.loop
    if one.process.params:
        return Refusal("there are several copies of the process")
    if loop.range.step is not ONE:
        return Refusal(f"{loop.param} does not go in steps of one")
    for block in loop.body.blocks:
        if not isinstance(block, State):
            return Refusal(f"there is a {block.kind} in it")
    for node in loop.body.walk_nodes():
        if not isinstance(node, Tasklet | Copy) or isinstance(node, Map):
            return Refusal(f"there is a {node.kind} in it")
    if any(not isinstance(desc, Scalar) for desc in loop.body.containers.values()):
        return Refusal("an iteration has memory of its own")
    return _of_memlets(one, uses)


def _of_memlets(one: Candidate, uses: Uses) -> Refusal | None:
    """Return why lanes would meet in a queue, a variable, or memory."""
    own, queues = one.loop.body.containers, set[str]()
    for node in nodes_of(one.loop):
        if all(isinstance(uses.desc(memlet.container), Stream) for memlet in (*node.reads(), *node.writes())):
            return Refusal("it hands tokens from one queue to another")
        written = tuple(node.writes())
        for memlet in (*node.reads(), *written):
            desc = uses.desc(memlet.container)
            if memlet.container in own:
                continue
            if isinstance(desc, Stream):
                if desc.shape or desc.token or memlet.container in queues:
                    return Refusal(f"the queue {memlet.container!r} is one of several, has tokens, or is met twice")
                queues.add(memlet.container)
            elif isinstance(desc, Array):
                if refusal := _of_array(memlet, desc, one, uses, is_write=memlet in written):
                    return refusal
            elif memlet in written:
                return Refusal(f"an iteration uses {memlet.container!r} of the one before")
    return _of_others(one)


def _of_others(one: Candidate) -> Refusal | None:
    """Return why an iteration may need what another one has written."""
    own, nodes = one.loop.body.containers, nodes_of(one.loop)
    written = {memlet.container: memlet.subset for node in nodes for memlet in node.writes()}
    for memlet in [memlet for node in nodes for memlet in (*node.reads(), *node.writes())]:
        if memlet.container in own or memlet.container not in written:
            continue
        at = memlet.subset
        if at.dims and (at != written[memlet.container] or one.loop.param not in at.symbols):
            return Refusal(f"an iteration may need what another one writes to {memlet.container!r}")
    return None


def _of_array(memlet: Memlet, desc: Array, one: Candidate, uses: Uses, *, is_write: bool) -> Refusal | None:
    param = one.loop.param
    if not memlet.subset.is_point or memlet.dynamic:
        return Refusal(f"{memlet} is more than an element")
    *rows, last = memlet.subset.indices or (ZERO,)
    if param not in memlet.subset.symbols:
        return Refusal(f"each iteration writes {memlet}") if is_write else None
    if any(param in index.symbols for index in rows) or param in (last - sym(param)).symbols:
        return Refusal(f"{memlet}: the elements of neighbours in {param} are not adjacent in memory")
    if desc.strides[-1] is not ONE or desc.alias or uses.root(memlet.container) != memlet.container:
        return Refusal(f"{memlet}: the elements of neighbours are not adjacent in memory")
    if memlet.wcr and desc.space is not Space.LOCAL and not is_inside(uses.home(memlet.container), one.process):
        return Refusal(f"{memlet} is combined in memory")
    return None


def why_not_lanes(one: Candidate, lanes: int, uses: Uses) -> Refusal | None:
    """Return why tokens of so many elements do not fit a loop that may have lanes."""
    size, ranges = one.size(uses), uses.ranges_at(one.loop)
    if size.constant is not None and size.constant < lanes:
        return Refusal(f"{one.loop.param} has {size} iterations")
    is_whole = ranges.remainder(size, lanes) == 0
    for node in nodes_of(one.loop):
        for memlet in (*node.reads(), *node.writes()):
            desc = uses.desc(memlet.container)
            if not isinstance(desc, Array) or one.loop.param not in memlet.subset.symbols:
                continue
            if is_inside(uses.home(memlet.container), one.process):
                if refusal := _on_chip(memlet, desc, lanes, one, size if is_whole else ZERO):
                    return refusal
            elif not _is_aligned(memlet, desc, one, lanes, uses):
                row = f"a row is {desc.shape[-1]} elements"
                return Refusal(f"{memlet} is not shown to start at a token of {lanes}: {row}")
            elif not is_whole and not one.is_port:
                return Refusal(f"{size} is not shown to be a multiple of {lanes}")
    return None


def _on_chip(memlet: Memlet, desc: Array, lanes: int, one: Candidate, size: Expr) -> Refusal | None:
    """Lanes find pieces of their own in memory on the chip, and sums end before they go on."""
    count = desc.shape[-1].constant
    starts = one.loop.range.start is ZERO and memlet.subset.indices[-1] == sym(one.loop.param)
    if size is ZERO or len(desc.shape) != 1 or count is None or count % lanes or not starts:
        return Refusal(f"{memlet} has no piece of memory on the chip for each of {lanes} lanes")
    if any(part.factor != lanes or part.style != "cyclic" for part in desc.partition):
        return Refusal(f"{memlet.container!r} is partitioned in another way")
    if memlet.wcr and latency(memlet.wcr, desc.dtype) + EXTRA > (size.constant or 0) // lanes:
        return Refusal(f"{size} sums in tokens of {lanes} go on before an addition ends")
    return None


def _is_aligned(memlet: Memlet, desc: Array, one: Candidate, lanes: int, uses: Uses) -> bool:
    """Return whether the first element of each run of the loop is at the start of a token, seen from the array's start.
    """
    first = memlet.subset.subs({one.loop.param: one.loop.range.start})
    ranges = uses.ranges_at(one.loop)
    terms: Sequence[Expr] = [index * stride for index, stride in zip(first.indices, desc.strides, strict=True)]
    return all(ranges.remainder(term, lanes) == 0 for term in terms)


def tail_of(size: Expr, lanes: int) -> Range:
    """The elements behind the last whole token, as a loop that runs once where there are some."""
    return Range.of(size // lanes * lanes, size, lanes)

"""PlaceComputation: which side runs what, the host or the device; what the device runs becomes a kernel.

The whole program goes to the device by default. The host keeps what it alone can do, what has no parallelism at all,
and scalars that are nowhere near a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import Side, is_library_call, run_by_host, side_of, twins
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.data import Array, Data, Space, is_scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State, While
from dcpy.ir.schedules import GRID, SEQUENTIAL, Grid, Parallel, Vector
from dcpy.ir.schedules import ThreadBlock as OfBlock
from dcpy.ir.symbolic import ONE, Expr, as_expr, product_of
from dcpy.ir.tree import Element, is_inside, owners_around, subtree
from dcpy.transforms.gpu.placement.offloadable import why_on_host, why_one_thread
from dcpy.transforms.gpu.placement.single_thread_kernels import one_thread
from dcpy.transforms.maps.map_of_copy import copy_as_maps
from dcpy.transforms.passes import GraphPass

LARGE = 4096  #: elements along each axis, by which the work of both sides is estimated
ALIKE = 8  #: less than so many times as much is alike


@dataclass(frozen=True)
class PlaceComputation(GraphPass):
    """Gives each node a side; nodes of the device become kernels, those of the host stay as they are.

    before   map i = 0:N { B[i] = 2 * A[i] }          after   map i = 0:N @grid { B[i] = 2 * A[i] }
             s = B[0] + B[1]                                  map one = 0:1 @grid { s = B[0] + B[1] }
             t = 2 * alpha                                    t = 2 * alpha

    Host only: calls of Python and of host libraries, queues, numbers that devices have not, arrays that may overlap,
    what is inside of such a map, and sums of floats in places that the data choose. A loop without any map for the
    device has no parallelism: a core of the host is faster than a thread of a GPU. A tasklet or a copy is the device's
    where a kernel writes what it touches, or touches what it writes.
    Neighbours in a state that take one thread each become one kernel. Where a loop of the host and kernels beside it
    take turns on small parts of one array, and the loop has as many iterations, all is the host's.
    """

    name: ClassVar[str] = "place-computation"
    requires: ClassVar[str] = "expanded"
    any_order: bool = False  #: floats may be combined in the order in which threads come

    def decide(self, rw: Rewriter) -> None:
        """Choose first, with remarks, and then make kernels. `InvalidSdfg` where that was done before."""
        if twins(rw.sdfg):
            raise InvalidSdfg(
                f"{rw.sdfg.name!r} was lowered for a device before", help="lower the program in simple form, once"
            )
        chosen = _DeviceSides(rw, self.any_order).device
        kernels = [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map) and node.schedule == GRID]
        for kernel in kernels:
            if not any(element in chosen for element in (kernel, *owners_around(kernel))):
                _take_back(kernel, rw)
        for block in list(run_by_host(rw.sdfg.body)):
            if isinstance(block, State):
                _make_kernels(block, chosen, self.any_order, rw)
        for node in run_by_host(rw.sdfg.body):
            if isinstance(node, Map) and isinstance(node.schedule, Parallel | Vector):
                rw.update(node, schedule=SEQUENTIAL)


class _DeviceSides:
    """The nodes that the device runs, found to a fixed point: what it writes attracts others."""

    def __init__(self, rw: Rewriter, any_order: bool) -> None:
        self.rw, self.uses, self.any_order = rw, rw.uses, any_order
        self.device: dict[Node, None] = {}
        # memories that the device writes, or that callers have there
        there = [name for name, desc in rw.sdfg.containers.items() if side_of(desc) is Side.DEVICE and _is_passed(desc)]
        self.written = dict.fromkeys(memory_of(name, self.uses.desc) for name in there)
        self.arrays = dict(self.written)  # those that it touches and that are no scalars
        nodes = list(_outermost(rw.sdfg.body))
        maps = dict.fromkeys(node for node in nodes if isinstance(node, Map) and self._may(node))
        while True:
            alone = {node: loop for node in nodes if (loop := _sequential_loop(node, maps)) is not None}
            turns = self._in_turns(list(dict.fromkeys(alone.values())), maps)
            if not turns:
                break
            maps = {kernel: None for kernel in maps if kernel not in turns}
        for kernel in maps:
            self._add(kernel, "a kernel")
        for call in filter(is_library_call, nodes):
            self._add(call, "a function of the device's library")
        for other in (node for node in nodes if not isinstance(node, Map | Tasklet | Copy) and node not in self.device):
            rw.remark(other, False, "on the host: devices cannot call it")
        small: list[Node] = [node for node in nodes if isinstance(node, Tasklet | Copy) and node not in alone]
        small = [node for node in small if why_on_host(node, self.uses) is None]
        while taken := dict.fromkeys(node for node in small if self._belongs(node)):
            small = [node for node in small if node not in taken]
            for node in taken:
                self._add(node, "one thread, where its operands are")
        for loop in dict.fromkeys(alone.values()):
            rw.remark(loop, False, "on the host: no kernel is inside, and a core is faster than a thread of a GPU")
        for node in small:
            rw.remark(node, False, "on the host: no kernel writes the data that it uses")

    def _may(self, node: Map) -> bool:
        reason = _why_only_to_raise(node) or why_on_host(node, self.uses)
        reason = reason or why_one_thread(node, self.uses, any_order=self.any_order)
        if reason is not None:
            self.rw.remark(node, False, f"on the host: {reason}")
        return reason is None

    def _in_turns(self, loops: Sequence[Block], maps: dict[Map, None]) -> list[Map]:
        """Kernels that take turns on an array with a loop of the host, which has as many iterations: it would be copied
        twice in each iteration of the loop around both, which takes longer than what they do with a small part of it.
        """
        for loop in loops:
            around = next((owner for owner in owners_around(loop) if isinstance(owner, Loop | While)), None)
            beside = [] if around is None else [kernel for kernel in maps if is_inside(kernel, around)]
            most = max((_estimate(*(dim.size for dim in kernel.domain)) for kernel in beside), default=0)
            trips = _estimate(loop.range.size) if isinstance(loop, Loop) else 0
            if not beside or ALIKE * trips < most:
                continue
            shared = self._shared(loop, beside)
            if shared and _estimate(*self.uses.desc(shared).shape) >= ALIKE * most:
                for kernel in beside:
                    reason = f"it would take turns on {shared!r} with a loop that only one thread can run"
                    self.rw.remark(kernel, False, f"on the host: {reason}")
                return beside
        return []

    def _shared(self, loop: Block, kernels: Sequence[Map]) -> str:
        """An array that one side writes and the other one touches; "" if there is none."""
        reads, writes = _arrays(loop, self.uses)
        for other_reads, other_writes in (_arrays(kernel, self.uses) for kernel in kernels):
            for name in writes:
                if name in other_reads or name in other_writes:
                    return name
            for name in other_writes:
                if name in reads:
                    return name
        return ""

    def _add(self, node: Node, reason: str) -> None:
        self.rw.remark(node, True, reason)
        self.device[node] = None
        for element in subtree(node):
            accessed = self.uses.accesses(element)
            for name in accessed.writes:
                self.written[memory_of(name, self.uses.desc)] = None
            for name in (*accessed.reads, *accessed.writes):
                if not is_scalar(self.uses.desc(self.uses.root(name))):
                    self.arrays[memory_of(name, self.uses.desc)] = None

    def _belongs(self, node: Node) -> bool:
        accessed = self.uses.accesses(node)
        reads, writes = (
            [memory_of(name, self.uses.desc) for name in names] for names in (accessed.reads, accessed.writes)
        )
        return any(name in self.written for name in (*reads, *writes)) or any(name in self.arrays for name in writes)


def _is_passed(desc: Data) -> bool:
    """Return whether callers have it: memory spaces of transients are wishes."""
    return isinstance(desc, Array) and not desc.transient


def _outermost(region: Region) -> Iterator[Node]:
    """Nodes that are in no map, in program order."""
    for block in region.blocks:
        if isinstance(block, State):
            yield from block.nodes
        else:
            for body in block.regions():
                yield from _outermost(body)


def _sequential_loop(node: Node, maps: dict[Map, None]) -> Block | None:
    """The outermost loop around a node that has no map for the device in it."""
    loops = (owner for owner in owners_around(node) if isinstance(owner, Loop | While))
    found: Block | None = None
    for loop in loops:
        if any(inner in maps or is_library_call(inner) for inner in _outermost(loop.body)):
            break
        found = loop
    return found


def _arrays(part: Element, uses: Uses) -> tuple[dict[str, None], dict[str, None]]:
    """The arrays that a part reads, and those that it writes."""
    accessed = [uses.accesses(element) for element in subtree(part)]
    reads = [name for each in accessed for name in each.reads]
    writes = [name for each in accessed for name in each.writes]
    found = [
        {uses.root(name): None for name in names if not is_scalar(uses.desc(uses.root(name)))}
        for names in (reads, writes)
    ]
    return found[0], found[1]


def _estimate(*sizes: Expr) -> int:
    """Return the number of iterations where all sizes are `LARGE`."""
    total = product_of(*sizes)
    found = total.subs({name: as_expr(LARGE) for name in total.symbols}).constant
    return LARGE if found is None else found


def _why_only_to_raise(node: Node) -> Refusal | None:
    """A loop whose one iteration is known to raise (`loop-inspection`, `loop-speculation`) is no work for a device."""
    loops = (owner for owner in owners_around(node) if isinstance(owner, Loop))
    around = next((loop for loop in loops if loop.range.size is ONE), None)
    return None if around is None else Refusal("the loop around it runs once, to raise", (around,))


def _make_kernels(state: State, chosen: dict[Node, None], any_order: bool, rw: Rewriter) -> None:
    """Kernels of maps, and of neighbours that take one thread each."""
    group: list[Node] = []
    for node in list(state.nodes):
        if node not in chosen or is_library_call(node):
            _close(group, rw)
        elif isinstance(node, Copy) and node.dst.subset.shape:
            _close(group, rw)
            copy_as_maps(node, rw)
        elif isinstance(node, Map) and free_params(node, rw.uses, any_order=any_order):
            _close(group, rw)
            rw.update(node, schedule=GRID)
        else:
            group.append(node)
    _close(group, rw)


def _take_back(kernel: Map, rw: Rewriter) -> None:
    """Leave to the host what was written for a device: blocks and threads one after the other, in its own memory."""
    for node in [kernel, *(inner for inner in kernel.body.walk_nodes() if isinstance(inner, Map))]:
        if isinstance(node.schedule, Grid | OfBlock):
            rw.update(node, schedule=SEQUENTIAL)
    for region in list(kernel.body.walk_regions()):
        for name, desc in list(region.containers.items()):
            if isinstance(desc, Array) and desc.space is Space.SHARED:
                rw.redeclare(name, replace(desc, space=Space.HOST))


def _close(group: list[Node], rw: Rewriter) -> None:
    if group:
        one_thread(list(group), rw)
        group.clear()

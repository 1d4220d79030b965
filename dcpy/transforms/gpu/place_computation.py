"""PlaceComputation: which side runs what, the host or the device; what the device runs becomes a kernel.

The whole program goes to the device by default. The host keeps what it alone can do, what has no parallelism at all,
and scalars that are nowhere near a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.analysis.memory import memory_of
from dcpy.ir.analysis.sides import Side, run_by_host, side_of, twins
from dcpy.ir.data import Array, Data
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop, Region, State, While
from dcpy.ir.schedules import GRID, SEQUENTIAL, Parallel, Vector
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import owners_around, subtree
from dcpy.transforms.gpu.kernels_of_nodes import copy_as_map, one_thread
from dcpy.transforms.gpu.offloadable import free_params, is_scalar, why_on_host, why_one_thread
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PlaceComputation(GraphPass):
    """Gives each node a side; nodes of the device become kernels, those of the host stay as they are.

    before   map i = 0:N { B[i] = 2 * A[i] }          after   map i = 0:N @grid { B[i] = 2 * A[i] }
             s = B[0] + B[1]                                  map one = 0:1 @grid { s = B[0] + B[1] }
             t = 2 * alpha                                    t = 2 * alpha

    Host only: calls of Python and of host libraries, queues, numbers that devices have not, arrays that may overlap,
    what is inside of such a map, and sums of floats in places that the data choose. A loop without any map for the
    device has no parallelism: one core is quicker than one thread. A tasklet or a copy is the device's
    where a kernel writes what it touches, or touches what it writes.
    Neighbours in a state that take one thread each become one kernel.
    """

    name: ClassVar[str] = "place-computation"
    requires: ClassVar[str] = "expanded"
    any_order: bool = False  #: floats may be combined in the order in which threads come

    def decide(self, rw: Rewriter) -> None:
        """Chooses first, with remarks, and then makes kernels. `InvalidSdfg` where that was done before."""
        if twins(rw.sdfg):
            raise InvalidSdfg(
                f"{rw.sdfg.name!r} was lowered for a device before", help="lower the program in simple form, once"
            )
        chosen = _Sides(rw, self.any_order).device
        for block in list(run_by_host(rw.sdfg.body)):
            if isinstance(block, State):
                _make_kernels(block, chosen, self.any_order, rw)
        for node in run_by_host(rw.sdfg.body):
            if isinstance(node, Map) and isinstance(node.schedule, Parallel | Vector):
                rw.update(node, schedule=SEQUENTIAL)


class _Sides:
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
        alone = {node: loop for node in nodes if (loop := _sequential_loop(node, maps)) is not None}
        for kernel in maps:
            self._add(kernel, "a kernel")
        small: list[Node] = [node for node in nodes if isinstance(node, Tasklet | Copy) and node not in alone]
        small = [node for node in small if why_on_host(node, self.uses) is None]
        while taken := dict.fromkeys(node for node in small if self._belongs(node)):
            small = [node for node in small if node not in taken]
            for node in taken:
                self._add(node, "one thread, where its operands are")
        for loop in dict.fromkeys(alone.values()):
            rw.remark(loop, False, "on the host: no kernel is inside, and one core is quicker than one thread")
        for node in small:
            rw.remark(node, False, "on the host: no kernel writes what it touches")

    def _may(self, node: Map) -> bool:
        reason = _why_only_to_raise(node) or why_on_host(node, self.uses)
        reason = reason or why_one_thread(node, self.uses, any_order=self.any_order)
        if reason is not None:
            self.rw.remark(node, False, f"on the host: {reason}")
        return reason is None

    def _add(self, node: Node, reason: str) -> None:
        self.rw.remark(node, True, reason)
        self.device[node] = None
        for element in subtree(node):
            touched = self.uses.touches(element)
            for name in touched.writes:
                self.written[memory_of(name, self.uses.desc)] = None
            for name in (*touched.reads, *touched.writes):
                if not is_scalar(self.uses.desc(self.uses.root(name))):
                    self.arrays[memory_of(name, self.uses.desc)] = None

    def _belongs(self, node: Node) -> bool:
        touched = self.uses.touches(node)
        reads, writes = (
            [memory_of(name, self.uses.desc) for name in names] for names in (touched.reads, touched.writes)
        )
        return any(name in self.written for name in (*reads, *writes)) or any(name in self.arrays for name in writes)


def _is_passed(desc: Data) -> bool:
    """Whether callers have it: memory spaces of transients are wishes."""
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
        if any(inner in maps for inner in _outermost(loop.body)):
            break
        found = loop
    return found


def _why_only_to_raise(node: Node) -> Refusal | None:
    """A loop whose one iteration is known to raise (`loop-inspection`, `loop-speculation`) is no work for a device."""
    loops = (owner for owner in owners_around(node) if isinstance(owner, Loop))
    around = next((loop for loop in loops if loop.range.size is ONE), None)
    return None if around is None else Refusal("the loop around it runs once, to raise", (around,))


def _make_kernels(state: State, chosen: dict[Node, None], any_order: bool, rw: Rewriter) -> None:
    """Kernels of maps, and of neighbours that take one thread each."""
    group: list[Node] = []
    for node in list(state.nodes):
        if node not in chosen:
            _close(group, rw)
        elif isinstance(node, Copy) and node.dst.subset.shape:
            _close(group, rw)
            copy_as_map(node, rw)
        elif isinstance(node, Map) and free_params(node, rw.uses, any_order=any_order):
            _close(group, rw)
            rw.update(node, schedule=GRID)
        else:
            group.append(node)
    _close(group, rw)


def _close(group: list[Node], rw: Rewriter) -> None:
    if group:
        one_thread(list(group), rw)
        group.clear()

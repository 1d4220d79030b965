"""StreamingComposition: networks one behind the other become one, and what goes between them goes through a queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, State
from dcpy.ir.symbolic import ZERO
from dcpy.ir.tree import subtree
from dcpy.transforms.fpga.inter_kernel_fifos import InterKernelFifos, accessed, fifos_between, processes_of
from dcpy.transforms.fpga.reconvergent_paths import queues_on_cycles_of
from dcpy.transforms.fpga.stream_tees import connect, unused
from dcpy.transforms.fpga.streaming_memory import snapshot
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class StreamingComposition(GraphPass):
    """Joins neighbouring networks, if what one hands to the other can go through queues.

    before   dataflow { ...; process write_t { loop i { ts -> t[i] } } }
             dataflow { process read_t { loop j { t[j] -> us } }; ... us ... }
    after    dataflow { ...;  ... ts ... }

    It goes as it comes, where it is taken in the same order; orders are compared as access relations, so loops may be
    cut and named differently. A box of it goes on in part. Other orders come from memory on the chip, which takes all
    of it first, where that is at most 2^14 elements. What others need is stored too, by a tee. What the first network
    reads and the second one writes is copied before. Where paths part and meet again sizes must be numbers: then the
    depths of their queues are known. Networks that share nothing run at the same time.
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
                    handed = fifos_between(first, block, rw)
                    rw.remark(block, not isinstance(handed, Refusal), _told(handed))
                    if isinstance(handed, Refusal):
                        first = block
                    else:
                        _join(first, block, handed, rw)


def _goes_before(state: State, network: Dataflow, rw: Rewriter) -> bool:
    """Return whether what the host does behind a network shares nothing with it; then it is done in front."""
    theirs = {name for _, access in accessed(network, rw) for name in rw.uses.overlapping(access.root)}
    mine: set[str] = set()
    for node in state.nodes:
        if effects_of(node):
            return False
        for element in subtree(node):
            uses = rw.uses.accesses(element)
            mine |= {*map(rw.uses.root, (*uses.reads, *uses.writes))}
    if theirs & mine:
        return False
    if state.nodes:
        region = network.region
        assert region is not None  # it is in the SDFG
        rw.move_blocks([state], region, region.index(network))
    return True


def _told(handed: InterKernelFifos | Refusal) -> str:
    if isinstance(handed, Refusal):
        return str(handed)
    ways = [f"{one.container!r} {one.way.value}" for one in handed.arrays]
    ways += [f"{name!r} is copied before, for it is written behind" for name in handed.kept]
    return ", ".join(dict.fromkeys(ways)) or "it runs at the same time as the network before"


def _join(first: Dataflow, second: Dataflow, handed: InterKernelFifos, rw: Rewriter) -> None:
    for name in handed.kept:
        _keep(name, first, rw)
    circles = {name for block in (first, second) for name in queues_on_cycles_of(block, rw.uses)}
    connect(handed, first, second, rw)
    names = {process.name for process in processes_of(first)}
    for process in processes_of(second):
        if (name := unused(process.name, names)) != process.name:
            rw.update(process, name=name)
        names.add(name)
    rw.hoist_containers(second.body, first.body)
    rw.move_blocks(list(second.body.blocks), first.body)
    rw.erase(second)
    for name in queues_on_cycles_of(first, rw.uses) if handed.meet else ():
        stream = rw.uses.desc(name)
        if isinstance(stream, Stream) and name not in circles:  # how much waits there `InferDepths` will know
            rw.redeclare(name, replace(stream, capacity=ZERO))


def _keep(name: str, network: Dataflow, rw: Rewriter) -> None:
    """The network reads a copy of the array, which the host makes: what is written later does not change it."""
    before = State(span=network.span)
    rw.insert_before(network, before)
    copy = snapshot(name, rw, before)
    for _, access in accessed(network, rw):
        if access.root == name and isinstance(access.place, Copy):
            rw.update(access.place, src=replace(access.place.src, container=copy))

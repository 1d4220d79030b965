"""FormProcesses: what is left of a program runs on the device, too, as processes that are alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Dataflow, Process, Region, State
from dcpy.ir.tree import regions_around
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class FormProcesses(GraphPass):
    """Each map that no network was made of becomes a process of its own, which reads and writes memory itself.

    before   map i { total (add) = x[i] }      after   dataflow { process total { map i { total (add) = x[i] } } }

    Scalar code, copies and what calls out of the program stay on the host.
    """

    name: ClassVar[str] = "form-processes"

    def decide(self, rw: Rewriter) -> None:
        """Map by map, those that are in no other one."""
        for node in [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]:
            if not _is_inside(node) and not effects_of(node) & Effect.CALLS_OUT:
                _, state, _ = rw.split_state(node)
                inside = State(span=state.span)
                name = re.sub("__+", "_", "_".join(("over", *node.params)))[:32].strip("_")
                process = Process(name, (), (), Region([inside]), span=node.span)
                rw.insert_before(state, Dataflow(Region([process]), span=node.span))
                rw.move_nodes([node], inside)
                rw.erase(state)


def _is_inside(node: Node) -> bool:
    region = node.state.region if node.state is not None else None
    return region is None or any(isinstance(around.owner, Map | Process) for around in regions_around(region))

"""ProducerSinking: code sinking. In long bodies, each private scalar is computed right before its first reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import known_effects_of, summary_of
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.region import State
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class ProducerSinking(GraphPass):
    """Code sinking for short live ranges: producers of private scalars move down to their first reader.

    before   t1 = f(A[i]);  t2 = g(A[i]);  ...;  s1 = t1 + 1;  s2 = s1 + t2;  ...
    after    t1 = f(A[i]);  s1 = t1 + 1;  t2 = g(A[i]);  s2 = s1 + t2;  ...

    Fusion concatenates bodies, so all producers of a long body come first. Their values are then live at the same time:
    they do not fit into registers, and C++ compilers take more than linear time for register allocation. A tasklet
    moves if it only writes private scalars with no other writer, has no effects, and nothing after it in the state
    writes its inputs. All others keep their order.
    """

    name: ClassVar[str] = "producer-sinking"
    optional: ClassVar[bool] = True
    shortest: int = 48  #: nodes of a state; C++ compilers order fewer themselves

    def decide(self, rw: Rewriter) -> None:
        """Decide for each state."""
        for region in list(rw.sdfg.body.walk_regions()):
            for state in region.blocks:
                if isinstance(state, State) and len(state.nodes) >= self.shortest:
                    order = _sunk(state, rw.uses)
                    if order != state.nodes:
                        rw.move_nodes(order, state, 0)


def _sunk(state: State, uses: Uses) -> list[Node]:
    """Return the nodes in their new order."""
    needed = _needed(state, _producers(state, uses), uses)
    waiting = {producer: None for producers in needed.values() for producer in producers}
    order: dict[Node, None] = {}
    for node in state.nodes:
        if node not in waiting:
            _place(node, needed, order)
    return list(order)


def _place(node: Node, needed: Mapping[Node, Sequence[Node]], order: dict[Node, None]) -> None:
    """Append a node after the producers that it needs and that have no place yet."""
    pending = [(node, iter(needed[node]))]
    while pending:
        last, left = pending[-1]
        missing = next((producer for producer in left if producer not in order), None)
        if missing is None:
            order[last] = None
            pending.pop()
        else:
            pending.append((missing, iter(needed[missing])))


def _needed(state: State, producers: Mapping[str, Node], uses: Uses) -> dict[Node, list[Node]]:
    """The producers of each node's inputs, those first whose own operands take most registers.

    (Sethi and Ullman, The Generation of Optimal Code for Arithmetic Expressions, 1970.)
    """
    found: dict[Node, list[Node]] = {}
    registers: dict[Node, int] = {}
    for node in state.nodes:  # each behind those that it needs
        operands = list(dict.fromkeys(producers[name] for name in summary_of(node, uses).reads if name in producers))
        operands.sort(key=registers.__getitem__, reverse=True)  # stable
        found[node] = operands
        registers[node] = max((registers[operand] + held for held, operand in enumerate(operands)), default=1)
    return found


def _producers(state: State, uses: Uses) -> dict[str, Node]:
    """The tasklets of a state that may move down to their first reader, by the scalars that they write."""
    writers: dict[str, int] = {}  # the position of the last writer of each container, or of what overlaps it
    for position, node in enumerate(state.nodes):
        for name in summary_of(node, uses).writes:
            writers |= dict.fromkeys(uses.overlapping(name), position)
    found: dict[str, Node] = {}
    read: dict[str, None] = {}
    for position, node in enumerate(state.nodes):
        summary = summary_of(node, uses)
        read |= summary.reads
        stays = any(writers.get(name, -1) >= position for name in summary.reads)
        stays |= not read.keys().isdisjoint(summary.writes)  # a value of the last iteration is read before
        if isinstance(node, Tasklet) and not stays and all(_is_own(name, node, uses) for name in summary.writes):
            moves = not known_effects_of(node, uses) and not uses.streams_among((*summary.reads, *summary.writes))
            found |= dict.fromkeys(summary.writes, node) if moves else {}
    return found


def _is_own(name: str, node: Tasklet, uses: Uses) -> bool:
    """Return whether a container is a private scalar that only this tasklet writes, without combining."""
    desc = uses.desc(name)
    combines = any(memlet.wcr for memlet in node.writes() if memlet.container == name)
    scalar = isinstance(desc, Scalar | Array) and not desc.shape and uses.is_private(name)
    return scalar and not combines and uses.overlapping(name) == (name,) and uses.writers(name) == (node,)

"""DeadDataflowElimination: nodes with unread results go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.summaries import known_effects_of
from dcpy.ir.data import Stream
from dcpy.ir.effects import KEPT
from dcpy.ir.expressions.scalar import Ref, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.symbolic import ZERO
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class DeadDataflowElimination(Transformation[tuple[str, ...] | None]):
    """Take out computations of transients that are never read, and what a tasklet has but does not use.

    before   tmp = f(A)          after   B = g(A)
             B = g(A)

    Applies when everything that a node writes is transient memory which nothing reads, under any name: no view, no
    condition, no check; or is what is there already; or is nothing, as that of an empty copy. A node with an effect of
    its own stays: one that is seen outside, may raise, or may not end.
    """

    name: ClassVar[str] = "dead-dataflow-elimination"
    node = capture(Node)
    pattern = one(node)

    def plan(self, m: Match) -> tuple[str, ...] | Refusal | None:
        """The outputs that a tasklet is to lose, with what only they need; None where the whole node goes."""
        node = m[self.node]
        if refusal := _other_effect(node, m):
            return refusal
        if isinstance(node, Copy) and any(size is ZERO for size in (*node.src.subset.shape, *node.dst.subset.shape)):
            return None
        if isinstance(node, Tasklet):
            dead = _dead_outputs(node, m)
            if len(dead) == len(node.outputs):
                return None
            if dead or unused_inputs(node):
                return dead
        written = () if isinstance(node, Map) else m.uses.accesses(node).writes
        return next((why for name in written if (why := _why_needed(name, node, m))), None)

    def apply(self, m: Match, plan: tuple[str, ...] | None, rw: Rewriter) -> None:
        node = m[self.node]
        accesses = rw.uses.accesses(node)
        if plan is not None and isinstance(node, Tasklet):
            _shrink(node, plan, rw)
        else:
            rw.erase(node)
        rw.undeclare_unused((*accesses.reads, *accesses.writes))


def unused_inputs(tasklet: Tasklet) -> list[str]:
    """Connectors that the code does not mention."""
    used = {part.name for _, expr in tasklet.code for part in walk(expr) if isinstance(part, Ref)}
    return [name for name in tasklet.inputs if name not in used]


def _dead_outputs(tasklet: Tasklet, m: Match) -> tuple[str, ...]:
    """The outputs that nobody reads: what the tasklet itself reads again must not lead to an output that stays."""
    dead = {
        name: _is_unchanged(tasklet, name, memlet, m)
        for name, memlet in tasklet.outputs.items()
        if _is_unchanged(tasklet, name, memlet, m) or not _why_needed(memlet.container, tasklet, m)
    }
    while dead:
        used = _used_for(tasklet, [name for name in tasklet.outputs if name not in dead])
        own = {tasklet.inputs[name].container for name in used if name in tasklet.inputs}
        read = [name for name, unchanged in dead.items() if not unchanged
                and own.intersection(m.uses.overlapping(tasklet.outputs[name].container))]  # fmt: skip
        if not read:
            break
        for name in read:
            del dead[name]
    return tuple(dead)


def _used_for(tasklet: Tasklet, outputs: list[str]) -> set[str]:
    """The names that some outputs follow from."""
    needed = set(outputs)
    for name, expr in reversed(tasklet.code):
        if name in needed:
            needed |= {part.name for part in walk(expr) if isinstance(part, Ref)}
    return needed


def _is_unchanged(tasklet: Tasklet, name: str, memlet: Memlet, m: Match) -> bool:
    """Return whether an output writes what the element has already: ``x = x``, which merges of branches leave behind.

    Not of an argument: that a program writes it, the caller may have to know.
    """
    value = dict(tasklet.code).get(name)
    same = isinstance(value, Ref) and tasklet.inputs.get(value.name) == memlet and not memlet.wcr
    return same and m.uses.is_private(memlet.container)


def _shrink(tasklet: Tasklet, dead: tuple[str, ...], rw: Rewriter) -> None:
    """Drop outputs, then the assignments that only they needed, then the inputs that only those needed."""
    outputs = {name: memlet for name, memlet in tasklet.outputs.items() if name not in dead}
    needed = set(outputs)
    code = []
    for name, expr in reversed(tasklet.code):
        if name in needed:
            code.append((name, expr))
            needed |= {part.name for part in walk(expr) if isinstance(part, Ref)}
    inputs = {name: memlet for name, memlet in tasklet.inputs.items() if name in needed}
    rw.update(tasklet, inputs=inputs, outputs=outputs, code=tuple(reversed(code)))


def _other_effect(node: Node, m: Match) -> Refusal | None:
    """Return the effects of a node beside writing its outputs."""
    effects = known_effects_of(node, m.uses) & KEPT
    if effects:
        return Refusal(f"{node.title or 'the ' + node.kind} {effects.words}")
    if isinstance(node, Map) and not _is_bare(node.body):
        return Refusal("its body is not empty: each node in it is judged by itself")
    for name in m.uses.accesses(node).reads:
        if isinstance(m.uses.desc(name), Stream):
            return Refusal(f"{name!r} is a stream")
    return None


def _why_needed(container: str, node: Node, m: Match) -> Refusal | None:
    """Return why a write of `container` by `node` must stay; None where nothing reads it."""
    results = [result.container for result in m.sdfg.results]
    for name in m.uses.overlapping(container):
        desc = m.uses.desc(name)
        if name in results:
            return Refusal(f"{name!r} is a result")
        if isinstance(desc, Stream):
            return Refusal(f"{container!r} is a stream")
        if not desc.transient:
            return Refusal(f"{name!r} is an argument")
        reader = next((reader for reader in m.uses.readers(name) if reader is not node), None)
        if reader is not None:
            return Refusal(f"{name!r} is read", (reader,))
    return None


def _is_bare(body: Region) -> bool:
    """Return whether a map's body holds nothing at all, dead nodes having gone before it."""
    return all(isinstance(block, State) and not block.nodes for block in body.blocks)

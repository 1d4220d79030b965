"""DeadDataflowElimination: nodes whose results nobody reads go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.effects import effects_of
from dcpy.ir.data import Reference, Stream
from dcpy.ir.effects import KEPT
from dcpy.ir.expr import Ref, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Callback, ForeignCall, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.transforms.api import YES, Match, Rewriter, Transformation, Verdict, capture, no, one


@dataclass(frozen=True)
class DeadDataflowElimination(Transformation):
    """Take out computations of transients that are never read, and what a tasklet has but does not use.

    before   tmp = f(A)          after   B = g(A)
             B = g(A)

    Applies when everything that a node writes is transient memory which nothing reads, under any name: no view, no
    condition, no check; or is what is there already. A node with an effect of its own stays: one that is seen outside,
    may raise, or may not end.
    """

    name: ClassVar[str] = "dead-dataflow-elimination"
    node = capture(Node)
    pattern = one(node)

    def can_be_applied(self, m: Match) -> Verdict:
        node = m[self.node]
        verdict = _has_no_other_effect(node, m)
        if not verdict:
            return verdict
        if isinstance(node, Tasklet) and (unused_inputs(node) or _dead_outputs(node, m)):
            return YES
        return next((no(why) for name in _written(node, m) if (why := _why_needed(name, node, m))), YES)

    def apply(self, m: Match, rw: Rewriter) -> None:
        node = m[self.node]
        touches = rw.uses.touches(node)
        dead = _dead_outputs(node, m) if isinstance(node, Tasklet) else []
        unused = unused_inputs(node) if isinstance(node, Tasklet) else []
        if isinstance(node, Tasklet) and len(dead) < len(node.outputs) and (dead or unused):
            _shrink(node, dead, rw)
        else:
            rw.erase(node)
        rw.undeclare_unused((*touches.reads, *touches.writes))


def unused_inputs(tasklet: Tasklet) -> list[str]:
    """Connectors that the code does not mention."""
    used = {part.name for _, expr in tasklet.code for part in walk(expr) if isinstance(part, Ref)}
    return [name for name in tasklet.inputs if name not in used]


def _dead_outputs(tasklet: Tasklet, m: Match) -> list[str]:
    return [
        name
        for name, memlet in tasklet.outputs.items()
        if _is_unchanged(tasklet, name, memlet, m) or not _why_needed(memlet.container, tasklet, m)
    ]


def _is_unchanged(tasklet: Tasklet, name: str, memlet: Memlet, m: Match) -> bool:
    """Whether an output writes what the element has already: ``x = x``, which merges of branches leave behind.

    Not of an argument: that a program writes it, the caller may have to know.
    """
    value = dict(tasklet.code).get(name)
    same = isinstance(value, Ref) and tasklet.inputs.get(value.name) == memlet and not memlet.wcr
    return same and m.uses.is_private(memlet.container)


def _shrink(tasklet: Tasklet, dead: list[str], rw: Rewriter) -> None:
    """Drops outputs, then the assignments that only they needed, then the inputs that only those needed."""
    outputs = {name: memlet for name, memlet in tasklet.outputs.items() if name not in dead}
    needed = set(outputs)
    code = []
    for name, expr in reversed(tasklet.code):
        if name in needed:
            code.append((name, expr))
            needed |= {part.name for part in walk(expr) if isinstance(part, Ref)}
    inputs = {name: memlet for name, memlet in tasklet.inputs.items() if name in needed}
    rw.update(tasklet, inputs=inputs, outputs=outputs, code=tuple(reversed(code)))


def _has_no_other_effect(node: Node, m: Match) -> Verdict:
    """Whether a node does nothing but write its outputs."""
    effects = effects_of(node) & KEPT
    if effects:
        return no(f"{_title(node)} {effects.words}")
    if isinstance(node, Map) and not _is_bare(node.body):
        return no("its body is not empty: each node in it is judged by itself")
    for name in m.uses.touches(node).reads:
        if isinstance(m.uses.desc(name), Stream | Reference):
            return no(f"{name!r} is a stream or a reference")
    return YES


def _title(node: Node) -> str:
    """What runs, in words."""
    match node:
        case Call(sdfg=callee):
            return callee.name
        case ForeignCall(function=function):
            return f"the C function {function}"
        case Callback(function=function):
            return f"the Python function {function}"
    return f"the {node.kind}"


def _written(node: Node, m: Match) -> tuple[str, ...]:
    return () if isinstance(node, Map) else m.uses.touches(node).writes


def _why_needed(container: str, node: Node, m: Match) -> str:
    """Why a write of `container` by `node` must stay; nothing where nobody needs it."""
    results = [result.container for result in m.sdfg.results]
    for name in m.uses.overlapping(container):
        desc = m.uses.desc(name)
        if name in results:
            return f"{name!r} is a result"
        if isinstance(desc, Stream | Reference):
            return f"{container!r} is, or is seen through, a stream or a reference"
        if not desc.transient:
            return f"{name!r} is an argument"
        if any(reader is not node for reader in m.uses.readers(name)):
            return f"{name!r} is read"
    return ""


def _is_bare(body: Region) -> bool:
    """Whether a map's body holds nothing at all, dead nodes having gone before it."""
    return all(isinstance(block, State) and not block.nodes for block in body.blocks)

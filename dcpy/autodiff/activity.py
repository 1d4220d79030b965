"""Activity: which memory may depend on the active inputs, and which outputs of a node do.

Memory is named by its base: a view is active where the container is that it shows. The analysis looks at no order: a
base is active in all of the program, or nowhere, and its derivative is then 0 as long as nothing else is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcpy.ir.analysis.dataflow.aliasing import base_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Op, Ref, ScalarExpr
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy, Node, Tasklet


class Activity:
    """The active bases of an SDFG: those in `seeds`, and those that are written from active values."""

    def __init__(self, uses: Uses, seeds: Iterable[str]) -> None:
        self._uses = uses
        self.bases: dict[str, None] = dict.fromkeys(seeds)
        nodes = list(uses.sdfg.body.walk_nodes())
        before = -1
        while before != len(self.bases):
            before = len(self.bases)
            for node in nodes:
                self._flow(node)

    def keep_useful(self, goals: Iterable[str]) -> None:
        """Keep the bases alone that the memory of some containers may depend on."""
        useful = {self.base(name) for name in goals}
        nodes = list(self._uses.sdfg.body.walk_nodes())[::-1]
        before = -1
        while before != len(useful):
            before = len(useful)
            for node in nodes:
                passed = [operand.memlet for operand in node.operands()] if node.callees() else []
                if any(self.base(memlet.container) in useful for memlet in (*node.writes(), *passed)):
                    read = [memlet.container for memlet in (*node.reads(), *passed)]
                    useful |= {self.base(name) for name in read if self._uses.desc(name).dtype.is_inexact}
        self.bases = {base: None for base in self.bases if base in useful}

    def base(self, name: str) -> str:
        """The container whose elements a name shows."""
        return base_of(name, self._uses.desc)

    def holds(self, name: str) -> bool:
        """Return whether a name shows active memory as floating-point numbers."""
        return self._uses.desc(name).dtype.is_inexact and self.base(name) in self.bases

    def inputs(self, inputs: Mapping[str, Memlet]) -> list[str]:
        """The connectors of active inputs."""
        return [name for name, memlet in inputs.items() if self.holds(memlet.container)]

    def _flow(self, node: Node) -> None:
        match node:
            case Copy():
                if self.holds(node.src.container):
                    self._enter([node.dst])
            case Tasklet():
                found = active_names(node.code, self.inputs(node.inputs))
                self._enter(memlet for name, memlet in node.outputs.items() if name in found)
            case Call():
                if self.inputs(node.arguments):
                    self._enter(node.arguments.values())
            case _:
                if any(self.holds(memlet.container) for memlet in node.reads()):
                    self._enter(node.writes())

    def _enter(self, written: Iterable[Memlet]) -> None:
        for memlet in written:
            if self._uses.desc(memlet.container).dtype.is_inexact:
                self.bases[self.base(memlet.container)] = None


def active_names(code: Iterable[tuple[str, ScalarExpr]], active: Iterable[str]) -> set[str]:
    """The names of a tasklet, outputs among them, that depend on active connectors other than by flat operations."""
    found = set(active)
    for target, value in code:
        if depends(value, found):
            found.add(target)
        else:
            found.discard(target)
    return found


def depends(value: ScalarExpr, active: set[str]) -> bool:
    """Return whether a value has a derivative by one of the active names."""
    match value:
        case Ref(name=name):
            return name in active
        case Cast(arg=arg, dtype=dtype):
            return dtype.is_inexact and depends(arg, active)
        case Op(name="select", args=(_, *chosen)):
            return any(depends(arg, active) for arg in chosen)
        case Op(name=name, args=args):
            return not op_info(name).partials.is_flat and any(depends(arg, active) for arg in args)
    return False

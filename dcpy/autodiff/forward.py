"""Forward mode: a tangent beside each statement of a program, in the same order, for all control flow.

A container ``A`` that may depend on the inputs gets a companion ``A_dot``; a tasklet computes the tangents of what it
writes from those of what it reads, before anything is overwritten::

    tasklet (a <- A[i]) -> (o -> B[i]) { o = sin(a) }
    tasklet (a <- A[i], a_dot <- A_dot[i]) -> (o -> B[i], o_dot -> B_dot[i]) { o = sin(a); d1 = cos(a)*a_dot; ... }

Loops, branches, bounds and indices stay what they are: the derivative is that of the path that is taken. A library node
with a rule becomes nodes of its kind on tangents; one without is first expanded into loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.assignments import Assignments, ForwardCode, number
from dcpy.autodiff.companions import Companions, bases_with_homes, filled, whole
from dcpy.autodiff.obstacles import refuse, require_known, without_rules
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.copying import copy_node
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.expressions.scalar import Ref, ScalarExpr
from dcpy.ir.nodes import Copy, LibraryNode, Node, Tasklet
from dcpy.ir.region import Return, State
from dcpy.ir.sdfg import Result, Sdfg

DOT = "_dot"


@dataclass(frozen=True)
class TangentNames:
    """Names of the new arguments by that of their own, and what the results are.

    `arguments`: of tangents at entry; `updated`: arguments with a tangent at exit, in order. The SDFG then returns a
    pair: what it returned before, and the tangents of that and of `updated`, in a pair.
    """

    arguments: dict[str, str]
    updated: tuple[str, ...]


def forward_mode(sdfg: Sdfg, wrt: Sequence[str]) -> TangentNames:
    """Add the tangents with respect to some floating-point arguments, in place.

    Raises `GradientRefused` for what has no known derivative.
    """
    without_rules(sdfg, wrt)
    with rewriting(sdfg, f"forward-mode{{wrt=({','.join(wrt)})}}") as rw:
        return ForwardMode(rw, wrt).run()


class ForwardMode:
    """The transformation at work on one SDFG."""

    def __init__(self, rw: Rewriter, wrt: Sequence[str]) -> None:
        self.rw, self.wrt = rw, tuple(wrt)
        returned = [result.container for result in rw.sdfg.results if result.container]
        floats = [name for name in returned if rw.uses.desc(name).dtype.is_inexact]
        self.activity = Activity(rw.uses, [*wrt, *(base for name in floats if (base := self._base(name)) not in wrt)])
        self.dots = Companions(rw, self.activity, DOT)
        self.first = State()

    def _base(self, name: str) -> str:
        desc = self.rw.uses.desc(name)
        while hasattr(desc, "of"):
            name = desc.of
            desc = self.rw.uses.desc(name)
        return name

    def run(self) -> TangentNames:
        """Declare, then write the tangent of each node, then return the tangents."""
        require_known(self.rw, self.activity)
        names = self._declare()
        for node in list(self.rw.sdfg.body.walk_nodes()):
            match node:
                case Tasklet():
                    self._tasklet(node)
                case Copy():
                    self._copy(node)
                case LibraryNode():
                    self._library(node)
        if self.first.nodes:
            self.rw.insert(self.first, self.rw.sdfg.body, 0)
        self._return(names.updated)
        return names

    # -- declarations ----------------------------------------------------------------------------------------------

    def _declare(self) -> TangentNames:
        arguments: dict[str, str] = {}
        updated: list[str] = []
        for name, _ in list(bases_with_homes(self.rw, self.activity)):
            desc = self.rw.uses.desc(name)
            if desc.transient or name not in self.rw.sdfg.arguments:
                self.dots.declare(name, transient=desc.transient)
                continue
            is_written = any(self.rw.uses.writers(shown) for shown in self.rw.uses.overlapping(name))
            if name in self.wrt:
                arguments[name] = self._argument(name, entry=is_written)
            if is_written:
                updated.append(name)
                dot = self.dots.declare(name, transient=False)
                start: Node = filled(self.rw, whole(self.rw, dot))
                if name in arguments:
                    start = Copy(whole(self.rw, arguments[name]), whole(self.rw, dot))
                self.first.add(start)
            elif name in arguments:
                self.dots.adopt(name, arguments[name])
        for result in self.rw.sdfg.results:
            self._start(result, updated)
        return TangentNames(arguments, tuple(updated))

    def _start(self, result: Result, updated: Sequence[str]) -> None:
        """Begin with 0 where a result may be an argument that nothing writes, and that is not active by itself."""
        base = self._base(result.container) if result.container else ""
        known = base in self.rw.sdfg.arguments and base in self.activity.bases
        if known and base not in self.wrt and base not in updated:
            self.first.add(filled(self.rw, whole(self.rw, self.dots.declare(base))))

    def _argument(self, name: str, *, entry: bool) -> str:
        """An argument for the tangent of another one."""
        desc = self.rw.uses.desc(name)
        own = Scalar(desc.dtype) if isinstance(desc, Scalar) else Array.packed(desc.dtype, desc.shape)
        made = self.rw.declare_fresh(f"{name}{DOT}_entry" if entry else name + DOT, own)
        self.rw.sdfg.arguments.append(made)
        return made

    def _return(self, updated: Sequence[str]) -> None:
        sdfg = self.rw.sdfg
        results, places = list(sdfg.results), {}
        last = State()
        for place, result in enumerate(sdfg.results):
            made = Result("constant")
            if result.container and self.activity.holds(result.container):
                made = self._result(result, last)
            places[place] = len(results)
            results.append(made)
        own = []
        for name in updated:
            own.append(len(results))
            results.append(Result("array", self.dots[name]))
        if last.nodes:
            for block in sdfg.body.walk_blocks():
                if isinstance(block, Return):
                    refuse("a result that shows an argument, and an early return", block,
                           "return a copy, or return once")  # fmt: skip
            self.rw.insert(last, sdfg.body)
        tangents = _at(sdfg.structure, places)
        sdfg.structure = (sdfg.structure, (tangents, tuple(own)))
        sdfg.results = tuple(results)

    def _result(self, result: Result, last: State) -> Result:
        """The tangent of a result; what shows other memory is copied at the end."""
        dot = self.dots[result.container]
        desc = self.rw.uses.desc(dot)
        if result.kind in ("array", "scalar", "python"):
            return Result("array" if result.kind == "array" else "scalar", dot)
        made = self.rw.declare_fresh(f"{result.container}{DOT}_exit", Array.packed(desc.dtype, desc.shape))
        last.add(Copy(whole(self.rw, dot), whole(self.rw, made)))
        return Result("array", made)

    # -- nodes -----------------------------------------------------------------------------------------------------

    def _tasklet(self, node: Tasklet) -> None:
        active = self.activity.inputs(node.inputs)
        written = self.activity.inputs(node.outputs)
        if not written:
            return
        row = Assignments((*node.inputs, *node.outputs, *(name for name, _ in node.code)), node.span)
        inputs, outputs = dict(node.inputs), dict(node.outputs)
        dots: dict[str, ScalarExpr] = {}
        for name in active:
            dot = row.fresh(f"{name}{DOT}")
            memlet = node.inputs[name]
            inputs[dot] = self.dots.memlet(memlet)
            dots[name] = Ref(dot, self.rw.uses.desc(memlet.container).dtype)
        code = ForwardCode(row, dots)
        for target, value in node.code:
            code.assign(target, value)
        for name in written:
            memlet = outputs[name]
            dot, dtype = row.fresh(f"{name}{DOT}"), self.rw.uses.desc(memlet.container).dtype
            tangent = code.dots.get(name)
            row.set(dot, number(0.0, dtype) if tangent is None else tangent)
            outputs[dot] = self.dots.memlet(memlet)
        self.rw.update(node, inputs=inputs, outputs=outputs, code=tuple(row.code))

    def _copy(self, node: Copy) -> None:
        if not self.activity.holds(node.dst.container):
            return
        dst = self.dots.memlet(node.dst)
        if self.activity.holds(node.src.container):
            self.rw.add_node_before(node, Copy(self.dots.memlet(node.src), dst, span=node.span))
        elif not dst.wcr:
            self.rw.add_node_before(node, filled(self.rw, dst))

    def _library(self, node: LibraryNode) -> None:
        written = self.activity.inputs(node.outputs)
        if not written:
            return
        active = self.activity.inputs(node.inputs)
        outputs = {name: self.dots.memlet(node.outputs[name]) for name in written}
        if not active:
            for memlet in outputs.values():
                if not memlet.wcr:
                    self.rw.add_node_before(node, filled(self.rw, memlet))
            return
        for name in active:
            made = copy_node(node)
            made.inputs = {**node.inputs, name: self.dots.memlet(node.inputs[name])}
            made.outputs = {
                key: replace(memlet, wcr=memlet.wcr or ("add" if name != active[0] else ""))
                for key, memlet in outputs.items()
            }
            self.rw.add_node_before(node, made)


def _at(structure: object, places: dict[int, int]) -> object:
    """The structure of results with other numbers."""
    if isinstance(structure, tuple):
        return tuple(_at(part, places) for part in structure)
    return places[structure] if isinstance(structure, int) else structure

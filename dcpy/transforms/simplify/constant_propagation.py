"""ConstantPropagation: numbers that are known go where they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.data import Lifetime
from dcpy.ir.expr import Const, Load, ScalarExpr, rewrite, substitute_refs
from dcpy.ir.nodes import Copy, Tasklet
from dcpy.ir.region import Block
from dcpy.ir.uses import Element
from dcpy.transforms.api import YES, Match, Rewriter, Transformation, Verdict, capture, no, one
from dcpy.transforms.simplify.folding import fold


@dataclass(frozen=True)
class ConstantPropagation(Transformation):
    """Compute what depends on nothing, and replace reads of a container that only ever holds one number.

    before   tasklet () -> (o -> c) { o = f64(1) + 1 }          after   tasklet () -> (o -> c) { o = f64(2) }
             tasklet (a <- A[0], b <- c) -> (o -> B[0]) { o = a * b }   tasklet (a <- A[0]) -> (o -> B[0]) { o = a * 2 }

    Applies when every write of the container writes this very number: a read then sees it wherever it stands. The
    write itself goes with `DeadDataflowElimination`. NumPy computes, on the exact dtypes.
    """

    name: ClassVar[str] = "constant-propagation"
    tasklet = capture(Tasklet)
    pattern = one(tasklet)

    def can_be_applied(self, m: Match) -> Verdict:
        tasklet = m[self.tasklet]
        if folded(tasklet) != tasklet.code:
            return YES
        if len(tasklet.outputs) != 1:
            return no("the tasklet writes more than one value")
        return _propagates(tasklet, m)

    def apply(self, m: Match, rw: Rewriter) -> None:
        tasklet = m[self.tasklet]
        code = folded(tasklet)
        if code != tasklet.code:
            rw.update(tasklet, code=code)
            return
        constant = _constant_of(tasklet)
        container = next(iter(tasklet.outputs.values())).container
        for reader in _replaceable_readers(container, m):
            _put_constant(reader, container, constant, rw)


def folded(tasklet: Tasklet) -> tuple[tuple[str, ScalarExpr], ...]:
    """The code of a tasklet with every part computed that depends on nothing, local names included."""
    known: dict[str, ScalarExpr] = {}
    code: list[tuple[str, ScalarExpr]] = []
    for name, expr in tasklet.code:
        value = fold(substitute_refs(expr, known))
        if isinstance(value, Const):
            known[name] = value
        if not isinstance(value, Const) or name in tasklet.outputs:
            code.append((name, value))
    return tuple(code)


def _propagates(tasklet: Tasklet, m: Match) -> Verdict:
    container = next(iter(tasklet.outputs.values())).container
    constant = _constant_of(tasklet)
    if constant is None:
        return no("the value is not a number that is known before the run")
    if not m.uses.is_private(container) or len(m.uses.overlapping(container)) > 1:
        return no(f"{container!r} is not a transient of its own")
    desc = m.uses.desc(container)
    if getattr(desc, "lifetime", Lifetime.SCOPE) is not Lifetime.SCOPE:
        return no(f"{container!r} keeps its contents between runs")
    for writer in m.uses.writers(container):
        if not isinstance(writer, Tasklet) or _constant_of(writer) != constant:
            return no(f"{container!r} also gets other values")
    return YES if _replaceable_readers(container, m) else no(f"no tasklet, copy or condition reads {container!r}")


def _constant_of(writer: Tasklet) -> Const | None:
    """The number that a tasklet writes, where it writes nothing else and does not combine it with the old value."""
    outputs = list(writer.outputs.items())
    if len(outputs) != 1 or outputs[0][1].wcr:
        return None
    value = dict(writer.code).get(outputs[0][0])
    return value if isinstance(value, Const) else None


def _replaceable_readers(container: str, m: Match) -> list[Element]:
    readers = m.uses.readers(container)
    return [
        reader
        for reader in readers
        if isinstance(reader, Tasklet | Block) or (isinstance(reader, Copy) and reader.dst.subset.is_point)
    ]


def _put_constant(reader: Element, container: str, constant: Const | None, rw: Rewriter) -> None:
    if constant is None:
        return
    match reader:
        case Tasklet(inputs=inputs):
            values: dict[str, ScalarExpr] = {
                name: constant for name, memlet in inputs.items() if memlet.container == container
            }
            code = tuple((name, fold(substitute_refs(expr, values))) for name, expr in reader.code)
            kept = {name: memlet for name, memlet in inputs.items() if name not in values}
            rw.update(reader, inputs=kept, code=code)
        case Copy(dst=dst):
            rw.replace(reader, Tasklet({}, {"out": replace(dst)}, (("out", constant),), span=reader.span))
        case Block():

            def load(part: ScalarExpr) -> ScalarExpr | None:
                return constant if isinstance(part, Load) and part.container == container else None

            rw.rewrite_exprs(reader, lambda expr: fold(rewrite(expr, load)))

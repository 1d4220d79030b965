"""ConstantPropagation: numbers that are known go where they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.data import Lifetime
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, rewrite, substitute_refs
from dcpy.ir.nodes import Copy, Tasklet
from dcpy.ir.region import Block
from dcpy.ir.tree import Element
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.constant_folding import fold


@dataclass(frozen=True)
class ConstantPropagation(Transformation["Code | Propagated"]):
    """Compute what depends on nothing, and replace reads of a container that only ever holds one number.

    before   tasklet () -> (o -> c) { o = f64(1) + 1 }          after   tasklet () -> (o -> c) { o = f64(2) }
             tasklet (a <- A[0], b <- c) -> (o -> B[0]) { o = a * b }   tasklet (a <- A[0]) -> (o -> B[0]) { o = a * 2 }

    Applies when every write of the container writes this very number: a read then sees it wherever it stands. The
    write itself goes with `DeadDataflowElimination`. NumPy computes, on the exact dtypes.
    """

    name: ClassVar[str] = "constant-propagation"
    tasklet = capture(Tasklet)
    pattern = one(tasklet)

    def plan(self, m: Match) -> Code | Propagated | Refusal:
        """The folded code where there is something to fold, else the readers that get the number."""
        tasklet = m[self.tasklet]
        code = folded(tasklet)
        if code != tasklet.code:
            return code
        if len(tasklet.outputs) != 1:
            return Refusal("the tasklet writes more than one value")
        return _propagated(tasklet, m)

    def apply(self, m: Match, plan: Code | Propagated, rw: Rewriter) -> None:
        if not isinstance(plan, Propagated):
            rw.update(m[self.tasklet], code=plan)
            return
        for reader in plan.readers:
            _put_constant(reader, plan.container, plan.constant, rw)


Code = tuple[tuple[str, ScalarExpr], ...]


@dataclass(frozen=True, slots=True)
class Propagated:
    """A container that only ever holds one number, and its readers."""

    container: str
    constant: Const
    readers: tuple[Element, ...]


def folded(tasklet: Tasklet) -> Code:
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


def _propagated(tasklet: Tasklet, m: Match) -> Propagated | Refusal:
    container = next(iter(tasklet.outputs.values())).container
    constant = _constant_of(tasklet)
    if constant is None:
        return Refusal("the value is not a number that is known before the run")
    if not m.uses.is_private(container) or len(m.uses.overlapping(container)) > 1:
        return Refusal(f"{container!r} is not a transient of its own")
    desc = m.uses.desc(container)
    if getattr(desc, "lifetime", Lifetime.SCOPE) is not Lifetime.SCOPE:
        return Refusal(f"{container!r} keeps its contents between runs")
    for writer in m.uses.writers(container):
        if not isinstance(writer, Tasklet) or _constant_of(writer) != constant:
            return Refusal(f"{container!r} also gets other values", (writer,))
    readers = _replaceable_readers(container, m)
    if not readers:
        return Refusal(f"no tasklet, copy or condition reads {container!r}")
    return Propagated(container, constant, readers)


def _constant_of(writer: Tasklet) -> Const | None:
    """The number that a tasklet writes, where it writes nothing else and does not combine it with the old value."""
    outputs = list(writer.outputs.items())
    if len(outputs) != 1 or outputs[0][1].wcr:
        return None
    value = dict(writer.code).get(outputs[0][0])
    return value if isinstance(value, Const) else None


def _replaceable_readers(container: str, m: Match) -> tuple[Element, ...]:
    readers = m.uses.readers(container)
    return tuple(
        reader
        for reader in readers
        if isinstance(reader, Tasklet | Block) or (isinstance(reader, Copy) and reader.dst.subset.is_point)
    )


def _put_constant(reader: Element, container: str, constant: Const, rw: Rewriter) -> None:
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

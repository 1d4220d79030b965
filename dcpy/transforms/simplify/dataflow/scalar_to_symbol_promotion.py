"""ScalarToSymbolPromotion: integer scalars that are computed from symbols become symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.definite_assignment import unassigned_reader
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, as_symbolic, rewrite, substitute_refs
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import Element, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.constant_folding import fold


@dataclass(frozen=True)
class ScalarToSymbolPromotion(Transformation[str]):
    """Turn a 0-d int64 transient into a symbol, and the tasklets that write it into assignments.

    before   state { tasklet () -> (o -> k) { o = N - 1 } }       after   let k = N - 1
             state { tasklet (a <- k) -> (o -> B[0]) { o = a } }          state { tasklet () -> (o -> B[0]) { o = k } }

    Applies when every writer of the scalar is a tasklet whose value is an exact integer expression over symbols (and
    the scalar itself), and every reader is a tasklet, a condition, a check or an assignment, behind a writer on
    every path. Only int64: symbols are int64, and a narrower scalar wraps where they would not. Readers of a scalar
    that is always one number get the number, so that what they compute of it wraps around as int64 does.
    """

    name: ClassVar[str] = "scalar-to-symbol-promotion"
    writer = capture(Tasklet)
    pattern = one(writer)

    def plan(self, m: Match) -> str | Refusal:
        """The scalar."""
        outputs = tuple(m[self.writer].outputs.values())
        if len(outputs) != 1:
            return Refusal("the tasklet writes more than one value")
        scalar = outputs[0].container
        if not m.uses.is_private(scalar) or len(m.uses.overlapping(scalar)) > 1:
            return Refusal(f"{scalar!r} is not a transient of its own")
        desc = m.uses.desc(scalar)
        if desc.shape or desc.dtype != types.int64:
            return Refusal(f"{scalar!r} is not a single int64")
        return _unfit_writer(scalar, m.uses) or _unfit_reader(scalar, m.uses) or scalar

    def apply(self, m: Match, plan: str, rw: Rewriter) -> None:
        scalar = plan
        writers, readers = rw.uses.writers(scalar), rw.uses.readers(scalar)
        rw.sdfg.assign_symbol(scalar)
        value = _number(scalar, rw.uses) or Index(sym(scalar))
        for reader in readers:
            if reader not in writers:
                _read_symbol(reader, scalar, value, rw)
        for writer in writers:
            if isinstance(writer, Tasklet):
                _assign_symbol(writer, scalar, rw)
        rw.undeclare(scalar)


def _unfit_writer(scalar: str, uses: Uses) -> Refusal | None:
    """A writer whose value no symbol can have."""
    writers = uses.writers(scalar)
    for writer in writers:
        if not isinstance(writer, Tasklet) or any(memlet.wcr or memlet.dynamic for memlet in writer.writes()):
            return Refusal(f"a {writer.kind} writes {scalar!r} in a way that is no assignment", (writer,))
        if len(writer.outputs) != 1 or as_symbolic(_value(writer, scalar)) is None:
            return Refusal(f"a value of {scalar!r} is not an exact integer expression over symbols", (writer,))
        within = uses.home(scalar) if len(writers) == 1 else None  # None: anywhere
        if any(isinstance(owner, Node) for owner in owners_around(writer, within)):
            return Refusal(f"{scalar!r} is written by the iterations of a map", (writer,))
    return None


def _unfit_reader(scalar: str, uses: Uses) -> Refusal | None:
    """A reader that needs memory, or may come before the writers."""
    for reader in uses.readers(scalar):
        if isinstance(reader, Node) and not isinstance(reader, Tasklet):
            return Refusal(f"a {reader.kind} reads {scalar!r} from memory", (reader,))
    early = unassigned_reader(uses.readers(scalar), uses.writers(scalar))
    if early is not None:
        return Refusal(f"{scalar!r} may be read before it is written", (early,))
    return None


def _number(scalar: str, uses: Uses) -> Const | None:
    """The number that the only writer of a scalar writes, where it is one."""
    writers = uses.writers(scalar)
    value = fold(_value(writers[0], scalar)) if len(writers) == 1 and isinstance(writers[0], Tasklet) else None
    return value if isinstance(value, Const) else None


def _value(writer: Tasklet, scalar: str) -> ScalarExpr:
    """Return a tasklet's code as one expression, in which the scalar itself is a symbol already."""
    known: dict[str, ScalarExpr] = {
        name: Index(sym(scalar)) for name, memlet in writer.inputs.items() if memlet.container == scalar
    }
    value: ScalarExpr = Ref("", types.int64)
    for name, expr in writer.code:
        value = known[name] = substitute_refs(expr, known)
        if name in writer.outputs:
            break
    return value


def _read_symbol(reader: Element, scalar: str, value: ScalarExpr, rw: Rewriter) -> None:
    if isinstance(reader, Tasklet):
        connectors = [name for name, memlet in reader.inputs.items() if memlet.container == scalar]
        values = dict.fromkeys(connectors, value)
        inputs = {name: memlet for name, memlet in reader.inputs.items() if name not in connectors}
        code = tuple((name, fold(substitute_refs(expr, values))) for name, expr in reader.code)
        rw.update(reader, inputs=inputs, code=code)
        return

    def load(part: ScalarExpr) -> ScalarExpr | None:
        return value if isinstance(part, Load) and part.container == scalar else None

    rw.rewrite_exprs(reader, lambda expr: fold(rewrite(expr, load)))


def _assign_symbol(writer: Tasklet, scalar: str, rw: Rewriter) -> None:
    value = fold(_value(writer, scalar))
    before, alone, after = rw.split_state(writer)
    rw.replace(alone, SymbolAssign(scalar, value, span=writer.span))
    for state in (before, after):
        if not state.nodes:
            rw.erase(state)

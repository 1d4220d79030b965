"""ScalarValueNumbering: scalars that are always given the same values together become one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.scalar import Index, Load, ScalarExpr, as_symbolic, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, SymbolAssign
from dcpy.ir.tree import Element, dominates, owners_around
from dcpy.transforms.api import Match, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class EqualScalars:
    """A scalar, and one that is always equal to it."""

    kept: str
    other: str


@dataclass(frozen=True)
class ScalarValueNumbering(Transformation[EqualScalars]):
    """Read one scalar instead of another one that always has the same value: sizes of arrays that shrink together.

    before   tasklet () -> (a -> n, b -> m) { a = N; b = N }       after   tasklet () -> (a -> n, b -> m) { ... }
             loop i { let j = m[]  ...                                     loop i { let j = n[]  ...
                      tasklet () -> (a -> n, b -> m) { a = k; b = k } }

    Applies to transients that are declared in one place, where each tasklet that writes one of them writes the same
    value, over symbols, to the other one, or gives the one that it writes the value that it has already. Then they are
    equal after each write, in any order of the program (Alpern, Wegman and Zadeck's congruence, 1988, of memory).
    """

    name: ClassVar[str] = "scalar-value-numbering"
    writer = capture(Tasklet)
    pattern = one(writer)

    def plan(self, m: Match) -> EqualScalars | Refusal:
        """The first two of what the tasklet writes that are equal, the second one of which is read."""
        writer, uses = m[self.writer], m.uses
        if len(writer.outputs) < 2:
            return Refusal("the tasklet writes one value")
        refusal = Refusal("no two of its values are the same")
        values = _values(writer)
        names = [memlet.container for memlet in writer.outputs.values()]
        for position, other in enumerate(names):
            for kept in names[:position]:
                if values[kept] is None or values[kept] != values[other] or kept == other:
                    continue
                found = _why_unlike(kept, other, uses)
                if found is None:
                    return EqualScalars(kept, other)
                refusal = found
        return refusal

    def apply(self, m: Match, plan: EqualScalars, rw: Rewriter) -> None:
        def load(part: ScalarExpr) -> ScalarExpr | None:
            is_other = isinstance(part, Load) and part.container == plan.other
            return Load(plan.kept, (), part.dtype) if is_other else None

        def read(memlet: Memlet) -> Memlet:
            return replace(memlet, container=plan.kept) if memlet.container == plan.other else memlet

        for reader in rw.uses.readers(plan.other):
            rw.rewrite_exprs(reader, lambda expr: rewrite(expr, load))
            if isinstance(reader, Tasklet):
                rw.update(reader, inputs={name: read(memlet) for name, memlet in reader.inputs.items()})
            elif isinstance(reader, Node):
                rw.replace_memlets(reader, read)


def _values(writer: Tasklet) -> dict[str, ScalarExpr | None]:
    """Return the values that a tasklet writes, by container, where they are integer expressions over symbols."""
    code = dict(writer.code)
    return {
        memlet.container: code[name] if as_symbolic(code[name]) is not None and not memlet.wcr else None
        for name, memlet in writer.outputs.items()
    }


def _why_unlike(kept: str, other: str, uses: Uses) -> Refusal | None:
    for name in (kept, other):
        desc = uses.desc(name)
        if not isinstance(desc, Scalar) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
            return Refusal(f"{name!r} is not a scalar of its own")
        if desc.dtype != uses.desc(kept).dtype or uses.home(name) is not uses.home(kept):
            return Refusal(f"{kept!r} and {other!r} differ in dtype or place")
    if not uses.readers(other):
        return Refusal(f"{other!r} is never read")
    for name in (kept, other):
        for writer in uses.writers(name):
            if refusal := _why_apart(writer, name, (kept, other), uses):
                return refusal
    return None


def _why_apart(writer: Element, name: str, pair: tuple[str, str], uses: Uses) -> Refusal | None:
    """Return why two scalars may differ behind a write of one of them."""
    if not isinstance(writer, Tasklet):
        return Refusal(f"a {writer.kind} writes {name!r}", (writer,))
    if any(isinstance(owner, Map) for owner in owners_around(writer, uses.home(name))):
        return Refusal(f"{name!r} is written by the iterations of a map", (writer,))
    values = _values(writer)
    first, second = (values.get(one) for one in pair)
    if first is not None and first == second:
        return None
    value = values.get(name)
    if value is not None and not set(pair) <= set(values) and _is_its_own(value, name, writer, uses):
        return None
    return Refusal(f"{pair[0]!r} and {pair[1]!r} are given different values", (writer,))


def _is_its_own(value: ScalarExpr, name: str, writer: Tasklet, uses: Uses) -> bool:
    """Return whether a value was read from the scalar itself, which has it still."""
    symbol = as_symbolic(value)
    if not isinstance(value, Index) or symbol is None or symbol.name is None:
        return False
    (assign, *others) = uses.definers(symbol.name) or (None,)
    if others or not isinstance(assign, SymbolAssign) or not dominates(assign, writer):
        return False
    read = isinstance(assign.value, Load) and assign.value.container == name
    plain = all(isinstance(owner, Branch) for owner in owners_around(writer, assign.region))
    return read and plain and not uses.writers_between(name, assign, writer)

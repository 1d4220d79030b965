"""Checks in processes: the first failure is kept, nothing relies on what has failed, and the host raises it.

A pipeline cannot report an error in its middle. What stands behind a failed check in its body is left out; the
iterations behind it go on. The number of the check and its values are in variables of the process, and go to a place
beside the chip when it ends.

before   if (k < 0 || k >= N) fail 1 (k, N);  y[i] = x[k]
after    if (k < 0 || k >= N) { if (failure == 0) { failure = 1; value0 = k; value1 = N } } else { y[i] = x[k] }
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Item, Literal, Name, integer
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import INDEX, TRUTH, Pointer

PLACES = 5  #: of a process: the number of its check, and four values


@dataclass(frozen=True, slots=True)
class GuardedProcess:
    """A process whose checks are kept: its statements, and the parameter that has the place for the first failure."""

    body: tree.Body
    place: str = ""


def guarded(body: tree.Body, fresh: Callable[[str], str], refuse: Callable[[], Exception]) -> GuardedProcess:
    """The statements of a process without checks that leave it; `place` is "" where there are none.

    Raises what `refuse` makes where tokens would be left out along with what a check guards: others would wait for
    them.
    """
    if not any(isinstance(statement, tree.CheckFail) for statement in statements(body)):
        return GuardedProcess(body)
    kept = Name(fresh("failure"), INDEX)
    values = tuple(Name(fresh(f"failure_value{number}"), INDEX) for number in range(PLACES - 1))
    inside = _FailureKeeping(kept, values, refuse).body(body)
    place = fresh("failed")
    pointer = Name(place, Pointer(INDEX))
    told = tuple(
        tree.Assign(Item(pointer, integer(position), INDEX), value) for position, value in enumerate((kept, *values))
    )
    declared = tuple(tree.Declare(name.name, INDEX, integer(0)) for name in (kept, *values))
    return GuardedProcess((*declared, *inside, *told), place)


@dataclass(frozen=True, slots=True)
class _FailureKeeping:
    kept: Name
    values: tuple[Name, ...]
    refuse: Callable[[], Exception]

    def body(self, body: tree.Body) -> tree.Body:
        for position, statement in enumerate(body):
            if isinstance(statement, tree.CheckFail):
                behind = self.body(body[position + 1 :])
                if any(map(_moves_tokens, statements(behind))):
                    raise self.refuse()
                note = self.note(statement)
                return (*body[:position], tree.If(((statement.condition, note),), behind, span=statement.span))
            if changed := self.inside(statement):
                return (*body[:position], changed, *self.body(body[position + 1 :]))
        return body

    def inside(self, statement: tree.Statement) -> tree.Statement | None:
        """A statement that owns others, with these guarded; None for all others."""
        match statement:
            case tree.Loop(body=inner) | tree.Compound(body=inner) | tree.While(body=inner):
                return replace(statement, body=self.body(inner))
            case tree.If(cases=cases, otherwise=otherwise):
                fresh = tuple((condition, self.body(inner)) for condition, inner in cases)
                return replace(statement, cases=fresh, otherwise=self.body(otherwise))
        return None

    def note(self, check: tree.CheckFail) -> tree.Body:
        """Keep a failure, if it is the first one."""
        first = Infix("==", self.kept, integer(0), TRUTH)
        assert isinstance(check.number, Literal)  # nothing that has failed is passed on inside of a process
        number = integer(int(check.number.value or 0))
        pairs = zip(self.values, check.values, strict=False)
        kept = (tree.Assign(self.kept, number), *(tree.Assign(name, value) for name, value in pairs))
        return (tree.If(((first, kept),)),)


def _moves_tokens(statement: tree.Statement) -> bool:
    return any(
        isinstance(part, Intrinsic) and part.name in ("put", "take")
        for expr in expressions(statement)
        for part in parts(expr)
    )

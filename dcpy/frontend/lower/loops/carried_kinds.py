"""Carried kinds: numbers whose kind a loop changes are still what they were before it, if the loop does not run.

``x = 1``, a loop that assigns floats, ``return x``: at the head of the loop and behind it, `x` lives in a float. Where
its kind is visible (in a result, a dtype that depends on it), lowering begins anew and has two states behind the loop:
`x` as it was before, and as the loop has left it. The body stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dcpy.frontend.abstract_values.kinds_by_path import Kinds, all_of
from dcpy.frontend.abstract_values.number_kinds import instead_of, kind_of_number, types_of
from dcpy.frontend.abstract_values.values import Scalar, Value, VariantValue, dtype_of, is_number, is_weak, parts_of
from dcpy.frontend.lower.control import path_splitting, path_states
from dcpy.frontend.lower.control.path_states import PathEnd, States
from dcpy.frontend.lower.lowering_signals import PathsMatter
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Load, Op, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset

if TYPE_CHECKING:
    from dcpy.base.errors import DcpyError, FrontendError
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.op_builder import OpBuilder


def marked(head: Mapping[str, Value], entry: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of names at the head of a loop; marked are numbers that the loop converts."""
    found = dict(head)
    for name, value in head.items():
        if isinstance(value, Scalar) and any(is_other(one, value) for one in options(entry[name])):
            known = value.other_kinds
            found[name] = replace(value, other_kinds=Kinds(known, known.merges, tells=known.tells, entering=True))
    return found


@dataclass(frozen=True)
class KindAfterLoop:
    """A number behind a loop, with its state: `entry_ends` says which one, before the loop, `loop_state` is that of the
    loop.
    """

    table: States
    entry_ends: Sequence[PathEnd]
    loop_state: int
    runs: ScalarExpr | None  # whether the loop runs; else iterations say so

    def begin(self, frame: Frame) -> None:
        """Write the state before the loop; where it is known then whether it will run, the one behind it."""
        path_states.move(frame, [], self.entry_ends)
        if self.runs is not None:
            state = Load(self.table.which, (), types.int64)
            chosen = op("select", self.runs, Const(self.loop_state, types.int64), state)
            frame.emit.tasklet([(Memlet(self.table.which, Subset()), chosen)])


def as_assigned(value: Value, assigned: Sequence[Value]) -> Value:
    """Return the number with the kind with which all iterations assign it, if they agree."""
    if not isinstance(value, Scalar) or not assigned or not all(map(is_number, assigned)):
        return value
    first = assigned[0]
    if any(instead_of(one).entering or types_of(one) != types_of(first) for one in assigned):
        return value
    return (
        value if dtype_of(first) != value.dtype else replace(value, weak=is_weak(first), other_kinds=instead_of(first))
    )


def perhaps(value: Scalar, befores: Sequence[Value], runs: ScalarExpr | Literal[True] | None) -> Kinds:
    """The kinds of a number that a loop inside of another one may have changed."""
    known = instead_of(befores[0])
    if len(befores) > 1 or not isinstance(runs, Op) or not known.entering:
        return all_of([value.other_kinds, Kinds(entering=True)])
    mine = value.other_kinds
    if known.runs is not None:
        return Kinds(mine, mine.merges, entering=True, runs=op("or", known.runs, runs), since=known.since)
    return Kinds(mine, mine.merges, entering=True, runs=runs, since=known)


def require_kind_kept(b: OpBuilder, value: Value, error: FrontendError) -> None:
    """Keep the paths apart on which a number has another kind, where its kind is visible."""
    if isinstance(value, Scalar) and has_kinds(value):
        found = by_kind(b, value.other_kinds.merges, error)
        if isinstance(found, PathsMatter):
            raise found


def has_kinds(value: Value) -> bool:
    """Return whether a number in a value has a kind on another path that is none of its own: an np.float64 is a float.
    """
    if isinstance(value, Scalar):
        known = value.other_kinds
        return known.tells and not all(issubclass(kind_of_number(value), kind) for kind in known)
    return any(has_kinds(part) for part in parts_of(value) if part is not value)


def by_kind(b: OpBuilder, places: Sequence[object], error: DcpyError) -> Exception:
    """Return the exception for paths that disagree on the kind of a number; once all is tried, `error`."""
    return next((found for merge in places if isinstance(found := b.by_path(merge, error), PathsMatter)), error)


def options(value: Value | None) -> list[Value]:
    """The values that a name may have."""
    if value is None:
        return []
    return path_splitting.options_of(value) if isinstance(value, VariantValue) else [value]


def is_other(before: Value, value: Scalar) -> bool:
    """Return whether a number that was there before has another kind, or may have."""
    return is_number(before) and (types_of(before) != types_of(value) or instead_of(before).entering)

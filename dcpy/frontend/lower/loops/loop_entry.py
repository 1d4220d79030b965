"""Loop entry: how a loop is written, and what its names stand for before it and at the head of its body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Missing, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import LoopNames
from dcpy.frontend.lower.arrays.name_aliases import roots
from dcpy.frontend.lower.control import path_splitting
from dcpy.frontend.lower.control.path_states import States
from dcpy.frontend.lower.frame import Names
from dcpy.frontend.lower.lowering_signals import LOOP
from dcpy.frontend.lower.objects.dataclass_objects import fields
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.region import Block, Region
from dcpy.ir.symbolic import Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

@dataclass
class LoopPlan:
    """Plan of one kind of loop. `enter` runs at the start of the body; `wrap` makes the block.

    `nonempty` holds where the body runs at least once: True, None (not known), or a condition. `last` replaces the
    parameter by its last value. An `endless` loop is left by `break` only.
    """

    enter: Callable[[], None]
    wrap: Callable[[Region], Block]
    ranges: Ranges
    nonempty: bool | ScalarExpr | None = None
    last: tuple[str, Expr] | None = None
    endless: bool = False


@dataclass
class LoopHead:
    """Values of names at the head of the body. Names of `table` are in one of several states there."""

    types: dict[str, Value]
    table: States | None = None
    entry_states: list[int] = field(default_factory=list)  # the states that the loop starts in
    back_edge_states: list[int] = field(default_factory=list)  # those that iterations end in
    count: int = 0  # how many states there are

    @property
    def plain(self) -> dict[str, Value]:
        """The names that have one type."""
        kept = [] if self.table is None else self.table.names
        return {name: value for name, value in self.types.items() if name not in kept}


class EnteredLoop:
    """One sequential loop, and what the names that it carries stand for where it begins."""

    def __init__(self, frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan) -> None:
        self.frame, self.node, self.names, self.plan = frame, node, names, plan
        self.carried = [*sorted(self.names.bound & self.names.head), *fields(frame.env)]
        self.entry = {name: frame.env.get(name, self._unset(name)) for name in self.carried}
        place = (LOOP, node.span)
        self.merge = place if path_splitting.is_split(frame, place) else None  # None: names are not kept apart

    def busy(self, head: LoopHead, env: dict[str, Value]) -> Names:
        """Containers that names show which have one type at the head."""
        if head.table is None:
            return frozenset()
        kept = {name: value for name, value in env.items() if name not in self.carried}
        shown = [*kept.values(), *head.plain.values()]
        return frozenset(root for value in shown for root in roots(self.frame, value))

    def _unset(self, name: str) -> Missing:
        reason = f"{name!r} has no value in the first iteration"
        return Missing(reason, self.node.span, f"assign {name!r} before the loop", unset=True)


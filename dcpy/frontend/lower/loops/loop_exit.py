"""Loop exit: what names stand for after a loop, which may not have run at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from dcpy.frontend.abstract_values.kinds_by_path import Kinds, all_of
from dcpy.frontend.abstract_values.number_kinds import instead_of, kind_of_number, types_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Maybe,
    Missing,
    Scalar,
    Static,
    SymInt,
    Value,
    VariantValue,
    integer,
)
from dcpy.frontend.lower.arrays import basic_indexing
from dcpy.frontend.lower.arrays.name_aliases import live_values, roots, shown_by_others
from dcpy.frontend.lower.control import joins, path_selectors, path_splitting, path_states
from dcpy.frontend.lower.control.path_states import States
from dcpy.frontend.lower.frame import ExitPoint, LoopExits, Names
from dcpy.frontend.lower.loops import carried_kinds
from dcpy.frontend.lower.loops.carried_kinds import KindAfterLoop
from dcpy.frontend.lower.lowering_signals import RUNS
from dcpy.frontend.lower.objects.dataclass_objects import fields_set_inside, made_inside
from dcpy.frontend.lower.sequences import list_references
from dcpy.ir.expressions.scalar import Op, ScalarExpr, op
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.loops.loop_entry import EnteredLoop, LoopHead, LoopPlan

Pairs = list[tuple[Value, Value]]


def as_pair(env: Mapping[str, Value], target: Value, source: Value) -> tuple[Value, Value]:
    """Return the target and the source of a move; of a list that changes hands, the items."""
    return target, list_references.as_source(env, target, source)



@dataclass
class AfterLoop:
    """Finds what names stand for after a loop."""

    loop: EnteredLoop
    head: LoopHead
    before: dict[str, Value | None]
    exits: LoopExits
    moves: dict[int, Pairs]  # what moves at the end of an iteration, by site
    types: dict[str, Value] = field(default_factory=dict)
    entry_moves: Pairs = field(default_factory=list)  # what moves before the loop
    tables: list[States] = field(default_factory=list)
    converted_numbers: dict[str, Value] = field(default_factory=dict)  # numbers at the head that the loop converts
    kinds_after_loop: list[KindAfterLoop] = field(default_factory=list)

    def find(self) -> None:
        """Fill `types`, and add to `moves` and `entry_moves`."""
        frame, names = self.loop.frame, self.loop.names
        self.types = self._carried()
        for name in sorted(self.head.plain.keys() & names.after):
            self.types[name] = self._behind(name, self.loop.entry[name], self.types[name])
        exits = (*self.exits.ends, *self.exits.breaks)
        last = sorted((names.bound & names.after) - names.head)
        wanted = [*last, *made_inside(frame.env, exits, last)]
        if self.loop.plan.endless:
            wanted += [key for key in fields_set_inside(frame.env, self.exits.breaks) if key not in wanted]
        for name in wanted:
            changing = frozenset().union(*(joins.written(frame, pairs) for pairs in self.moves.values()))
            before = self.before.get(name)
            self.types[name] = self._behind(name, before, self._value(name, before, changing))

    def _behind(self, name: str, before: Value | None, value: Value) -> Value:
        """Return the value of a number after a loop that may not have changed it from `before`."""
        loop = self.loop
        frame, befores = loop.frame, carried_kinds.options(before)
        exits = [site for site in (*self.exits.ends, *self.exits.breaks) if name in site.env]
        value = carried_kinds.as_assigned(value, [site.env[name] for site in exits])
        if not isinstance(value, Scalar) or not any(carried_kinds.is_other(one, value) for one in befores):
            return value
        runs = self._runs(name, exits)
        if runs is True:
            return value
        mark = instead_of(self.converted_numbers[name]) if name in self.converted_numbers else None
        changing = [site for site in exits if not instead_of(site.env[name]).entering]
        kept = [known for site in exits if (known := instead_of(site.env[name])).entering]
        known_kinds = not any(isinstance(site.env[name], VariantValue) for site in exits)
        if frame.is_in_loop or (runs is None and not (known_kinds and all(one is mark for one in kept))):
            return replace(value, other_kinds=carried_kinds.perhaps(value, befores, runs))
        merge = (RUNS, loop.node.span)
        if path_splitting.is_marked(frame, merge):
            table = States(frame, [name], merge, loop=False)
            try:
                begins = path_states.path_ends({name: before}, [table]) if before is not None else []
                ran, _ = table.arrive({name: value})
            except path_selectors.NoOuterPlace:
                return value
            self.kinds_after_loop.append(KindAfterLoop(table, begins, ran, runs))
            for site in changing if runs is None else ():
                self.moves[id(site)].append((table.selector, Static(ran)))
            return table.value(name, [ran, *(arrival.numbers[0][1] for arrival in begins)])
        others = [Kinds(types_of(one), instead_of(one).merges, tells=True) for one in befores]
        known = all_of([value.other_kinds, *others], merge)
        mine = kind_of_number(value)
        remaining = (kind for kind in known if kind is not mine)
        return replace(value, other_kinds=Kinds(remaining, known.merges, tells=known.tells))

    def _runs(self, name: str, exits: Sequence[ExitPoint]) -> ScalarExpr | Literal[True] | None:
        """Return whether the loop gives the number its kind: known now, or a condition; None where that is open."""
        plan, mark = self.loop.plan, self.converted_numbers.get(name)
        nonempty = plan.nonempty if isinstance(plan.nonempty, Op) else None
        found: ScalarExpr | Literal[True] | None = True if plan.endless or plan.nonempty is True else nonempty
        for known in (instead_of(site.env[name]) for site in exits):
            if not known.entering:
                continue
            inner = known.runs
            if inner is None or mark is None or known.since is not instead_of(mark) or len(exits) > 1:
                return None
            if found is None or not joins.is_visible_expr(self.loop.frame, inner):
                return None
            found = inner if found is True else op("and", found, inner)
        return found

    def _carried(self) -> dict[str, Value]:
        """The carried names: those that are kept apart are in a state in which the loop may end."""
        head, plan, sites = self.head, self.loop.plan, self.exits
        table = head.table
        if table is None:
            return dict(head.types)
        numbers = [] if plan.endless else list(head.back_edge_states)
        if plan.nonempty is not True and not plan.endless:
            numbers += head.entry_states
        for site in sites.breaks:
            numbers += table.reached(site.env, self.loop.busy(head, site.env))
        numbers = numbers or head.entry_states
        return head.plain | {name: table.value(name, numbers) for name in table.names}

    def _value(self, name: str, before: Value | None, changing: Names) -> Value:
        """Return the value after the loop of a name that each iteration sets anew.

        `changing`: containers that names which the loop carries take at the end of an iteration.
        """
        frame, names, plan, sites = self.loop.frame, self.loop.names, self.loop.plan, self.exits
        exits = [site for site in (*sites.ends, *sites.breaks) if name in site.env]
        values = [site.env[name] for site in exits]
        if not values:
            return before or Missing(f"{name!r} has no value here")
        always = plan.nonempty is True
        uncertain = plan.nonempty is None or any(isinstance(value, Maybe | Missing) for value in values)
        if before is None and not always and uncertain:
            before = Missing(f"{name!r} is set only if the loop runs", help="assign it before the loop", unset=True)
        stays = all(changing.isdisjoint(roots(frame, value)) for value in values)
        if stays and not sites.breaks and plan.last is not None and (always or before is None):
            value = _at_last(frame, values, plan.last)
            if value is not None:
                return _if_ran(value, plan)
        apart = self._kept_apart(name, values, before, always, changing)
        if apart is not None:
            return apart
        facts, envs = [site.ranges for site in exits], [live_values(site.env, names.after) for site in exits]
        busy = shown_by_others(frame, name, [frame.env, *envs])
        if before is None or always:
            paths = joins.Paths(facts, envs, busy, changing, merge=self.loop.merge)
            joined = joins.join(frame, name, values, paths)
        else:
            facts, envs = [frame.emit.ranges, *facts], [live_values(frame.env, names.after), *envs]
            paths = joins.Paths(facts, envs, busy, changing, entering=1, merge=self.loop.merge)
            joined = joins.join(frame, name, [before, *values], paths)
            self.entry_moves.append(as_pair(frame.env, joined, before))
        if isinstance(joined, Missing):
            return joined
        for site, value in zip(exits, values, strict=True):
            self.moves[id(site)].append(as_pair(site.env, joined, value))
        return joined if before is not None else _if_ran(joined, plan)

    def _kept_apart(
        self, name: str, values: Sequence[Value], before: Value | None, always: bool, changing: Names
    ) -> Value | None:
        """The name with a state of its own, where versions of it must not meet in one place."""
        loop, frame = self.loop, self.loop.frame
        first = [] if before is None or always else [before]
        several = any(isinstance(value, VariantValue) for value in (*first, *values))
        if loop.merge is None or not (several or path_splitting.is_marked(frame, loop.merge)):
            return None
        with frame.emit.dry_run():
            paths = joins.Paths(merge=loop.merge)
            joined = values[0] if several else joins.join(frame, name, [*first, *values], paths)
        shown = {root for value in values for root in roots(frame, value)}
        if not path_splitting.disagree(frame, [*first, *values], joined) or not changing.isdisjoint(shown):
            return None
        mark = frame.emit.mark()
        table = States(frame, [name], loop.merge, loop=True)
        try:
            for site in (*self.exits.ends, *self.exits.breaks):
                table.reached(site.env)
            numbers = list(range(len(table.rows)))
            start = {name: path_selectors.unset(name) if before is None else before}
            begin = table.reached(start)
        except path_selectors.NoOuterPlace:
            frame.emit.undo_to(mark)
            return None
        self.tables.append(table)
        return table.value(name, numbers if always else [*numbers, *begin])


def _at_last(frame: Frame, values: list[Value], last: tuple[str, Expr]) -> Value | None:
    """An integer over the loop's parameter, or a window that it places (a row), in the last iteration."""
    first = values[0]
    param, final = last
    if any(value != first for value in values):
        return None
    match first:
        case SymInt(expr=expr, weak=weak) if expr.symbols == (param,):
            return integer(expr.subs({param: final}), weak=weak)
        case ArrayValue(shape=shape, window=window) if param in window.symbols:
            dims = tuple(dim.subs({param: final}) for dim in window.dims)
            sizes = tuple(size.subs({param: final}) for size in shape)
            found = basic_indexing.not_inside_out(replace(first, window=Subset(dims), shape=sizes))
            return found if joins.is_visible(frame, found) else None
    return None


def _if_ran(value: Value, plan: LoopPlan) -> Value:
    return Maybe(value, plan.nonempty) if isinstance(plan.nonempty, Op) else value



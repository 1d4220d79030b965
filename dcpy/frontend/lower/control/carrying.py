"""What loops carry: names that one iteration hands to the next, and what they stand for after the loop.

The types at the head of a loop are found by dry runs of the body, until what flows back is what flowed in. A loop that
carries nothing needs none. Answers are kept per loop and entry types, so nests do not run inner bodies again and again.

What flows back may be another array that lives on outside (``u, v = v, u``), or of another type. Then the head has
several states (`states`), and the body is written once for each that it uses (`versions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import LoopNames
from dcpy.frontend.lower.arrays import indexing, resizing
from dcpy.frontend.lower.arrays.rehoming import rehomed
from dcpy.frontend.lower.arrays.sharing import living, require_no_late_copies, roots, separate, shown_by_others
from dcpy.frontend.lower.control import cases, merges, states, versions
from dcpy.frontend.lower.control.states import States
from dcpy.frontend.lower.frame import Flow, LoopSites, Names, Scope, Site
from dcpy.frontend.lower.objects.dataclasses import fields, made_inside
from dcpy.frontend.lower.raising import LOOP, PathsMatter, WillRaise
from dcpy.frontend.lower.sequences import references
from dcpy.frontend.values import (
    ArrayValue,
    DictValue,
    Maybe,
    Missing,
    SymInt,
    TupleValue,
    Value,
    Versions,
    integer,
    parts_of,
)
from dcpy.ir.expressions.scalar import Op, ScalarExpr
from dcpy.ir.region import Block, Region
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

MAX_ROUNDS = 100  # dry runs of one loop: types only ever get more general, but for mistakes
Execute = Callable[[Any, core.Body], Flow]
Pairs = list[tuple[Value, Value]]


@dataclass
class LoopPlan:
    """How one kind of loop is written. `enter` runs at the start of the body; `wrap` makes the block.

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
class Head:
    """What names stand for at the head of the body. Those of `table` are in one of several states there."""

    types: dict[str, Value]
    table: States | None = None
    entering: list[int] = field(default_factory=list)  # the states that the loop starts in
    around: list[int] = field(default_factory=list)  # those that iterations end in
    count: int = 0  # how many states there are

    @property
    def plain(self) -> dict[str, Value]:
        """The names that have one type."""
        kept = [] if self.table is None else self.table.names
        return {name: value for name, value in self.types.items() if name not in kept}


def run_loop(frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan, execute: Execute) -> bool:
    """Writes a sequential loop; returns whether it has a break."""
    return CarriedLoop(frame, node, names, plan, execute).run()


class CarriedLoop:
    """One sequential loop, while it is written."""

    def __init__(
        self, frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan, execute: Execute
    ) -> None:
        self.frame, self.node, self.names, self.plan, self.execute = frame, node, names, plan, execute
        self.carried = [*sorted(self.names.bound & self.names.head), *fields(frame.env)]
        self.entry = {name: frame.env.get(name, self._unset(name)) for name in self.carried}
        place = (LOOP, node.span)
        self.merge = place if versions.is_split(frame, place) else None  # None: names are not kept apart

    def run(self) -> bool:
        """Writes the loop; returns whether it has a break."""
        try:
            return self._write()
        except cases.Unplaced:
            raise self._unforeseen() from None

    def _write(self) -> bool:
        frame, names = self.frame, self.names
        head = self._head()
        states.move(
            frame, [_pair(frame.env, value, self.entry[name]) for name, value in head.plain.items()],
            states.arrivals(self.entry, self._tables(head), self._busy(head, frame.env)),
        )  # fmt: skip
        frame.emit.statement(self.node.span)
        before = {name: frame.env.get(name) for name in names.bound & names.after}
        sites, region = self._body({**frame.env, **head.types})
        exits = (*sites.ends, *sites.breaks)
        moves: dict[int, Pairs] = {id(site): [] for site in exits}
        for name, target in head.plain.items():
            for site in exits:
                if name in site.env:
                    moves[id(site)].append(_pair(site.env, target, site.env[name]))
        after = _After(self, head, before, sites, moves)
        after.find()
        tables = [*self._tables(head), *after.tables]
        ends = {id(site): states.arrivals(site.env, tables, self._busy(head, site.env)) for site in exits}
        self._require_known(head)
        for site in exits:
            _emit_moves(frame, site, moves[id(site)], ends[id(site)])
        outside = {name: before.get(name) or cases.unset(name) for table in after.tables for name in table.names}
        if after.tables or after.entering:
            states.move(frame, after.entering, states.arrivals(outside, after.tables))
        frame.emit.statement(self.node.span)
        frame.emit.block(self.plan.wrap(region))
        for name in names.bound:
            frame.env.pop(name, None)
        frame.env.update(after.types)
        for name in after.types:
            frame.env[name] = references.as_own(frame, name, frame.env[name])
        separate(frame, [site.env for site in exits],
                 {name: value for name, value in after.types.items() if name in names.after}, self.merge)  # fmt: skip
        require_no_late_copies(frame, sites.start)
        return bool(sites.breaks)

    def _require_known(self, head: Head) -> None:
        """What the dry runs have not foreseen cannot be numbered any more: lowering begins anew, and copies here."""
        if head.table is not None and len(head.table.rows) > head.count:
            raise self._unforeseen()

    def _unforeseen(self) -> PathsMatter:
        error = FrontendError("what names stand for depends on the path taken in too many ways")
        return PathsMatter(self.merge, error, apart=False)

    def _tables(self, head: Head) -> list[States]:
        return [] if head.table is None else [head.table]

    def _busy(self, head: Head, env: dict[str, Value]) -> Names:
        """Containers that names show which have one type at the head."""
        if head.table is None:
            return frozenset()
        kept = {name: value for name, value in env.items() if name not in self.carried}
        shown = [*kept.values(), *head.plain.values()]
        return frozenset(root for value in shown for root in roots(self.frame, value))

    # -- the head --------------------------------------------------------------------------------------------------

    def _head(self) -> Head:
        """What the carried names stand for at the head of the body, found by dry runs."""
        frame = self.frame
        if not self.carried:
            return Head({})
        known = [*sorted(self.names.head), *fields(frame.env)]
        key = (id(self.node), tuple((name, frame.env.get(name)) for name in known), tuple(frame.program.lists.filling))
        if key in frame.memo:
            return Head(self.entry | {name: rehomed(frame, name, value) for name, value in frame.memo[key].items()})
        apart: list[str] = []  # names that are kept apart
        mark = frame.emit.mark()
        while True:
            try:
                head = self._settled(apart)
            except _KeepApart as found:
                apart.append(found.name)
                apart.sort()
            except cases.Unplaced:
                self.merge, apart = None, []
            else:
                break
            frame.emit.undo_to(mark)
        if head.table is None:
            frame.memo[key] = {name: value for name, value in head.types.items() if value != self.entry[name]}
        return head

    def _settled(self, apart: list[str]) -> Head:
        """The fixed point over dry runs, with some names kept apart."""
        frame = self.frame
        head = Head(dict(self.entry), States(frame, apart, self.merge, loop=True) if apart else None)
        settled = False
        for _ in range(MAX_ROUNDS):
            if head.table is not None:
                head.entering = head.table.reached(self.entry, self._busy(head, frame.env))
                numbers = [*head.entering, *head.around]
                head.types |= {name: head.table.value(name, numbers) for name in apart}
            sites = self._tried(head)
            plain = head.plain
            found = {name: self._join_back(name, plain[name], sites, settled) for name in plain}
            around = self._around(head, sites)
            same = found == plain and around == head.around
            if same and not settled:  # now that kinds are known, what flows back must have them
                settled = True
                found = {name: self._join_back(name, plain[name], sites, settled) for name in plain}
                same = found == plain
            if same:
                head.count = 0 if head.table is None else len(head.table.rows)
                return head
            head.types |= found
            head.around = around
        raise FrontendError(
            "what the names of this loop stand for does not settle", span=self.node.span,
            help="assign the names that change their type or shape before the loop, with the type that they have in it",
        )  # fmt: skip

    def _tried(self, head: Head) -> LoopSites:
        """Where a dry run of the body ends."""
        frame = self.frame
        with frame.emit.dry_run():
            sites, _ = self._body({**frame.env, **head.types})
            detached = dict(frame.b.detached)
            twins = [(one, *other) for one, others in frame.b.twins.items() for other in others.items()]
            sites.copied = frozenset(one for one, _, _ in twins)
            if head.table is not None:
                head.table.past |= frame.emit.descs
                head.table.past_homes |= frame.homes()
        for container in detached:
            if container in frame.emit.descs:
                frame.b.detached.setdefault(container, detached[container])
        for one, other, merge in twins:
            if all(name in frame.emit.descs or name + references.ITEMS in frame.env for name in (one, other)):
                frame.b.twin(one, other, merge)
        return sites

    def _around(self, head: Head, sites: LoopSites) -> list[int]:
        """The states in which iterations end that go on with another one."""
        table, found = head.table, dict.fromkeys(head.around)
        if table is not None:
            self._require_still(head, sites)
            for site in sites.ends:
                found |= dict.fromkeys(table.reached(site.env, self._busy(head, site.env)))
            for site in sites.breaks:
                table.reached(site.env, self._busy(head, site.env))
        return sorted(found)

    def _require_still(self, head: Head, sites: LoopSites) -> None:
        """What a name that is kept apart shows must not be where another name gets its next version."""
        frame, apart = self.frame, [] if head.table is None else head.table.names
        for site in (*sites.ends, *sites.breaks):
            shown = {root for name in apart for root in roots(frame, site.env.get(name, cases.unset(name)))}
            for name, target in head.plain.items():
                moved = [_pair(site.env, target, site.env[name])] if name in site.env else []
                if not shown.isdisjoint(merges.written(frame, moved)):
                    raise _KeepApart(name)

    def _join_back(self, name: str, head: Value, sites: LoopSites, settled: bool) -> Value:
        frame, names = self.frame, self.names
        if isinstance(head, Missing) and not head.unset:
            return head
        found = [site for site in (*sites.ends, *sites.breaks) if name in site.env]
        values = [site.env[name] for site in found]
        if all(value == head for value in values):
            return head
        if self._changes_hands(head, values):
            raise _KeepApart(name)
        paths = merges.Paths(
            [frame.emit.ranges, *(site.ranges for site in found)],
            [living(env, names.head) for env in (frame.env, *(site.env for site in found))],
            busy=shown_by_others(frame, name, [frame.env]),
            copied=sites.copied,
            entering=0 if settled else 1 + len(found),
            merge=self.merge,
        )
        mark = frame.emit.mark()
        joined = merges.join(frame, name, [head, *values], paths)
        if versions.is_marked(frame, self.merge) and versions.disagree(frame, [head, *values], joined):
            frame.emit.undo_to(mark)
            raise _KeepApart(name)
        return resizing.widened(frame, name, head, joined, paths.busy)

    def _changes_hands(self, head: Value, values: Sequence[Value]) -> bool:
        """Whether the name, or an item of the list, shows another array now that lives on outside of the loop.

        No copy shall be made of it then.
        """
        if self.merge is None:
            return False
        if any(isinstance(value, Versions) for value in (head, *values)):
            return True
        if isinstance(head, TupleValue | DictValue):
            return self._items_change_hands(head, values)
        if not isinstance(head, ArrayValue) or not merges.is_visible(self.frame, head):
            return False
        arrays = [value for value in values if value != head]
        known = [part for value in self.entry.values() for part in parts_of(value)]
        parts = [value for value in arrays if isinstance(value, ArrayValue) and value.container == head.container]
        if any(value.axes == head.axes and value not in known for value in parts):
            return False  # another part of the same array: a window that moves
        return all(isinstance(value, ArrayValue) and merges.is_visible(self.frame, value) for value in arrays)

    def _items_change_hands(self, head: TupleValue | DictValue, values: Sequence[Value]) -> bool:
        """Whether some item does: the list is kept apart as a whole."""
        if any(versions.places_of(value) != versions.places_of(head) for value in values):
            return False
        columns = zip(parts_of(head), *map(parts_of, values), strict=True)
        return any(
            any(item != first for item in others) and self._changes_hands(first, others) for first, *others in columns
        )

    def _unset(self, name: str) -> Missing:
        reason = f"{name!r} has no value in the first iteration"
        return Missing(reason, self.node.span, f"assign {name!r} before the loop", unset=True)

    # -- the body --------------------------------------------------------------------------------------------------

    def _body(self, env: dict[str, Value]) -> tuple[LoopSites, Region]:
        """One run of the body; where control leaves it."""
        frame = self.frame
        scope = Scope(Region(), "loop", self.names.head | self.names.after)
        with frame.looping("loop") as sites, frame.entering(scope, self.plan.ranges):
            frame.env = dict(env)
            for name in sorted(self.names.head & env.keys()):
                frame.env[name] = references.as_own(frame, name, env[name])
            try:
                self.plan.enter()
            except WillRaise as error:  # where the body is reached
                frame.b.raise_here(error)
                return sites, scope.region
            flow = self.execute(frame, self.node.body)
            if flow is Flow.ON:
                sites.ends.append(Site(scope.region, frame.env, False, frame.emit.ranges))
        return sites, scope.region


def _pair(env: Mapping[str, Value], target: Value, source: Value) -> tuple[Value, Value]:
    """What moves where; of a list that changes hands, the items."""
    return target, references.as_source(env, target, source)


class _KeepApart(Exception):
    """A name must not meet in one container at the head of a loop."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


# -- after the loop ----------------------------------------------------------------------------------------------------


@dataclass
class _After:
    """Finds what names stand for after a loop."""

    loop: CarriedLoop
    head: Head
    before: dict[str, Value | None]
    sites: LoopSites
    moves: dict[int, Pairs]  # what moves at the end of an iteration, by site
    types: dict[str, Value] = field(default_factory=dict)
    entering: Pairs = field(default_factory=list)  # what moves before the loop
    tables: list[States] = field(default_factory=list)

    def find(self) -> None:
        """Fills `types`, and adds to `moves` and `entering`."""
        frame, names = self.loop.frame, self.loop.names
        self.types = self._carried()
        exits = (*self.sites.ends, *self.sites.breaks)
        last = sorted((names.bound & names.after) - names.head)
        wanted = [*last, *made_inside(frame.env, exits, last)]
        for name in wanted:
            changing = frozenset().union(*(merges.written(frame, pairs) for pairs in self.moves.values()))
            self.types[name] = self._value(name, self.before.get(name), changing)

    def _carried(self) -> dict[str, Value]:
        """The carried names: those that are kept apart are in a state in which the loop may end."""
        head, plan, sites = self.head, self.loop.plan, self.sites
        table = head.table
        if table is None:
            return dict(head.types)
        numbers = [] if plan.endless else list(head.around)
        if plan.nonempty is not True and not plan.endless:
            numbers += head.entering
        for site in sites.breaks:
            numbers += table.reached(site.env, self.loop._busy(head, site.env))
        numbers = numbers or head.entering
        return head.plain | {name: table.value(name, numbers) for name in table.names}

    def _value(self, name: str, before: Value | None, changing: Names) -> Value:
        """What a name that each iteration sets anew stands for after the loop.

        `changing`: containers that names which the loop carries take at the end of an iteration.
        """
        frame, names, plan, sites = self.loop.frame, self.loop.names, self.loop.plan, self.sites
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
        facts, envs = [site.ranges for site in exits], [living(site.env, names.after) for site in exits]
        busy = shown_by_others(frame, name, [frame.env, *envs])
        if before is None or always:
            paths = merges.Paths(facts, envs, busy, changing, merge=self.loop.merge)
            joined = merges.join(frame, name, values, paths)
        else:
            facts, envs = [frame.emit.ranges, *facts], [living(frame.env, names.after), *envs]
            paths = merges.Paths(facts, envs, busy, changing, entering=1, merge=self.loop.merge)
            joined = merges.join(frame, name, [before, *values], paths)
            self.entering.append(_pair(frame.env, joined, before))
        if isinstance(joined, Missing):
            return joined
        for site, value in zip(exits, values, strict=True):
            self.moves[id(site)].append(_pair(site.env, joined, value))
        return joined if before is not None else _if_ran(joined, plan)

    def _kept_apart(
        self, name: str, values: Sequence[Value], before: Value | None, always: bool, changing: Names
    ) -> Value | None:
        """The name with a state of its own, where versions of it must not meet in one place."""
        loop, frame = self.loop, self.loop.frame
        first = [] if before is None or always else [before]
        several = any(isinstance(value, Versions) for value in (*first, *values))
        if loop.merge is None or not (several or versions.is_marked(frame, loop.merge)):
            return None
        with frame.emit.dry_run():
            paths = merges.Paths(merge=loop.merge)
            joined = values[0] if several else merges.join(frame, name, [*first, *values], paths)
        shown = {root for value in values for root in roots(frame, value)}
        if not versions.disagree(frame, [*first, *values], joined) or not changing.isdisjoint(shown):
            return None
        mark = frame.emit.mark()
        table = States(frame, [name], loop.merge, loop=True)
        try:
            for site in (*self.sites.ends, *self.sites.breaks):
                table.reached(site.env)
            numbers = list(range(len(table.rows)))
            start = {name: cases.unset(name) if before is None else before}
            begin = table.reached(start)
        except cases.Unplaced:
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
            found = indexing.not_inside_out(replace(first, window=Subset(dims), shape=sizes))
            return found if merges.is_visible(frame, found) else None
    return None


def _if_ran(value: Value, plan: LoopPlan) -> Value:
    return Maybe(value, plan.nonempty) if isinstance(plan.nonempty, Op) else value


def _emit_moves(frame: Frame, site: Site, pairs: Pairs, end: Sequence[states.Arrival]) -> None:
    """Assigns at a place where control leaves the body: before its last block, where that is the jump."""
    if not pairs and not any(arrival.numbers for arrival in end):
        return
    jump = site.region.blocks[-1] if site.before_last else None
    if jump is not None:
        site.region.remove(jump)
    with frame.emit.inside(site.region, site.ranges):
        states.move(frame, pairs, end)
    if jump is not None:
        site.region.add(jump)

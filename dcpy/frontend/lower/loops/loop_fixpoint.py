"""Loop fixed point: the types of loop-carried names at the head of a loop, found by dry runs of the body.

The types at the head of a loop are found by dry runs of the body, until what flows back is what flowed in. A loop that
carries nothing needs none. Answers are kept per loop and entry types, so nests do not run inner bodies again and again.

What flows back may be another array that lives on outside (``u, v = v, u``), or of another type. Then the head has
several states (`path_states`), and the body is written once for each that it uses (`path_splitting`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Missing,
    TupleValue,
    Value,
    VariantValue,
    parts_of,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import LoopNames
from dcpy.frontend.lower.arrays import dynamic_sizes
from dcpy.frontend.lower.arrays.dry_run_storage import in_slots_again
from dcpy.frontend.lower.arrays.name_aliases import (
    live_values,
    require_no_late_copies,
    roots,
    separate_aliases,
    shown_by_others,
)
from dcpy.frontend.lower.control import joins, path_selectors, path_splitting, path_states
from dcpy.frontend.lower.control.path_states import States
from dcpy.frontend.lower.frame import ExitPoint, Flow, LoopExits, OpenRegion
from dcpy.frontend.lower.loops import carried_kinds
from dcpy.frontend.lower.loops.loop_entry import EnteredLoop, LoopHead, LoopPlan
from dcpy.frontend.lower.loops.loop_exit import AfterLoop, Pairs, as_pair
from dcpy.frontend.lower.lowering_signals import PathsMatter, WillRaise
from dcpy.frontend.lower.objects.dataclass_objects import fields
from dcpy.frontend.lower.sequences import growing_texts, list_references
from dcpy.ir.region import Region

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

MAX_ROUNDS = 100  # dry runs of one loop: types only ever get more general, but for mistakes
Execute = Callable[[Any, core.Body], Flow]


def run_loop(frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan, execute: Execute) -> bool:
    """Write a sequential loop; return whether it has a break."""
    return CarriedLoop(frame, node, names, plan, execute).run()


class CarriedLoop(EnteredLoop):
    """One sequential loop, while it is written."""

    def __init__(
        self, frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan, execute: Execute
    ) -> None:
        super().__init__(frame, node, names, plan)
        self.execute = execute

    def run(self) -> bool:
        """Write the loop; return whether it has a break."""
        try:
            return self._write()
        except path_selectors.NoOuterPlace:
            raise self._unforeseen() from None

    def _write(self) -> bool:
        frame, names = self.frame, self.names
        head = self._head()
        path_states.move(
            frame, [as_pair(frame.env, value, self.entry[name]) for name, value in head.plain.items()],
            path_states.path_ends(self.entry, self._tables(head), self.busy(head, frame.env)),
        )  # fmt: skip
        frame.emit.statement(self.node.span)
        before = {name: frame.env.get(name) for name in names.bound & names.after}
        marks = carried_kinds.marked(head.plain, self.entry)
        sites, region = self._body({**frame.env, **head.types, **marks})
        exits = (*sites.ends, *sites.breaks)
        moves: dict[int, Pairs] = {id(site): [] for site in exits}
        for name, target in head.plain.items():
            for site in exits:
                if name in site.env:
                    moves[id(site)].append(as_pair(site.env, target, site.env[name]))
        after = AfterLoop(self, head, before, sites, moves, converted_numbers=marks)
        after.find()
        tables = [*self._tables(head), *after.tables]
        ends = {id(site): path_states.path_ends(site.env, tables, self.busy(head, site.env)) for site in exits}
        self._require_known(head)
        for site in exits:
            _emit_moves(frame, site, moves[id(site)], ends[id(site)])
        outside = {
            name: before.get(name) or path_selectors.unset(name) for table in after.tables for name in table.names
        }
        if after.tables or after.entry_moves:
            path_states.move(frame, after.entry_moves, path_states.path_ends(outside, after.tables))
        for told in after.kinds_after_loop:
            told.begin(frame)
        frame.emit.statement(self.node.span)
        frame.emit.block(self.plan.wrap(region))
        for name in names.bound:
            frame.env.pop(name, None)
        frame.env.update(after.types)
        for name in after.types:
            frame.env[name] = list_references.as_own(frame, name, frame.env[name])
        separate_aliases(frame, [site.env for site in exits],
                 {name: value for name, value in after.types.items() if name in names.after}, self.merge)  # fmt: skip
        require_no_late_copies(frame, sites.start)
        return bool(sites.breaks)

    def _require_known(self, head: LoopHead) -> None:
        """Restart lowering, with copies here, if the head has states that the dry runs did not find."""
        if head.table is not None and len(head.table.rows) > head.count:
            raise self._unforeseen()

    def _unforeseen(self) -> PathsMatter:
        error = FrontendError("the values of names depend on the path taken in too many ways")
        return PathsMatter(self.merge, error, keep_apart=False)

    def _tables(self, head: LoopHead) -> list[States]:
        return [] if head.table is None else [head.table]

    # -- the head --------------------------------------------------------------------------------------------------

    def _head(self) -> LoopHead:
        """Return the values of the carried names at the head of the body, found by dry runs."""
        frame = self.frame
        if not self.carried:
            return LoopHead({})
        known = [*sorted(self.names.head), *fields(frame.env)]
        key = (
            id(self.node),
            tuple((name, frame.env.get(name)) for name in known),
            tuple(frame.program.lists.preallocated),
        )
        if key in frame.memo:
            there = {name: in_slots_again(frame, name, value) for name, value in frame.memo[key].items()}
            return LoopHead(self.entry | there)
        apart: list[str] = []  # names that are kept apart
        mark = frame.emit.mark()
        while True:
            try:
                head = self._fixed_point(apart)
            except _KeepApart as found:
                apart.append(found.name)
                apart.sort()
            except path_selectors.NoOuterPlace:
                self.merge, apart = None, []
            else:
                break
            frame.emit.undo_to(mark)
        if head.table is None:
            frame.memo[key] = {name: value for name, value in head.types.items() if value != self.entry[name]}
        return head

    def _fixed_point(self, apart: list[str]) -> LoopHead:
        """The fixed point over dry runs, with some names kept apart."""
        frame = self.frame
        head = LoopHead(dict(self.entry), States(frame, apart, self.merge, loop=True) if apart else None)
        settled = False
        for _ in range(MAX_ROUNDS):
            if head.table is not None:
                head.entry_states = head.table.reached(self.entry, self.busy(head, frame.env))
                numbers = [*head.entry_states, *head.back_edge_states]
                head.types |= {name: head.table.value(name, numbers) for name in apart}
            sites = self._tried(head)
            plain = head.plain
            found = {name: self._join_back(name, plain[name], sites, settled) for name in plain}
            around = self._around(head, sites)
            same = found == plain and around == head.back_edge_states
            if same and not settled:  # now that kinds are known, what flows back must have them
                settled = True
                found = {name: self._join_back(name, plain[name], sites, settled) for name in plain}
                same = found == plain
            if same:
                head.count = 0 if head.table is None else len(head.table.rows)
                return head
            head.types |= found
            head.back_edge_states = around
        raise FrontendError(
            "the types of names in this loop do not settle", span=self.node.span,
            help="assign the names that change their type or shape before the loop, with the type that they have in it",
        )  # fmt: skip

    def _tried(self, head: LoopHead) -> LoopExits:
        """Return the exits of a dry run of the body."""
        frame = self.frame
        with frame.emit.dry_run():
            sites, _ = self._body({**frame.env, **head.types})
            detached = dict(frame.b.invalidated_aliases)
            twins = [(one, *other) for one, others in frame.b.aliased_copies.items() for other in others.items()]
            sites.copied_containers = frozenset(one for one, _, _ in twins)
            if head.table is not None:
                head.table.discarded_containers |= frame.emit.descs
                head.table.discarded_slots |= frame.slots()
        for container in detached:
            if container in frame.emit.descs:
                frame.b.invalidated_aliases.setdefault(container, detached[container])
        for one, other, merge in twins:
            if all(name in frame.emit.descs or name + list_references.ITEMS in frame.env for name in (one, other)):
                frame.b.split_alias(one, other, merge)
        return sites

    def _around(self, head: LoopHead, sites: LoopExits) -> list[int]:
        """The states in which iterations end that go on with another one."""
        table, found = head.table, dict.fromkeys(head.back_edge_states)
        if table is not None:
            self._require_still(head, sites)
            for site in sites.ends:
                found |= dict.fromkeys(table.reached(site.env, self.busy(head, site.env)))
            for site in sites.breaks:
                table.reached(site.env, self.busy(head, site.env))
        return sorted(found)

    def _require_still(self, head: LoopHead, sites: LoopExits) -> None:
        """Restart lowering if a name that is kept apart shows memory to which another name moves."""
        frame, apart = self.frame, [] if head.table is None else head.table.names
        for site in (*sites.ends, *sites.breaks):
            shown = {root for name in apart for root in roots(frame, site.env.get(name, path_selectors.unset(name)))}
            for name, target in head.plain.items():
                moved = [as_pair(site.env, target, site.env[name])] if name in site.env else []
                if not shown.isdisjoint(joins.written(frame, moved)):
                    raise _KeepApart(name)

    def _join_back(self, name: str, head: Value, sites: LoopExits, settled: bool) -> Value:
        frame, names = self.frame, self.names
        if isinstance(head, Missing) and not head.unset:
            return head
        found = [site for site in (*sites.ends, *sites.breaks) if name in site.env]
        values = [site.env[name] for site in found]
        if all(value == head for value in values):
            return head
        texts_grow = growing_texts.grows_in(self.node.body, name, (head, *values))
        if not texts_grow and self._changes_hands(head, values):
            raise _KeepApart(name)
        paths = joins.Paths(
            [frame.emit.ranges, *(site.ranges for site in found)],
            [live_values(env, names.head) for env in (frame.env, *(site.env for site in found))],
            visible_containers=shown_by_others(frame, name, [frame.env]),
            copied_containers=sites.copied_containers,
            entering=0 if settled else 1 + len(found),
            merge=self.merge, texts_grow=texts_grow,
        )  # fmt: skip
        mark = frame.emit.mark()
        joined = joins.join(frame, name, [head, *values], paths)
        if texts_grow:
            return joined
        if path_splitting.is_marked(frame, self.merge) and path_splitting.disagree(frame, [head, *values], joined):
            frame.emit.undo_to(mark)
            raise _KeepApart(name)
        return dynamic_sizes.widened(frame, name, head, joined, paths.visible_containers)

    def _changes_hands(self, head: Value, values: Sequence[Value]) -> bool:
        """Return whether the name, or an item of the list, shows another array now that lives on outside of the loop.

        No copy shall be made of it then.
        """
        if self.merge is None:
            return False
        if any(isinstance(value, VariantValue) for value in (head, *values)):
            return True
        if isinstance(head, TupleValue | DictValue):
            return self._items_change_hands(head, values)
        if not isinstance(head, ArrayValue) or not joins.is_visible(self.frame, head):
            return False
        arrays = [value for value in values if value != head]
        known = [part for value in self.entry.values() for part in parts_of(value)]
        parts = [value for value in arrays if isinstance(value, ArrayValue) and value.container == head.container]
        if any(value.axes == head.axes and value not in known for value in parts):
            return False  # another part of the same array: a window that moves
        return all(isinstance(value, ArrayValue) and joins.is_visible(self.frame, value) for value in arrays)

    def _items_change_hands(self, head: TupleValue | DictValue, values: Sequence[Value]) -> bool:
        """Return whether some item does: the list is kept apart as a whole."""
        if any(path_splitting.places_of(value) != path_splitting.places_of(head) for value in values):
            return False
        columns = zip(parts_of(head), *map(parts_of, values), strict=True)
        return any(
            any(item != first for item in others) and self._changes_hands(first, others) for first, *others in columns
        )

    # -- the body --------------------------------------------------------------------------------------------------

    def _body(self, env: dict[str, Value]) -> tuple[LoopExits, Region]:
        """One run of the body; where control leaves it."""
        frame = self.frame
        scope = OpenRegion(Region(), "loop", self.names.head | self.names.after)
        with frame.looping("loop") as sites, frame.entering(scope, self.plan.ranges):
            sites.carried = self.names.bound & self.names.head
            frame.env = dict(env)
            of_objects = [name for name in fields(env) if not name.endswith(list_references.ITEMS)]
            for name in (*sorted(self.names.head & env.keys()), *of_objects):
                frame.env[name] = list_references.as_own(frame, name, env[name])
            try:
                self.plan.enter()
            except WillRaise as error:  # where the body is reached
                frame.b.raise_here(error)
                return sites, scope.region
            flow = self.execute(frame, self.node.body)
            if flow is Flow.ON:
                sites.ends.append(ExitPoint(scope.region, frame.env, False, frame.emit.ranges))
        return sites, scope.region


class _KeepApart(Exception):
    """A name must not meet in one container at the head of a loop."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _emit_moves(frame: Frame, site: ExitPoint, pairs: Pairs, end: Sequence[path_states.PathEnd]) -> None:
    """Assign at a place where control leaves the body: before its last block, where that is the jump."""
    if not pairs and not any(arrival.numbers for arrival in end):
        return
    jump = site.region.blocks[-1] if site.before_last else None
    if jump is not None:
        site.region.remove(jump)
    with frame.emit.inside(site.region, site.ranges):
        path_states.move(frame, pairs, end)
    if jump is not None:
        site.region.add(jump)

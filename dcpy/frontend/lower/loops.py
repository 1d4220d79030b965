"""Loops: which iterables become sequential loops, parallel maps, or copies of the body; and what loops carry.

The types at the head of a loop are found by dry runs of the body, until what flows back is what flowed in. A loop that
carries nothing needs none. Answers are kept per loop and entry types, so nests do not run inner bodies again and again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import LoopNames
from dcpy.frontend.lists import ListValue
from dcpy.frontend.lower import filling, listing, maps, merges, references, sequences, yielding
from dcpy.frontend.lower.assignment import assign
from dcpy.frontend.lower.callbacks import CallbackInMap
from dcpy.frontend.lower.comparisons import as_value, inverse
from dcpy.frontend.lower.expressions import condition, evaluate
from dcpy.frontend.lower.frame import Flow, LoopSites, Names, Scope, Site
from dcpy.frontend.lower.objects import fields, made_inside
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.lower.refine import bind_parameter, refine
from dcpy.frontend.lower.sharing import living, roots, separate, shown_by_others
from dcpy.frontend.values import (
    ArrayValue,
    IteratorValue,
    MapValue,
    Maybe,
    Missing,
    RangeValue,
    RecordValue,
    Resized,
    Scalar,
    Static,
    SymInt,
    TupleValue,
    Value,
    integer,
    kind_of,
    scalar_expr,
)
from dcpy.ir import types
from dcpy.ir.expr import Const, Index, Load, Op, ScalarExpr, op
from dcpy.ir.region import Block, Branch, Break, Loop, Region, While
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Execute = Callable[[Any, core.Body], Flow]
MAX_UNROLLED = 256


@dataclass
class LoopPlan:
    """How one kind of loop is written. `enter` runs at the start of the body; `wrap` makes the block.

    `nonempty` holds where the body runs at least once: True, None (not known), or a condition. `last` replaces the
    parameter by its last value.
    """

    enter: Callable[[], None]
    wrap: Callable[[Region], Block]
    ranges: Ranges
    nonempty: bool | ScalarExpr | None = None
    last: tuple[str, Expr] | None = None


def run_for(frame: Frame, node: core.For, execute: Execute) -> Flow:
    """``for target in iterable``."""
    iterable = evaluate(frame, node.iterable)
    if isinstance(iterable, MapValue):
        try:
            with frame.emit.undone_by(CallbackInMap):
                return maps.run_map(frame, node, iterable, execute)
        except CallbackInMap:
            if frame.map_scopes():  # the maps around this one are loops, too
                raise
    if yielding.is_generated(iterable):
        return yielding.run_generated(frame, node, iterable, execute)
    keys = references.tokens(iterable) if references.is_on(frame) else []
    before = references.changes_of(frame, keys)
    if sequences.is_known(iterable):
        live = isinstance(iterable, TupleValue) and iterable.is_list and keys[:1] == [iterable.token]
        flow = _unroll(frame, node, iterable, execute, keys[0] if live else "")
        keys = [] if live else keys
    else:
        flow = _count(frame, node, iterable, execute)
    references.require_unchanged(frame, iterable, keys, before)
    return flow


def _count(frame: Frame, node: core.For, iterable: Value, execute: Execute) -> Flow:
    """The values of a range, or the positions of items of one kind."""
    names = frame.liveness.loops[node]
    stem = node.target.id if isinstance(node.target, ast.Name) else "i"
    extent = extent_of(frame, iterable)
    if frame.emit.ranges.proves_le(extent.size, 0):
        return Flow.ON  # the body never runs, and reads items that do not exist
    param = frame.emit.parameter(stem, extent)
    ranges = frame.emit.ranges
    if extent.step.constant is not None:
        ranges = bind_parameter(ranges, param, extent)

    def enter() -> None:
        index = sym(param)
        value = integer(index) if isinstance(iterable, RangeValue) else sequences.at(frame.b, iterable, index)
        assign(frame, node.target, value)

    def wrap(body: Region) -> Block:
        return Loop(param, extent, body, span=frame.emit.placed(node.span))

    nonempty: bool | ScalarExpr = frame.emit.ranges.proves_nonneg(extent.size - 1) or op(
        "gt", Index(extent.size), Const(0, types.int64)
    )
    plan = LoopPlan(enter, wrap, ranges, nonempty, (param, extent.last))
    keys = filling.appended_lists(frame, node) if references.is_on(frame) else []
    if not keys:
        run_loop(frame, node, names, plan, execute)
        return Flow.ON
    place = filling.place_of(extent, sym(param))

    def run() -> None:
        for key in keys:
            if key in frame.program.filling:
                frame.program.filling[key].place = place
        run_loop(frame, node, names, plan, execute)

    filling.run_filling(frame, keys, frame.b.exact(extent.size_within(frame.emit.ranges)), run)
    return Flow.ON


def extent_of(frame: Frame, iterable: Value) -> Range:
    """The values of the loop's parameter: those of a range, else positions."""
    match iterable:
        case RangeValue():
            return iterable.range
        case ArrayValue() | IteratorValue() | MapValue() | ListValue():
            return Range(ZERO, sequences.length(frame.b, iterable))
    is_set = isinstance(iterable, Static) and isinstance(iterable.value, set | frozenset)
    raise FrontendError(
        f"cannot loop over {kind_of(iterable)}",
        notes=("a set has no order that two runs agree on",) if is_set else (),
        help="loop over range(...), an array, or a tuple",
    )


def _unroll(frame: Frame, node: core.For, iterable: Value, execute: Execute, key: str) -> Flow:
    """Items that differ in kind: the body once for each. `key`: of the list, which the body may change."""
    items = sequences.items(frame.b, iterable)
    if len(items) > MAX_UNROLLED:
        raise FrontendError(
            f"a loop over {len(items)} items of a tuple or list is too long to be unrolled",
            help="make it an array: np.array(...)",
        )
    with frame.looping("unrolled"):
        for item in references.items_now(frame, key, items) if key else items:
            assign(frame, node.target, item)
            flow = execute(frame, node.body)
            if flow is Flow.BREAK:
                break
            if flow is Flow.LEFT:
                return flow
    return Flow.ON


def run_while(frame: Frame, node: core.While, execute: Execute) -> Flow:
    """``while test``. A test that needs code of its own is tested inside the body."""
    names = frame.liveness.loops[node]
    tests: list[ScalarExpr] = []
    first: list[bool] = []

    def enter() -> None:
        with frame.emit.attempt() as region:
            test = condition(frame, node.test)
        tests.clear()
        first.clear()  # what a dry run found counts only if it was the last
        if region.blocks or region.containers:
            for name, desc in region.containers.items():
                frame.emit.region.containers[name] = desc
                frame.emit.regions[name] = frame.emit.region
            for block in list(region.blocks):
                frame.emit.block(block)
            stop = scalar_expr(as_value(inverse(test)))
            break_if(frame, stop)
            return
        if isinstance(test, bool):
            first.append(test)
            test = Const(test, types.bool_)
        tests.append(test)
        frame.emit.ranges = refine(frame.emit.ranges, test, holds=True)

    def wrap(body: Region) -> Block:
        condition = tests[0] if tests else Const(True, types.bool_)
        return While(condition, body, span=frame.emit.placed(node.span))

    known = _known_test(frame, node)
    if known is False:
        return Flow.ON
    breaks = run_loop(frame, node, names, LoopPlan(enter, wrap, frame.emit.ranges, known or None), execute)
    endless = first and all(first) and not breaks
    return Flow.LEFT if endless else Flow.ON


def _known_test(frame: Frame, node: core.While) -> bool | None:
    """Whether the test is known to hold the first time, or known not to; None where it is neither."""
    if isinstance(node.test, core.Flag | ast.Constant):
        return bool(node.test.value)
    env = frame.env
    frame.env = dict(env)
    with frame.emit.dry_run():
        test = condition(frame, node.test)
    frame.env = env
    return test if isinstance(test, bool) else None


def break_if(frame: Frame, stop: ScalarExpr) -> None:
    """Leaves the loop that is being written where a test holds."""
    body = Region()
    with frame.emit.inside(body):
        frame.emit.block(Break())
    site = Site(body, dict(frame.env), True, frame.emit.ranges)
    frame.loops[-1].breaks.append(site)
    frame.emit.block(Branch([(stop, body)], None))


# -- what loops carry ------------------------------------------------------------------------------------------------


def run_loop(frame: Frame, node: core.For | core.While, names: LoopNames, plan: LoopPlan, execute: Execute) -> bool:
    """Writes a sequential loop; returns whether it has a break."""
    carried = [*sorted(names.bound & names.head), *fields(frame.env)]
    entry = {name: frame.env[name] for name in carried if name in frame.env}
    head = _head_types(frame, node, names, plan, execute, carried, entry)
    merges.move(
        frame,
        [(head[name], references.as_source(frame.env, head[name], entry.get(name, _unset(name, node))))
         for name in carried],
    )  # fmt: skip
    frame.emit.statement(node.span)
    before = {name: frame.env.get(name) for name in names.bound & names.after}
    sites, region = _body(frame, names, plan, execute, node.body, {**frame.env, **head})
    moves: dict[int, list[tuple[Value, Value]]] = {id(site): [] for site in (*sites.ends, *sites.breaks)}
    for name, target in head.items():
        for site in (*sites.ends, *sites.breaks):
            if name in site.env:
                moves[id(site)].append((target, references.as_source(site.env, target, site.env[name])))
    after = dict(head)
    entering: list[tuple[Value, Value]] = []
    last = sorted((names.bound & names.after) - names.head)
    for name in (*last, *made_inside(frame.env, (*sites.ends, *sites.breaks), last)):
        changing = frozenset().union(*(merges.written(frame, pairs) for pairs in moves.values()))
        after[name] = _value_after(frame, name, before.get(name), names, sites, plan, moves, entering, changing)
    for site in (*sites.ends, *sites.breaks):
        _emit_moves(frame, site, moves[id(site)])
    merges.move(frame, entering)
    frame.emit.statement(node.span)
    frame.emit.block(plan.wrap(region))
    for name in names.bound:
        frame.env.pop(name, None)
    frame.env.update(after)
    for name in after:
        frame.env[name] = references.as_own(frame, name, frame.env[name])
    exits = (*sites.ends, *sites.breaks)
    separate(frame, [site.env for site in exits], {name: after[name] for name in after if name in names.after})
    return bool(sites.breaks)


def _head_types(
    frame: Frame, node: Any, names: LoopNames, plan: LoopPlan, execute: Execute, carried: list[str],
    entry: dict[str, Value],
) -> dict[str, Value]:  # fmt: skip
    """What the carried names stand for at the head of the body, found by dry runs."""
    if not carried:
        return {}
    start = {name: entry.get(name, _unset(name, node)) for name in carried}
    known = [*sorted(names.head), *fields(frame.env)]
    key = (id(node), tuple((name, frame.env.get(name)) for name in known), tuple(frame.program.filling))
    if key in frame.memo:
        return start | {name: _rehome(frame, name, value) for name, value in frame.memo[key].items()}
    head, settled = dict(start), False
    while True:
        detached: dict[str, str] = {}
        with frame.emit.dry_run():
            sites, _ = _body(frame, names, plan, execute, node.body, {**frame.env, **head})
            detached = dict(frame.b.detached)
        for container in detached:
            if container in frame.emit.descs:
                frame.b.detached.setdefault(container, detached[container])
        found = {name: _join_back(frame, name, head[name], sites, names, settled) for name in carried}
        if found == head and not settled:  # now that kinds are known, what flows back must have them
            settled = True
            found = {name: _join_back(frame, name, head[name], sites, names, settled) for name in carried}
        if found == head:
            break
        head = found
    frame.memo[key] = {name: value for name, value in head.items() if value != start[name]}
    return head


def _unset(name: str, node: core.For | core.While) -> Missing:
    reason = f"{name!r} has no value in the first iteration"
    return Missing(reason, node.span, f"assign {name!r} before the loop", unset=True)


def _join_back(frame: Frame, name: str, head: Value, sites: LoopSites, names: LoopNames, settled: bool) -> Value:
    if isinstance(head, Missing) and not head.unset:
        return head
    found = [site for site in (*sites.ends, *sites.breaks) if name in site.env]
    values = [site.env[name] for site in found]
    if all(value == head for value in values):
        return head
    paths = merges.Paths(
        [frame.emit.ranges, *(site.ranges for site in found)],
        [living(env, names.head) for env in (frame.env, *(site.env for site in found))],
        busy=shown_by_others(frame, name, [frame.env]),
        entering=0 if settled else 1 + len(found),
    )
    return merges.join(frame, name, [head, *values], paths)


def _rehome(frame: Frame, name: str, value: Value) -> Value:
    """The same type in a home that exists now (dry runs take theirs back)."""
    match value:
        case Scalar(expr=Load(dtype=dtype), weak=weak, instead=instead):
            return frame.home(name, dtype, weak, instead)
        case ArrayValue(dtype=dtype, shape=shape):
            return frame.array_home(name, dtype, shape, shown_by_others(frame, name, [frame.env]))
        case ListValue(array=array) if value.size:
            return frame.list_home(name, listing.kind_of_list(frame.b, value))
        case ListValue(array=array):
            again = _rehome(frame, name, array)
            assert isinstance(again, ArrayValue)
            return replace(value, array=again)
        case Resized(home=home, sizes=sizes):
            moved = frame.array_home(name, home.dtype, home.shape, shown_by_others(frame, name, [frame.env]))
            kept = tuple(None if size is None else frame.size_home(name, k) for k, size in enumerate(sizes))
            return Resized(moved, kept)
        case Maybe(value=inner, condition=Load()):
            return Maybe(_rehome(frame, name, inner), frame.flag(name))
        case TupleValue(items=items) | RecordValue(items=items):
            return replace(value, items=tuple(_rehome(frame, f"{name}_{k}", item) for k, item in enumerate(items)))
    return value


def _body(
    frame: Frame, names: LoopNames, plan: LoopPlan, execute: Execute, body: core.Body, env: dict[str, Value]
) -> tuple[LoopSites, Region]:
    """One run of the body; where control leaves it."""
    scope = Scope(Region(), "loop", names.head | names.after)
    with frame.looping("loop") as sites, frame.entering(scope, plan.ranges):
        frame.env = dict(env)
        for name in sorted(names.head & env.keys()):
            frame.env[name] = references.as_own(frame, name, env[name])
        try:
            plan.enter()
        except WillRaise as error:  # where the body is reached
            error.emit(frame.b)
            return sites, scope.region
        flow = execute(frame, body)
        if flow is Flow.ON:
            sites.ends.append(Site(scope.region, frame.env, False, frame.emit.ranges))
    return sites, scope.region


def _value_after(
    frame: Frame, name: str, before: Value | None, names: LoopNames, sites: LoopSites, plan: LoopPlan,
    moves: dict[int, list[tuple[Value, Value]]], entering: list[tuple[Value, Value]], changing: Names,
) -> Value:  # fmt: skip
    """What a name that each iteration sets anew stands for after the loop.

    `changing`: containers that names which the loop carries take at the end of an iteration.
    """
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
    facts, envs = [site.ranges for site in exits], [living(site.env, names.after) for site in exits]
    busy = shown_by_others(frame, name, [frame.env, *envs])
    if before is None or always:
        joined = merges.join(frame, name, values, merges.Paths(facts, envs, busy, changing))
    else:
        facts, envs = [frame.emit.ranges, *facts], [living(frame.env, names.after), *envs]
        paths = merges.Paths(facts, envs, busy, changing, entering=1)
        joined = merges.join(frame, name, [before, *values], paths)
        entering.append((joined, references.as_source(frame.env, joined, before)))
    if isinstance(joined, Missing):
        return joined
    for site, value in zip(exits, values, strict=True):
        moves[id(site)].append((joined, references.as_source(site.env, joined, value)))
    return joined if before is not None else _if_ran(joined, plan)


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
            found = replace(first, window=Subset(dims), shape=sizes)
            return found if merges.is_visible(frame, found) else None
    return None


def _if_ran(value: Value, plan: LoopPlan) -> Value:
    return Maybe(value, plan.nonempty) if isinstance(plan.nonempty, Op) else value


def _emit_moves(frame: Frame, site: Site, pairs: list[tuple[Value, Value]]) -> None:
    """Assigns at a place where control leaves the body: before its last block, where that is the jump."""
    if not pairs:
        return
    jump = site.region.blocks[-1] if site.before_last else None
    if jump is not None:
        site.region.remove(jump)
    with frame.emit.inside(site.region, site.ranges):
        merges.move(frame, pairs)
    if jump is not None:
        site.region.add(jump)

"""Loop statements: which become sequential loops, parallel maps, or copies of the body. `loop_fixpoint`: what they
carry.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    IteratorValue,
    MapValue,
    RangeValue,
    Static,
    TupleValue,
    Value,
    integer,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arithmetic.comparisons import as_value, inverse
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.arrays.assignment import assign
from dcpy.frontend.lower.control import expression_splitting, path_splitting
from dcpy.frontend.lower.expressions import condition, evaluate
from dcpy.frontend.lower.frame import ExitPoint, Flow
from dcpy.frontend.lower.functions.callback_calls import CallbackInMap
from dcpy.frontend.lower.loops import guarded_copies, unrolling
from dcpy.frontend.lower.loops.loop_entry import LoopPlan
from dcpy.frontend.lower.loops.loop_fixpoint import run_loop
from dcpy.frontend.lower.lowering_signals import ConditionalJump
from dcpy.frontend.lower.objects import special_methods
from dcpy.frontend.lower.parallel_maps import map_statements
from dcpy.frontend.lower.sequences import cursors, generator_inlining, list_preallocation, list_references
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.branch_facts import refine_ranges
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.region import Block, Branch, Break, Loop, Region, While
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Execute = Callable[[Any, core.Body], Flow]
MAX_UNROLLED = 256


def run_for(frame: Frame, node: core.For, execute: Execute) -> Flow:
    """``for target in iterable``."""
    iterable = special_methods.iterated(frame, evaluate(frame, node.iterable))
    if isinstance(iterable, MapValue):
        try:
            with frame.emit.undone_by(CallbackInMap):
                return map_statements.run_map(frame, node, iterable, execute)
        except CallbackInMap:
            if frame.map_scopes():  # the maps around this one are loops, too
                raise
    if sequences.is_stepped(iterable):
        return _step(frame, node, iterable, execute)
    if generator_inlining.is_generated(iterable):
        return generator_inlining.run_generated(frame, node, iterable, execute)
    is_known = sequences.is_known(iterable)  # then each item that is a list is looked at when its turn comes
    keys = list_references.tokens(iterable, inside=not is_known) if list_references.is_on(frame) else []
    before = list_references.changes_of(frame, keys)
    if sequences.is_guarded(frame.b, iterable):
        flow = guarded_copies.run_guarded(frame, node, _guarded_items(frame, iterable), execute)
    elif is_known:
        live = isinstance(iterable, TupleValue) and iterable.is_list and keys[:1] == [iterable.token]
        items = sequences.items(frame.b, iterable)
        if len(items) > MAX_UNROLLED:
            raise _too_long(len(items))
        now = list_references.items_now(frame, keys[0], items) if live else items
        flow = _unroll_or_skip(frame, node, now, items, keys[0] if live else "", execute)
        keys = [] if live else keys
    elif (count := unrolling.trips(frame, node, iterable)) is not None:
        turns = (sequences.at(frame.b, iterable, as_expr(position)) for position in range(count))
        flow = _unroll(frame, node, turns, count, execute)
    else:
        flow = _count(frame, node, iterable, execute)
    list_references.require_unchanged(frame, iterable, keys, before)
    return flow


def _count(frame: Frame, node: core.For, iterable: Value, execute: Execute) -> Flow:
    """The values of a range, or the positions of items of one kind."""
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
    keys = list_preallocation.appended_lists(frame, node) if list_references.is_on(frame) else []
    if not keys:
        run_loop(frame, node, frame.liveness.loops[node], plan, execute)
        return Flow.ON
    place = list_preallocation.place_of(extent, sym(param))

    def run() -> None:
        for key in keys:
            if key in frame.program.lists.preallocated:
                frame.program.lists.preallocated[key].place = place
        run_loop(frame, node, frame.liveness.loops[node], plan, execute)

    list_preallocation.run_filling(frame, keys, frame.b.exact(extent.size_within(frame.emit.ranges)), run)
    return Flow.ON


def _step(frame: Frame, node: core.For, iterable: Value, execute: Execute) -> Flow:
    """The items that an iterator has left, each of them taken when its turn comes."""
    iterator = cursors.started(frame.b, iterable)

    def enter() -> None:
        assign(frame, node.target, cursors.step(frame, iterator, lambda none: break_if(frame, none)))

    def wrap(body: Region) -> Block:
        return While(Const(True, types.bool_), body, span=frame.emit.placed(node.span))

    run_loop(frame, node, frame.liveness.loops[node], LoopPlan(enter, wrap, frame.emit.ranges), execute)
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
        notes=("the order of a set differs from run to run",) if is_set else (),
        help="loop over range(...), an array, or a tuple",
    )


def _guarded_items(frame: Frame, iterable: Value) -> list[guarded_copies.Item]:
    """The items of ``zip`` of something of known length and something else: each, and whether there is one."""
    size = sequences.length(frame.b, iterable)
    most = sequences.most_items(frame.b, iterable)
    if most > MAX_UNROLLED:
        raise _too_long(most)
    ranges = frame.emit.ranges
    there = [None if ranges.proves_lt(position, size) else op("lt", Const(position, types.int64), Index(size))
             for position in range(most)]  # fmt: skip
    return [(functools.partial(sequences.at, frame.b, iterable, as_expr(position)), test)
            for position, test in enumerate(there)]  # fmt: skip


def _too_long(count: int) -> FrontendError:
    return FrontendError(
        f"a loop over {count} items of a tuple or list is too long to be unrolled",
        help="make it an array: np.array(...)",
    )


def _unroll_or_skip(
    frame: Frame, node: core.For, now: Iterable[Value], items: Sequence[Value], key: str, execute: Execute
) -> Flow:  # fmt: skip
    """The body once for each item; behind a flag, where run time decides whether the loop is left before.

    `key`: the list that the items are in, which the body may change; not where there is a flag.
    """
    env, ranges, region = dict(frame.env), frame.emit.ranges, frame.emit.region
    before = len(region.blocks)
    try:
        with frame.emit.undone_by(ConditionalJump):
            return _unroll(frame, node, now, len(items), execute)
    except ConditionalJump:
        for block in list(region.blocks)[before:]:
            region.remove(block)
        frame.env, frame.emit.ranges = env, ranges
    keys = [key] if key else []
    changes = list_references.changes_of(frame, keys)
    known: list[guarded_copies.Item] = [
        (functools.partial(_item_now, frame, key, position, item), None) for position, item in enumerate(items)
    ]
    flow = guarded_copies.run_guarded(frame, node, known, execute)
    list_references.require_unchanged(frame, TupleValue(tuple(items), is_list=True), keys, changes)
    return flow


def _item_now(frame: Frame, key: str, position: int, item: Value) -> Value:
    """The item, as it is when its turn comes, of a list that has a key."""
    if not key:
        return item
    content = list_references.shown(frame, ListRef(key))
    return content.items[position] if isinstance(content, TupleValue) else sequences.at(
        frame.b, content, as_expr(position))  # fmt: skip


def _unroll(frame: Frame, node: core.For, items: Iterable[Value], copies: int, execute: Execute) -> Flow:
    """The body once for each item."""
    with frame.looping("unrolled", copies):
        for item in items:
            assign(frame, node.target, item)
            flow = execute(frame, node.body)
            if flow is Flow.BREAK:
                break
            if flow is Flow.LEFT:
                return flow
    return Flow.ON


def run_while(frame: Frame, node: core.While, execute: Execute) -> Flow:
    """``while test``. A test that needs code of its own is tested inside the body."""
    tests: list[ScalarExpr] = []
    first: list[bool] = []

    tested = _TestedFirst(frame, node)

    def enter() -> None:
        with frame.emit.attempt() as region:
            test = tested.condition(execute)
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
            tested.narrow()
            return
        if isinstance(test, bool):
            first.append(test)
            test = Const(test, types.bool_)
        tests.append(test)
        frame.emit.ranges = refine_ranges(frame.emit.ranges, test, holds=True)
        tested.narrow()

    def wrap(body: Region) -> Block:
        condition = tests[0] if tests else Const(True, types.bool_)
        return While(condition, body, span=frame.emit.placed(node.span))

    known = None if tested.is_split else _known_test(frame, node)
    if known is False:
        return Flow.ON
    forever = isinstance(node.test, core.KnownBool | ast.Constant)
    plan = LoopPlan(enter, wrap, frame.emit.ranges, known or None, endless=forever)
    breaks = run_loop(frame, node, frame.liveness.loops[node], plan, execute)
    endless = first and all(first) and not breaks
    return Flow.LEFT if endless else Flow.ON


class _TestedFirst:
    """The test of a loop, as a statement: what it uses may depend on the path taken."""

    def __init__(self, frame: Frame, node: core.While) -> None:
        self.frame, self.test = frame, node.test
        self.possible: tuple[str, list[int]] | None = None  # numbers of a selector with which the test may hold
        target = ast.Name(".test", ast.Store())
        test = node.test
        if isinstance(test, ast.BoolOp):  # of which only the truth matters
            test = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
            test = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        self.statement = core.Assign((target,), test, span=node.span)
        frame.liveness.after[self.statement] = frame.liveness.loops[node].head | {".test"}

    @property
    def is_split(self) -> bool:
        """Return whether there is a version of the test for each path."""
        split = path_splitting.selector_of(self.frame, self.statement) is not None
        return split or expression_splitting.has_marked(self.frame, self.test)

    def condition(self, execute: Execute) -> bool | ScalarExpr:
        """Return the condition of the test."""
        if not self.is_split:
            return condition(self.frame, self.test)
        self.possible = path_splitting.possible(
            self.frame, self.statement, lambda: condition(self.frame, self.test)
        )  # fmt: skip
        execute(self.frame, (self.statement,))
        return truth(self.frame.b, self.frame.env.pop(".test"))

    def narrow(self) -> None:
        """Bind names to what the test leaves where it holds: in ``while node is not None``, that is not None."""
        if self.possible is not None:
            self.frame.env = path_splitting.narrowed(self.frame.env, *self.possible)


def _known_test(frame: Frame, node: core.While) -> bool | None:
    """Return whether the test is known to hold the first time, or known not to; None where it is neither."""
    if isinstance(node.test, core.KnownBool | ast.Constant):
        return bool(node.test.value)
    env = frame.env
    frame.env = dict(env)
    with frame.emit.dry_run():
        test = condition(frame, node.test)
    frame.env = env
    return test if isinstance(test, bool) else None


def break_if(frame: Frame, stop: ScalarExpr) -> None:
    """Leave the loop that is being written where a test holds."""
    body = Region()
    with frame.emit.inside(body):
        frame.emit.block(Break())
    site = ExitPoint(body, dict(frame.env), True, frame.emit.ranges)
    frame.loops[-1].breaks.append(site)
    frame.emit.block(Branch([(stop, body)], None))

"""``next(iterator)`` and ``next(iterator, default)``: one item of a cursor, of a generator, of ``zip`` and the like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import LazyGenerator, ListValue, YieldingValue
from dcpy.frontend.abstract_values.values import IteratorValue, Maybe, Missing, TupleValue, Value, kind_of
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arithmetic import conditional_expressions
from dcpy.frontend.lower.control import expression_branches
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import materialize
from dcpy.frontend.lower.sequences import cursors, list_references
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.iterator_uses import unnamed
from dcpy.ir.expressions.scalar import ScalarExpr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

NOT_ITERATED = ("points", "elements", "sections", "progression")


def next_item(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """The item; where there is none, the default, or `StopIteration`."""
    if kwargs or not 1 <= len(args) <= 2:
        raise FrontendError("next() takes an iterator and, at most, a default", notes=("Python raises TypeError here",))
    value, default = args[0], args[1] if len(args) > 1 else None
    if isinstance(value, IteratorValue) and value.kind not in NOT_ITERATED and sequences.has_length(value):
        value = cursors.cursor(frame.b, value)  # no other name holds it: see `Use`
    if isinstance(value, IteratorValue) and value.kind == "cursor":
        return _of_cursor(frame, value, default)
    if sequences.is_stepped(value) or isinstance(value, LazyGenerator | YieldingValue):
        return _of_loop(frame, value, default)
    known = isinstance(value, TupleValue | ListValue)
    raise FrontendError(
        f"next() of {kind_of(value)}, which is no iterator",
        notes=("its items are known, and have been computed",) if known else ("Python raises TypeError here",),
        help="make an iterator, and take its items one by one: `it = iter(x)`, `next(it)`",
    )


def _of_cursor(frame: Frame, value: IteratorValue, default: Value | None) -> Value:
    items, index, more = cursors.advanced(frame, value)
    if default is None or more is None:
        if more is not None:
            frame.b.check(more, "StopIteration", "")
        return cursors.item(frame, items, index, more)
    return _item_or_default(frame, more, lambda: cursors.item(frame, items, index, more), default)


def _item_or_default(frame: Frame, more: ScalarExpr, taken: Callable[[], Value], default: Value) -> Value:
    """One of both; where what uses it depends on which, a name that stands for either."""
    place = frame.emit.place
    if place is not None and expression_branches.is_apart(place):
        return expression_branches.either(place, more, taken, lambda: default)
    return conditional_expressions.choose(frame, more, taken, lambda: default, "next")


def _of_loop(frame: Frame, value: Value, default: Value | None) -> Value:
    """The first item of a loop over the iterator, which it leaves at once."""
    materialize(frame)
    place = frame.emit.place
    names = [f".{stem}_{len(frame.program.expression_loops)}" for stem in ("next", "item", "iterable")]
    found, item, source = (ast.Name(name, ast.Load()) for name in names)
    for part in (found, item, source):
        ast.copy_location(part, place[1]) if place is not None else ast.fix_missing_locations(part)
    span = frame.span(found)
    body: core.Body = (core.Assign((found,), item, span=span), core.Break(span=span))
    node = core.For(item, source, body, span=span)
    frame.program.expression_loops[node] = node  # what is known of a loop is kept by its identity
    frame.env[source.id] = unnamed(value)
    frame.liveness.block((node,), frozenset({found.id}) | frame.liveness.rebound)
    frame.program.evaluator.execute(frame, (node,))
    taken = frame.env.pop(found.id, None)
    for name in (item.id, source.id):
        frame.env.pop(name, None)
    return _or_default(frame, taken, default)


def _or_default(frame: Frame, taken: Value | None, default: Value | None) -> Value:
    if taken is None or isinstance(taken, Missing):
        if default is None:
            raise WillRaise("StopIteration", "", by="Python")
        return default
    if not isinstance(taken, Maybe):
        return list_references.shown(frame, taken)
    value = list_references.shown(frame, taken.value)
    if default is None:
        frame.b.check(taken.condition, "StopIteration", "")
        return value
    return _item_or_default(frame, taken.condition, lambda: value, default)

"""Iterator reductions: ``sum``, ``any``, ``min``, ``sorted``, ``list``, `functools.reduce` of items in turn.

The items are those of a generator expression, or of anything else whose length is known at run time only. As in Python,
items are computed when they are asked for: ``any`` stops at the first that is true.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import LazyGenerator, ListValue, YieldingValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    BoundMethod,
    IteratorValue,
    RangeValue,
    Static,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
    scalar_expr,
)
from dcpy.frontend.implements import call_entry, find
from dcpy.frontend.lower.arithmetic import comparisons, conditional_expressions
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.control import item_variants
from dcpy.frontend.lower.name_binding import bind_name, read_name
from dcpy.frontend.lower.objects import special_methods
from dcpy.frontend.lower.sequences import item_kinds
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.comprehensions import all_items, comprehend
from dcpy.frontend.lower.sequences.list_sorting import columns_of, keys_of, sorted_list
from dcpy.frontend.lower.sequences.next_items import next_item
from dcpy.frontend.lower.sequences.walked_items import WalkedItems, is_remembered, items_of, like
from dcpy.frontend.python.containers.hash_maps import HashMap
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.symbolic import ZERO

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Reducer = Callable[["Frame", Sequence[Value], Mapping[str, Value]], Value]


def reduce_items(
    frame: Frame, function: Any, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value | None:  # fmt: skip
    """Return the result of the function; None where it is none of these, or the items are known."""
    if function is next:
        return next_item(frame, args, kwargs)
    reducer = _REDUCERS.get(function) if isinstance(function, type | type(len)) else None
    place = 1 if function is functools.reduce else 0
    if reducer is None or len(args) <= place:
        return None
    args = [*args[:place], special_methods.iterated(frame, args[place]), *args[place + 1 :]]
    if not _is_walked(frame, args[place], function, kwargs):
        return None
    return reducer(frame, args, kwargs)


def _is_walked(frame: Frame, value: Value, function: Any, kwargs: Mapping[str, Value]) -> bool:
    if isinstance(value, LazyGenerator | YieldingValue):
        return True
    if isinstance(value, ArrayValue):
        one = value.rank == 1
        return function in (list, tuple, sorted, functools.reduce) or (one and ("key" in kwargs or "default" in kwargs))
    if isinstance(value, RangeValue | IteratorValue | ListValue):
        return not sequences.is_short(frame.b, value)
    return False


# -- one function each -----------------------------------------------------------------------------------------------


def _no_more(name: str, kwargs: Mapping[str, Value], *known: str) -> None:
    for key in kwargs:
        if key not in known:
            raise FrontendError(f"{name}() got an unexpected keyword argument {key!r}")


def _sum(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Items added up from the left."""
    _no_more("sum", kwargs, "start")
    items, b = WalkedItems(frame, args[0]), frame.b
    start = args[1] if len(args) > 1 else kwargs.get("start", Static(0))
    item = items.prototype()
    if item is None:
        items.walk(lambda _: None, ())
        return start
    if isinstance(item, ArrayValue) and is_number(start):
        dtype = dtype_of(item) if is_weak(start) else np.result_type(dtype_of(start).numpy, dtype_of(item).numpy)
        kind = dtype if isinstance(dtype, types.DType) else types.from_numpy(dtype)
        kind = types.int64 if kind == types.bool_ else kind
        start = b.full([b.exact(size) for size in item.shape], kind, start)
    total = items.name("sum", start)

    def added(item: Value) -> None:
        sides = [read_name(frame, total), item]
        bind_name(frame, total, item_variants.by_kind(frame, sides, lambda now: b.operator("+", *now), "+"))

    items.walk(added, [total])
    return items.take(total)


def _any(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value], *, wanted: bool = True) -> Value:
    """Return whether some item is true; what comes behind the first such item is not computed."""
    _no_more("any" if wanted else "all", kwargs)
    items = WalkedItems(frame, args[0])
    found = items.name("any" if wanted else "all", Static(not wanted))

    def visit(item: Value) -> None:
        bind_name(frame, found, comparisons.as_value(truth(frame.b, item)))

    def stop() -> ScalarExpr:
        now = scalar_expr(frame.env[found])
        return now if wanted else op("not", now)

    items.walk(visit, [found], stop)
    return items.take(found)


def _all(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    return _any(frame, args, kwargs, wanted=False)


def _extremum(name: str) -> Reducer:
    def reduce(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """The first of the smallest (or largest) items, by their keys."""
        _no_more(name, kwargs, "key", "default")
        items = WalkedItems(frame, args[0])
        key = _of_present_keys(kwargs.get("key", Static(None)))
        default = kwargs.get("default")
        item = items.prototype()
        if item is None:
            items.walk(lambda _: None, ())
            return default if default is not None else _empty(frame, name)
        if default is None and _is_of_kinds(items, key, frame):
            return _best_of_kinds(frame, {"min": min, "max": max}[name], args[0], key)
        key_of = None if key == Static(None) else functools.partial(frame.b.call, key)
        if not is_remembered(item) and default is None and not isinstance(args[0], LazyGenerator | YieldingValue):
            return _at_best_position(frame, name, args[0], key_of)
        return _best(frame, name, items, item, key_of, default)

    return reduce


def _is_of_kinds(items: WalkedItems, key: Value, frame: Frame) -> bool:
    """Return whether items, or their keys, are numbers of several kinds."""
    found = items.prototypes()
    if key != Static(None) and len(found) > 1:
        return True
    return len({(dtype_of(item), is_weak(item)) if is_number(item) else type(item) for item in found}) > 1


def _best_of_kinds(frame: Frame, function: Callable[..., Any], value: Value, key: Value) -> Value:
    """Return the first of the best of items that are of several kinds, or have keys of several kinds."""
    b = frame.b
    listed = value if isinstance(value, ListValue) else _list(frame, [value], {})
    if not isinstance(listed, ListValue):  # few items, which are known
        return b.call(Static(function), listed, key=key)
    keys = columns_of(frame, listed) if key == Static(None) else keys_of(frame, key, listed)
    columns = TupleValue(tuple(keys))

    def key_at(position: Value) -> Value:
        place = b.integer(position, "a position")
        found = tuple(sequences.stable(b, sequences.at(b, column, place)) for column in columns.items)
        return found[0] if len(found) == 1 else TupleValue(found)

    positions = WalkedItems(frame, RangeValue(ZERO, sequences.length(b, listed), never_unrolled=True))
    item = positions.prototype()
    assert item is not None
    best = _best(frame, function.__name__, positions, item, key_at, None)
    return sequences.at(b, listed, b.integer(best, "a position"))


def _best(
    frame: Frame, name: str, items: WalkedItems, item: Value, key_of: Callable[[Value], Value] | None,
    default: Value | None,
) -> Value:  # fmt: skip
    """Return the first of the best items, of the kind of `item`."""
    b = frame.b
    best = items.name("best", like(frame, item))
    first = items.name("first", Static(True))
    least = best if key_of is None else items.name("key", like(frame, _prototype_of_key(frame, key_of, item)))

    def visit(item: Value) -> None:
        value = item if key_of is None else sequences.stable(b, key_of(item))
        test = truth(b, comparisons.compare(b, "<" if name == "min" else ">", value, frame.env[least]))
        taken = comparisons.either_holds(scalar_expr(frame.env[first]), test)
        for target, new in ((best, item),) if key_of is None else ((best, item), (least, value)):
            bind_name(frame, target, _chosen(frame, taken, new, frame.env[target]))
        bind_name(frame, first, Static(False))

    items.walk(visit, [best, first, *([] if key_of is None else [least])])
    if key_of is not None:
        items.take(least)
    empty, found = truth(b, items.take(first)), items.take(best)
    return _unless_empty(frame, name, empty, found, default)


def _at_best_position(frame: Frame, name: str, value: Value, key_of: Callable[[Value], Value] | None) -> Value:
    """Return the first of the best items of any kind: the position of the best is remembered."""
    b = frame.b

    def key_at(position: Value) -> Value:
        item = sequences.at(b, value, b.integer(position, "a position"))
        found = item if key_of is None else key_of(item)
        is_tuple = isinstance(found, ListValue) and not found.levels[0]
        return TupleValue(tuple(sequences.items(b, found))) if is_tuple else found

    positions = WalkedItems(frame, RangeValue(ZERO, sequences.length(b, value), never_unrolled=True))
    item = positions.prototype()
    assert item is not None
    best = _best(frame, name, positions, item, key_at, None)
    return sequences.at(b, value, b.integer(best, "a position"))


def _of_present_keys(key: Value) -> Value:
    """Return the function for ``max(d, key=d.get)``: all keys are there, and none has the default."""
    is_get = isinstance(key, BoundMethod) and key.function is HashMap.get
    return BoundMethod(key.owner, HashMap.__getitem__) if isinstance(key, BoundMethod) and is_get else key


def _chosen(frame: Frame, test: bool | ScalarExpr, yes: Value, no: Value) -> Value:
    if isinstance(test, bool):
        return yes if test else no
    if isinstance(yes, TupleValue) and isinstance(no, TupleValue):
        pairs = zip(yes.items, no.items, strict=True)
        return replace(yes, items=tuple(_chosen(frame, test, mine, other) for mine, other in pairs))
    return conditional_expressions.choose(frame, test, lambda: yes, lambda: no, "best")


def _prototype_of_key(frame: Frame, key_of: Callable[[Value], Value], item: Value) -> Value:
    """Return the result type of the key function, by a dry run over a value of the kind of an item."""
    with frame.emit.dry_run():
        return key_of(sequences.stable(frame.b, like(frame, item)))


def _unless_empty(
    frame: Frame, name: str, empty: bool | ScalarExpr, found: Value, default: Value | None
) -> Value:  # fmt: skip
    if default is not None:
        return _chosen(frame, comparisons.inverse(empty), found, default)
    if empty is True:
        return _empty(frame, name)
    if empty is not False:
        frame.b.check(op("not", empty), "ValueError", f"{name}() arg is an empty sequence")
    return found


def _empty(frame: Frame, name: str) -> Value:
    frame.b.check(Const(False, types.bool_), "ValueError", f"{name}() arg is an empty sequence")
    return Static(0)


def _list(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """All items, as a new list."""
    _no_more("list", kwargs)
    value = args[0]
    if isinstance(value, LazyGenerator):
        return all_items(frame, value)
    if isinstance(value, ArrayValue):
        kind = item_kinds.kind_of_rows(frame.b, value)
        return kind.list_of(replace(frame.b.copy(value, name="list"), fresh=True))
    if isinstance(value, ListValue):
        made = value.of(replace(frame.b.copy(value.array, name="list"), fresh=True))
        return replace(made, levels=(True, *value.levels[1:]))
    return comprehend(frame, items_of(frame), value)


def _tuple(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    found = _list(frame, args, kwargs)
    if isinstance(found, ListValue):
        return replace(found, levels=(False, *found.levels[1:]))
    return replace(found, is_list=False) if isinstance(found, TupleValue) else found


def _sorted(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """The items in order; equal ones stay as they are, also where the order is reversed."""
    _no_more("sorted", kwargs, "key", "reverse")
    found = _list(frame, args, {})
    if not isinstance(found, ListValue):
        return frame.b.call(Static(sorted), found, **kwargs)
    return sorted_list(frame, found, kwargs)


def _reduce(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Items combined from the left by a function of two."""
    _no_more("reduce", kwargs)
    items, b = WalkedItems(frame, args[1]), frame.b
    item = items.prototype()
    if len(args) > 2:
        total = items.name("total", args[2])
        items.walk(lambda item: bind_name(frame, total, b.call(args[0], frame.env[total], item)), [total])
        return items.take(total)
    if item is None:
        raise FrontendError("reduce() of empty iterable with no initial value", notes=("Python raises TypeError",))
    total, first = items.name("total", like(frame, item)), items.name("first", Static(True))

    def visit(item: Value) -> None:
        test = truth(b, frame.env[first])
        value = item if test is True else b.call(args[0], frame.env[total], item)
        bind_name(frame, total, value if isinstance(test, bool) else _chosen(frame, test, item, value))
        bind_name(frame, first, Static(False))

    items.walk(visit, [total, first])
    empty = truth(b, items.take(first))
    if not isinstance(empty, bool):
        b.check(op("not", empty), "TypeError", "reduce() of empty iterable with no initial value")
    return items.take(total)


def _of_list(function: Any) -> Reducer:
    """A function that needs all items at once."""

    def reduce(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        entry = find(function)
        assert entry is not None
        return call_entry(frame.b, entry, [_list(frame, args, {}), *args[1:]], kwargs)

    return reduce


_REDUCERS: dict[Any, Reducer] = {
    sum: _sum, any: _any, all: _all, min: _extremum("min"), max: _extremum("max"), list: _list, tuple: _tuple,
    sorted: _sorted, functools.reduce: _reduce, math.fsum: _of_list(math.fsum), math.prod: _of_list(math.prod),
}  # fmt: skip

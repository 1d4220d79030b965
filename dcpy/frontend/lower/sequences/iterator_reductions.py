"""Iterator reductions: ``sum``, ``any``, ``min``, ``sorted``, ``list``, `functools.reduce` of items in turn.

The items are those of a generator expression, or of anything else whose length is known at run time only. As in Python,
items are computed when they are asked for: ``any`` stops at the first that is true.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import Lazy, ListValue, YieldingValue
from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    BoundMethod,
    IteratorValue,
    RangeValue,
    Scalar,
    SliceValue,
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
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.name_binding import bind_name, materialize
from dcpy.frontend.lower.objects import special_methods
from dcpy.frontend.lower.sequences import item_kinds, item_words, list_types
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.comprehensions import all_items, comprehend
from dcpy.frontend.lower.sequences.generator_inlining import in_frame
from dcpy.frontend.lower.sequences.iteration import ItemIteration
from dcpy.frontend.lower.sequences.next_items import next_item
from dcpy.frontend.python.containers.hash_maps import HashMap
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.symbolic import ZERO

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

EVERYTHING = SliceValue(*[Static(None)] * 3)
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
    if isinstance(value, Lazy | YieldingValue):
        return True
    if isinstance(value, ArrayValue):
        one = value.rank == 1
        return function in (list, tuple, sorted, functools.reduce) or (one and ("key" in kwargs or "default" in kwargs))
    if isinstance(value, RangeValue | IteratorValue | ListValue):
        return not sequences.is_short(frame.b, value)
    return False


class _Items:
    """The items of something, one after the other; `names`: what is remembered from one to the next."""

    def __init__(self, frame: Frame, value: Value) -> None:
        self.frame, self.b = frame, frame.b
        if isinstance(value, Lazy):
            self.node, self.first = in_frame(frame, value).node, value.first
        else:
            self.node, self.first = _of_items(frame), value
        materialize(frame)

    def prototype(self) -> Value | None:
        """An item, found by a dry run; None where there never is one."""
        found: list[Value] = []
        env = self.frame.env
        self.frame.env = dict(env)
        try:
            with self.frame.emit.dry_run():
                self.walk(lambda item: found.append(item), ())
        finally:
            self.frame.env = env
        return found[0] if found else None

    def walk(
        self, visit: Callable[[Value], object], names: Sequence[str], stop: Callable[[], ScalarExpr] | None = None
    ) -> None:
        """Visit each item."""

        def step(_: object) -> None:
            visit(sequences.stable(self.b, evaluate(self.frame, self.node.elt)))

        ItemIteration(self.frame, self.node, self.node.generators, self.first, step, frozenset(names), stop).run()

    def name(self, stem: str, value: Value) -> str:
        """A name of the frontend's own, bound to a first value."""
        name = self.frame.emit.fresh(f".{stem}")
        bind_name(self.frame, name, value)
        return name

    def take(self, name: str) -> Value:
        """Return the final value of the name, and remove the name."""
        return self.frame.env.pop(name)


def _of_items(frame: Frame) -> ast.GeneratorExp:
    """``(item for item in ...)``: one tree for each place in the program."""
    known = frame.program.expression_loops
    place = frame.emit.place
    node = place[1] if place is not None else None
    if ("items", node) not in known:
        name = ast.Name(".item", ast.Load())
        target = ast.Name(".item", ast.Store())
        made = ast.GeneratorExp(name, [ast.comprehension(target, ast.Constant(None), [], 0)])
        if node is not None:
            for part in (name, target, made):
                ast.copy_location(part, node)
        known["items", node] = made
    found: ast.GeneratorExp = known["items", node]
    return found


# -- one function each -----------------------------------------------------------------------------------------------


def _no_more(name: str, kwargs: Mapping[str, Value], *known: str) -> None:
    for key in kwargs:
        if key not in known:
            raise FrontendError(f"{name}() got an unexpected keyword argument {key!r}")


def _sum(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Items added up from the left."""
    _no_more("sum", kwargs, "start")
    items, b = _Items(frame, args[0]), frame.b
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
    items.walk(lambda item: bind_name(frame, total, b.operator("+", frame.env[total], item)), [total])
    return items.take(total)


def _any(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value], *, wanted: bool = True) -> Value:
    """Return whether some item is true; what comes behind the first such item is not computed."""
    _no_more("any" if wanted else "all", kwargs)
    items = _Items(frame, args[0])
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
        items = _Items(frame, args[0])
        key = _of_present_keys(kwargs.get("key", Static(None)))
        default = kwargs.get("default")
        item = items.prototype()
        if item is None:
            items.walk(lambda _: None, ())
            return default if default is not None else _empty(frame, name)
        key_of = None if key == Static(None) else functools.partial(frame.b.call, key)
        if not _is_remembered(item) and default is None and not isinstance(args[0], Lazy | YieldingValue):
            return _at_best_position(frame, name, args[0], key_of)
        return _best(frame, name, items, item, key_of, default)

    return reduce


def _best(
    frame: Frame, name: str, items: _Items, item: Value, key_of: Callable[[Value], Value] | None, default: Value | None
) -> Value:  # fmt: skip
    """Return the first of the best items, of the kind of `item`."""
    b = frame.b
    best = items.name("best", _like(frame, item))
    first = items.name("first", Static(True))
    least = best if key_of is None else items.name("key", _like(frame, _prototype_of_key(frame, key_of, item)))

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


def _is_remembered(item: Value) -> bool:
    """Return whether variables hold the best item so far: a number, or a tuple of numbers."""
    return is_number(item) or (isinstance(item, TupleValue) and all(map(_is_remembered, item.items)))


def _at_best_position(frame: Frame, name: str, value: Value, key_of: Callable[[Value], Value] | None) -> Value:
    """Return the first of the best items of any kind: the position of the best is remembered."""
    b = frame.b

    def key_at(position: Value) -> Value:
        item = sequences.at(b, value, b.integer(position, "a position"))
        found = item if key_of is None else key_of(item)
        is_tuple = isinstance(found, ListValue) and not found.levels[0]
        return TupleValue(tuple(sequences.items(b, found))) if is_tuple else found

    positions = _Items(frame, RangeValue(ZERO, sequences.length(b, value), never_unrolled=True))
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


def _like(frame: Frame, value: Value) -> Value:
    """A first value of the same kind, which is never used."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple(_like(frame, item) for item in value.items))
    if not is_number(value):
        raise FrontendError("min() and max() compare numbers, and tuples of numbers")
    zero = Const(dtype_of(value).numpy.type(0).item(), dtype_of(value))
    return Scalar(zero, is_weak(value), instead_of(value))


def _prototype_of_key(frame: Frame, key_of: Callable[[Value], Value], item: Value) -> Value:
    """Return the result type of the key function, by a dry run over a value of the kind of an item."""
    with frame.emit.dry_run():
        return key_of(sequences.stable(frame.b, _like(frame, item)))


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
    if isinstance(value, Lazy):
        return all_items(frame, value)
    if isinstance(value, ArrayValue):
        kind = item_kinds.kind_of_rows(frame.b, value)
        return kind.list_of(replace(frame.b.copy(value, name="list"), fresh=True))
    if isinstance(value, ListValue):
        made = value.of(replace(frame.b.copy(value.array, name="list"), fresh=True))
        return replace(made, levels=(True, *value.levels[1:]))
    return comprehend(frame, _of_items(frame), value)


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


def sorted_list(frame: Frame, found: ListValue, kwargs: Mapping[str, Value]) -> ListValue:
    """A new list with the items in order, by the keywords of ``sorted``; tuples are in order column by column."""
    b = frame.b
    backward = b.static(kwargs.get("reverse", Static(False)), "reverse")
    key = kwargs.get("key", Static(None))
    turned = b.subscript(found.array, [sequences.BACKWARDS]) if backward else found.array
    assert isinstance(turned, ArrayValue)
    if key == Static(None) and len(found.levels) == 1 and found.holds_numbers:
        _require_order(found)
        order = b.call(Static(np.sort), turned)
    else:
        items = found.of(turned)
        columns = _columns(frame, items) if key == Static(None) else _keys(frame, key, items)
        order = b.call(Static(np.take), turned, _places(frame, columns), axis=Static(0))
    result = b.subscript(order, [sequences.BACKWARDS]) if backward else order
    assert isinstance(result, ArrayValue)
    return found.of(b.copy(result, name="list") if backward else result)


def _require_order(keys: ListValue) -> None:
    if not keys.holds_numbers or len(keys.levels) > 1:
        raise FrontendError(
            "lists of run-time length are sorted where they hold numbers, or tuples of numbers",
            help="give a key that is a number, or a tuple of numbers: `key=lambda v: v.sum()`",
        )
    if keys.array.dtype.kind == "c":
        raise FrontendError("complex numbers have no order", notes=("Python raises TypeError here",))


def _columns(frame: Frame, items: ListValue) -> list[ListValue]:
    """The first numbers of the items, the second ones, and so on."""
    if items.packed is not None and len(items.levels) == 2:
        return item_words.columns(frame.b, items)
    count = items.array.shape[1].constant if len(items.levels) == items.array.rank == 2 else None
    if count is None:
        return [items]
    b = frame.b
    return [replace(items.of(b.array(b.subscript(items.array, [EVERYTHING, Static(k)]))), levels=(True,))
            for k in range(count)]  # fmt: skip


def _places(frame: Frame, columns: Sequence[ListValue]) -> Value:
    """The positions of items in the order of their keys, the first one counting most; equal ones stay as they are."""
    for column in columns:
        _require_order(column)
    if len(columns) == 1:
        return frame.b.call(Static(np.argsort), columns[0].array, kind=Static("stable"))
    return frame.b.call(Static(np.lexsort), TupleValue(tuple(column.array for column in reversed(columns))))


def _keys(frame: Frame, key: Value, items: ListValue) -> list[ListValue]:
    """Return the keys of all items: one list, or one for each place of the tuples that the function returns."""
    node = _of_items(frame)
    name = frame.emit.fresh(".key")
    frame.env[name] = key
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(".item", ast.Load())], [])
    sample = _Items(frame, items).prototype()
    if sample is not None and _is_remembered(sample):
        sample = _like(frame, sample)  # the containers of a dry run are gone
    with frame.emit.dry_run():
        made = None if sample is None else frame.b.call(key, sample)
    count = len(made.items) if isinstance(made, TupleValue) and not made.is_list else 0
    parts: list[ast.expr] = [ast.Subscript(call, ast.Constant(k), ast.Load()) for k in range(count)] or [call]
    found = [_each(frame, node, part, items) for part in parts]
    frame.env.pop(name)
    return found


def _each(frame: Frame, node: ast.GeneratorExp, element: ast.expr, items: ListValue) -> ListValue:
    made = ast.GeneratorExp(element, node.generators)
    for part in ast.walk(made):
        ast.copy_location(part, node)
    found = comprehend(frame, made, items)
    assert isinstance(found, TupleValue | ListValue)
    return found if isinstance(found, ListValue) else list_types.as_array_list(frame.b, found)


def _reduce(frame: Frame, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Items combined from the left by a function of two."""
    _no_more("reduce", kwargs)
    items, b = _Items(frame, args[1]), frame.b
    item = items.prototype()
    if len(args) > 2:
        total = items.name("total", args[2])
        items.walk(lambda item: bind_name(frame, total, b.call(args[0], frame.env[total], item)), [total])
        return items.take(total)
    if item is None:
        raise FrontendError("reduce() of empty iterable with no initial value", notes=("Python raises TypeError",))
    total, first = items.name("total", _like(frame, item)), items.name("first", Static(True))

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

"""List sorting: lists of run-time length in order, by their items or by keys, column by column."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.packed_items import PackedNumber
from dcpy.frontend.abstract_values.values import ArrayValue, SliceValue, Static, TupleValue, Value, scalar_expr
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.sequences import item_words, list_types
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences.comprehensions import comprehend
from dcpy.frontend.lower.sequences.walked_items import WalkedItems, is_remembered, items_of, like
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.op_builder import OpBuilder

LARGE = "an int of more than 53 bits is put in order with floats"
EACH = Static(Ellipsis)
EVERYTHING = SliceValue(*[Static(None)] * 3)


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
        columns = columns_of(frame, items) if key == Static(None) else keys_of(frame, key, items)
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


def columns_of(frame: Frame, items: ListValue) -> list[ListValue]:
    """The first numbers of the items, the second ones, and so on."""
    if items.packed_tuple is not None and len(items.levels) == 2:
        return item_words.columns(frame.b, items)
    if items.union is not None and len(items.levels) == 2:
        return [_ordered(frame.b, items)]
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


def keys_of(frame: Frame, key: Value, items: ListValue) -> list[ListValue]:
    """Return the keys of all items: one list, or one for each place of the tuples that the function returns."""
    node = items_of(frame)
    name = frame.emit.fresh(".key")
    frame.env[name] = key
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(".item", ast.Load())], [])
    sample = WalkedItems(frame, items).prototype()
    if sample is not None and is_remembered(sample):
        sample = like(frame, sample)  # the containers of a dry run are gone
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
    listed = found if isinstance(found, ListValue) else list_types.as_array_list(frame.b, found)
    return _ordered(frame.b, listed) if listed.union is not None else listed


def _ordered(b: OpBuilder, value: ListValue) -> ListValue:
    """Numbers by which the items of a list of numbers of several kinds are put in order.

    Python compares ints and floats as they are; a float holds ints of up to 53 bits, and others raise here.
    """
    found = item_words.numbers(b, value, "are put in order")
    union = value.union
    assert union is not None
    ints = [number for number, option in enumerate(union.options)
            if isinstance(option, PackedNumber) and option.dtype.is_integer]  # fmt: skip
    if ints and found.dtype.is_inexact:

        def is_large(tag: ScalarExpr, word: ScalarExpr) -> ScalarExpr:
            inside = op("and", op("le", word, Const(2**53, types.int64)), op("ge", word, Const(-(2**53), types.int64)))
            of_int: ScalarExpr = Const(False, types.bool_)
            for number in ints:
                of_int = op("or", of_int, op("eq", tag, Const(number, types.int64)))
            return op("and", of_int, op("not", inside))

        columns = [b.subscript(value.array, [EACH, Static(word)]) for word in range(2)]
        large = b.call(Static(np.any), b.array(elementwise.elementwise(b, is_large, columns, name="large")))
        b.check(op("not", scalar_expr(large)), "OverflowError", LARGE)
    return ListValue(found, weak=True)

"""Assignment targets: names, tuples, elements and slices; augmented assignment; exceptions and their messages."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.list_values import ListRow, ListValue
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    RecordValue,
    Scalar,
    SliceValue,
    Static,
    TupleValue,
    Value,
    VariantValue,
    integer,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.dataflow import stream_operations
from dcpy.frontend.desugar.bound_and_free_names import read_names
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.operators import UFUNC_OF, binary
from dcpy.frontend.lower.arithmetic.range_checks import stored
from dcpy.frontend.lower.arrays import advanced_indexing, basic_indexing, stores
from dcpy.frontend.lower.arrays.name_aliases import is_in_list
from dcpy.frontend.lower.arrays.subscript_keys import IndexingMode, SubscriptKeys, written_out
from dcpy.frontend.lower.control import item_variants
from dcpy.frontend.lower.expressions import attribute, evaluate, evaluate_all, keys_of, subscript
from dcpy.frontend.lower.frame import is_field
from dcpy.frontend.lower.lowering_signals import READ_FIRST, WillRaise
from dcpy.frontend.lower.name_binding import bind_name, read_name
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.objects import special_methods as special
from dcpy.frontend.lower.parallel_maps import write_conflicts
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences import list_references
from dcpy.frontend.lower.sequences.lists_to_integers import with_integers
from dcpy.ir.expressions.scalar import Load, loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.symbolic import as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def assign(frame: Frame, target: ast.expr, value: Value) -> Value:
    """``target = value``; returns the value as the next target of a chain gets it."""
    try:
        match target:
            case ast.Name(id=name):
                return bind_name(frame, name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                _unpack(frame, parts, value)
            case ast.Subscript():
                _store(frame, target, value)
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                _set_shape(frame, name, value)
            case ast.Attribute(value=owner, attr=name):
                _assign_field(frame, owner, name, value)
            case _:
                raise FrontendError(f"{type(target).__name__} is not a target that dcpy takes")
    except DcpyError as error:
        raise error.at(frame.span(target)) from error.__cause__
    return value


def _unpack(frame: Frame, targets: list[ast.expr], value: Value) -> None:
    starred = [k for k, target in enumerate(targets) if isinstance(target, ast.Starred)]
    items, is_spread = _items(frame, targets, value, starred)
    if starred and not is_spread:
        position = starred[0]
        rest = len(targets) - position - 1
        middle = TupleValue(tuple(items[position : len(items) - rest]), is_list=True)
        if len(items) >= len(targets) - 1:
            items = [*items[:position], middle, *items[len(items) - rest :]]
    if len(items) != len(targets):
        few = len(items) < len(targets)
        raise FrontendError(
            f"not enough values to unpack (expected {len(targets)}, got {len(items)})" if few
            else f"too many values to unpack (expected {len(targets)})",
            notes=("Python raises ValueError here",),
            help="write a name for each value; `*rest` takes the remaining values",
        )  # fmt: skip
    for target, item in zip(targets, _read_first(frame, targets, items), strict=True):
        assign(frame, target.value if isinstance(target, ast.Starred) else target, item)


def _items(
    frame: Frame, targets: list[ast.expr], value: Value, starred: Sequence[int]
) -> tuple[list[Value], bool]:  # fmt: skip
    """Return the items to unpack, and whether each target has one: a starred one takes a list.

    The size of an array, or of a list, is checked at run time where it is not known.
    """
    b, wanted = frame.b, len(targets)
    value = frame.program.evaluator.all_items(frame, value)
    value = item_variants.unpacked(frame, value)
    if value == Static(None):
        raise WillRaise("TypeError", item_variants.NOT_UNPACKED, by="Python")
    size = sequences.length(b, value) if isinstance(value, ArrayValue | ListValue) else None
    if size is None or size.constant is not None:
        return sequences.items(b, value), False
    if not starred:
        few = f"not enough values to unpack (expected {wanted}, got {{0}})"
        b.emit.require(size - wanted, "ValueError", few, (size,))
        b.emit.require(wanted - size, "ValueError", f"too many values to unpack (expected {wanted})")
        return [sequences.at(b, value, as_expr(k)) for k in range(wanted)], True
    few = f"not enough values to unpack (expected at least {wanted - 1}, got {{0}})"
    b.emit.require(size - wanted + 1, "ValueError", few, (size,))
    position = starred[0]
    behind = range(position + 1 - wanted, 0)
    rest = SliceValue(integer(as_expr(position)), integer(size - len(behind)), Static(None))
    middle = b.call(Static(list), subscript(frame, value, [rest]))
    first = [sequences.at(b, value, as_expr(k)) for k in range(position)]
    return [*first, middle, *(sequences.at(b, value, size + k) for k in behind)], True


def _read_first(frame: Frame, targets: list[ast.expr], items: list[Value]) -> list[Value]:
    """All items are read before the first target is written: what an earlier target overwrites is kept."""
    written: set[str] = set()
    ready: list[Value] = []
    anything = False  # an earlier target stores into an array
    exchanged = sum(isinstance(target, ast.Subscript) for target in targets) > 1
    for target, item in zip(targets, items, strict=True):
        if exchanged and isinstance(item, ListValue) and isinstance(item.token, ListRow):
            item = item.of(frame.b.copy(item.array))
        if exchanged and isinstance(item, ArrayValue) and is_in_list(frame, item):
            copy = frame.b.copy(item)
            frame.b.copied_again(copy, item)
            item = copy
        if isinstance(item, TupleValue | RecordValue):
            item = sequences.stable(frame.b, item)
        elif isinstance(item, Scalar):
            loads = loads_of(item.expr)
            if any(load.container in written or (anything and load.indices) for load in loads):
                item = frame.b.keep(item)
        ready.append(item)
        parts = list(ast.walk(target))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        any_field = any(isinstance(part, ast.Attribute) for part in parts)  # a setter may assign others
        slots = (slot for scope in frame.scopes for slot in scope.slots.items())
        written.update(slot for key, slot in slots if key[0] in names or (any_field and is_field(key[0])))
        anything = anything or not isinstance(target, ast.Name)
    return ready


def _store(frame: Frame, target: ast.Subscript, value: Value) -> None:
    if isinstance(value, Scalar) and not isinstance(value.expr, Load):
        operands: list[Value] = [value]
        frame.program.pending_operands.append(operands)
        owner = evaluate(frame, target.value)
        keys = keys_of(frame, target.slice)
        frame.program.pending_operands.pop()
        value = operands[0]
    else:
        owner = evaluate(frame, target.value)
        keys = keys_of(frame, target.slice)
    if isinstance(owner, StreamValue):  # an output of a tasklet: `name = value` there
        stream_operations.push(frame, owner, value)
        return
    frame.emit.place = (frame, target)
    store_keys(frame, owner, keys, value)


def store_keys(frame: Frame, owner: Value, keys: list[Value], value: Value) -> None:
    """``owner[keys] = value``."""
    keys = _of_dictionary(owner, keys)
    if isinstance(owner, TupleValue | ListValue | DictValue) and len(keys) == 1:
        _call_list(frame, owner, "__setitem__", keys[0], value)
        return
    if any(isinstance(part, VariantValue) for part in (*keys, value)):

        def stored_now(now: list[Value]) -> Value:
            store_keys(frame, now[0], now[1:-1], now[-1])
            return Static(None)

        if isinstance(owner, ArrayValue):
            value = item_variants.stored(frame, owner, value)
        item_variants.by_kind(frame, [owner, *keys, value], stored_now, "[]")
        return
    if _set_by_class(frame, owner, keys, value):
        return
    if not isinstance(owner, ArrayValue):
        raise FrontendError(
            f"{kind_of(owner)} does not take assignments to its items",
            notes=("only elements of arrays can be changed; everything else is a value",),
            help="make it an array: np.array(...)" if isinstance(owner, TupleValue) else "keep the items in variables",
        )
    value = with_integers(frame.b, value, owner.dtype)
    written = written_out(frame.b, owner, keys)
    if written.mode is IndexingMode.CHOICE:
        advanced_indexing.write(frame.b, owner, written, value)
        return
    place = basic_indexing.basic(frame.b, owner, written.items)
    if written.mode is IndexingMode.ELEMENT:
        _store_element(frame, owner, place, value)
    else:
        frame.b.store(place, value)


def _set_by_class(frame: Frame, owner: Value, keys: list[Value], value: Value) -> bool:
    """Call the method of a user's class that takes assignments to items; False where there is none."""
    key = keys[0] if len(keys) == 1 else TupleValue(tuple(keys))
    return special.call(frame, owner, "__setitem__", [key, value]) is not None


def _store_element(frame: Frame, owner: ArrayValue, place: ArrayValue, value: Value) -> None:
    stores.require_writable(frame.b, owner, single=True)
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    if not is_number(value):
        is_sequence = isinstance(value, ArrayValue | TupleValue | ListValue)
        raise FrontendError(
            f"setting an array element with {kind_of(value)}",
            notes=("NumPy raises ValueError here",),
            help="store it into a slice, or reduce it to a number first" if is_sequence else "store a number",
        )
    number = scalar_expr(stored(frame.b, value, place.dtype))
    if number.dtype.kind == "c" and place.dtype.kind != "c":
        raise FrontendError(
            f"a complex number does not fit into an array of {place.dtype.numpy_name}",
            notes=("NumPy raises TypeError here",),
            help="store its .real",
        )
    memlet = Memlet(place.container, place.subset(()), frame.b.combined_writes.get(place.container, ""))
    frame.emit.tasklet([(memlet, convert(number, place.dtype))])


def _call_list(frame: Frame, owner: Value, method: str, *args: Value) -> None:
    """A method of lists."""
    frame.program.evaluator.call_list(frame, owner, method, args, {})


# -- augmented assignment --------------------------------------------------------------------------------------------


def augment(frame: Frame, target: ast.expr, symbol: str, value_node: ast.expr) -> None:
    """``target symbol= value``."""
    match target:
        case ast.Name(id=name):
            _augment_name(frame, target, name, symbol, value_node)
        case ast.Subscript():
            _augment_item(frame, target, symbol, value_node)
        case ast.Attribute(value=owner, attr=name):
            _augment_field(frame, owner, name, symbol, value_node)
        case _:
            raise FrontendError(f"{type(target).__name__} is not a target that dcpy takes")


def _augment_item(frame: Frame, target: ast.Subscript, symbol: str, value_node: ast.expr) -> None:
    """``owner[keys] symbol= value``: the item is read before the value is evaluated, which may change it.

    Arrays rarely are changed there; where one is found to be, lowering begins anew, and reads before.
    """
    owner = evaluate(frame, target.value)
    keys = keys_of(frame, target.slice)
    merge, clock = (READ_FIRST, frame.span(target)), frame.b.clock
    _, statement = frame.program.activations[-1]
    if any(isinstance(key, VariantValue) for key in keys):
        if statement is not None and statement.calls:
            raise FrontendError("what may be None is an index of an item that a call updates", help="name the index")
        _augment_by_kind(frame, target, [owner, *keys, evaluate(frame, value_node)], symbol)
        return
    moves = statement is not None and not statement.shares.isdisjoint(read_names(target.slice))
    if isinstance(owner, ArrayValue) and not moves and not frame.b.split_joins.get(merge):
        value = evaluate(frame, value_node)
        frame.emit.place = (frame, target)
        root = frame.b.root(owner.container)
        if any(frame.b.stored.get(one, 0) > clock for one in (root, *frame.b.overlapped(root))):
            raise frame.b.by_path(merge, FrontendError("the value of an assignment changes its target"))
        _augment_keys(frame, owner, keys, symbol, value)
        return
    operands: list[Value] = [*keys, subscript(frame, owner, keys)]
    frame.program.pending_operands.append(operands)
    value = evaluate(frame, value_node)
    frame.program.pending_operands.pop()
    *keys, current = operands
    frame.emit.place = (frame, target)
    if isinstance(owner, ArrayValue) and isinstance(current, ArrayValue):
        _augment_keys(frame, owner, keys, symbol, value, current)
    elif isinstance(current, ArrayValue) and not isinstance(owner, TupleValue | ListValue | DictValue):
        _update_array(frame, current, symbol, value)
        _set_by_class(frame, owner, keys, current)
    elif isinstance(current, ArrayValue) or list_references.is_list(current):
        _augment_keys(frame, owner, keys, symbol, value)
    else:
        store_keys(frame, owner, keys, _combined(frame, symbol, current, value))


def _augment_by_kind(frame: Frame, target: ast.Subscript, operands: list[Value], symbol: str) -> None:
    """``owner[keys] symbol= value`` with a key out of a list that holds several kinds of items."""

    def augmented(now: list[Value]) -> Value:
        _augment_keys(frame, now[0], now[1:-1], symbol, now[-1])
        return Static(None)

    frame.emit.place = (frame, target)
    item_variants.by_kind(frame, operands, augmented, "[]")


def _assign_field(frame: Frame, node: ast.expr, name: str, value: Value) -> None:
    """``owner.name = value``; the owner may be an expression that runs code."""
    operands: list[Value] = [value]
    frame.program.pending_operands.append(operands)
    owner = evaluate(frame, node)
    frame.program.pending_operands.pop()
    if isinstance(owner, ArrayValue) and name in ("real", "imag"):
        store_keys(frame, attribute(frame, owner, name), [Static(Ellipsis)], operands[0])
    else:
        objects.assign_field(frame, owner, name, operands[0])


def _augment_field(frame: Frame, node: ast.expr, name: str, symbol: str, value_node: ast.expr) -> None:
    """``owner.name symbol= value``: an array stays the same one."""
    owner = evaluate(frame, node)
    operands: list[Value] = [attribute(frame, owner, name)]
    frame.program.pending_operands.append(operands)
    value = evaluate(frame, value_node)
    frame.program.pending_operands.pop()
    current = operands[0]
    if isinstance(owner, ArrayValue) and name in ("real", "imag"):
        _augment_keys(frame, current, [Static(Ellipsis)], symbol, value)
        return
    if _updates_list(frame, current, symbol, value):
        return
    if not isinstance(current, ArrayValue):
        objects.assign_field(frame, owner, name, _combined(frame, symbol, current, value))
        return
    objects.require_assignable(owner, name, in_place=True)
    _update_array(frame, current, symbol, value)


def _set_shape(frame: Frame, name: str, shape: Value) -> None:
    """``a.shape = ...``, of an array that only this name has: the name then stands for the reshaped view.

    Of an object it is a field like others.
    """
    current = read_name(frame, name)
    if not isinstance(current, ArrayValue):
        objects.assign_field(frame, current, "shape", shape)
        return
    shared = any(other != name and value == current for other, value in frame.env.items())
    reasons = {
        "it is set in a loop or branch, or in an outer function": len(frame.scopes) > 1 or name not in frame.env,
        "it belongs to the caller": not frame.b.desc(frame.b.root(current.container)).transient,
        "another name has the same array": shared,
        "it is not known to be contiguous": not frame.b.contiguous(current),
    }
    for reason, holds in reasons.items():
        if holds:
            raise FrontendError(
                f"the shape of {name!r} cannot be set in place: {reason}", help=f"write `{name} = {name}.reshape(...)`"
            )
    bind_name(frame, name, frame.b.call(Static(np.reshape), current, shape))


def _augment_name(frame: Frame, target: ast.Name, name: str, symbol: str, value_node: ast.expr) -> None:
    if name in frame.locals and name not in frame.env:
        read_name(frame, name)  # the refusal of a name without a value
    shared = frame.forbidding(name)
    if shared is not None:
        write_conflicts.accumulate(frame, shared, name, symbol, evaluate(frame, value_node))
        return
    operands = evaluate_all(frame, [ast.copy_location(ast.Name(name, ast.Load()), target), value_node])
    current, value = operands
    frame.emit.place = (frame, target)
    if isinstance(current, ArrayValue):
        _update_array(frame, current, symbol, value)
        return
    if _updates_list(frame, current, symbol, value):
        return
    frame.b.result_name = name
    bind_name(frame, name, _combined(frame, symbol, current, value))


def _updates_list(frame: Frame, current: Value, symbol: str, value: Value) -> bool:
    """Change a list in place, ``x += items`` or ``x *= n``; not where NumPy makes an array of it."""
    of_numpy = isinstance(value, ArrayValue) or (symbol == "+" and is_number(value) and not is_weak(value))
    if not list_references.is_list(current) or symbol not in ("+", "*") or of_numpy:
        return False
    _call_list(frame, current, "extend" if symbol == "+" else "__imul__", value)
    return True


def _combined(frame: Frame, symbol: str, current: Value, value: Value) -> Value:
    """Return the value of ``current symbol= value`` for something that is no array."""

    def computed(sides: list[Value]) -> Value:
        found = special.binary(frame, symbol, sides[0], sides[1], in_place=True)
        return binary(frame.b, symbol, sides[0], sides[1]) if found is None else found

    return item_variants.by_kind(frame, [current, value], computed, f"{symbol}=")


def _update_array(frame: Frame, current: ArrayValue, symbol: str, value: Value) -> None:
    if write_conflicts.conflicts(frame, current):
        write_conflicts.update_array(frame, current, symbol, value)
    elif symbol == "@":
        frame.b.store(current, binary(frame.b, "@", current, value))
    else:
        stores.update(frame.b, UFUNC_OF[symbol], current, value)


def _of_dictionary(owner: Value, keys: list[Value]) -> list[Value]:
    """The key of a dictionary, where that is a tuple: ``d[i, j]``."""
    return [TupleValue(tuple(keys))] if isinstance(owner, DictValue) and len(keys) != 1 else keys


def _augment_keys(
    frame: Frame, owner: Value, keys: list[Value], symbol: str, value: Value, old: ArrayValue | None = None
) -> None:
    """``owner[keys] symbol= value``; `old`: the elements before, where arrays of indices or masks choose them."""
    keys = _of_dictionary(owner, keys)
    if isinstance(owner, TupleValue | ListValue | DictValue) and len(keys) == 1:
        current = subscript(frame, owner, keys)
        if isinstance(owner, DictValue) or list_references.is_list(owner):
            if isinstance(current, ArrayValue):  # it changes in place, and stays where it is
                _update_array(frame, current, symbol, value)
                return
            if _updates_list(frame, current, symbol, value):
                return
        _call_list(frame, owner, "__setitem__", keys[0], _combined(frame, symbol, current, value))
        return
    if not isinstance(owner, ArrayValue):
        raise FrontendError(f"{kind_of(owner)} does not take assignments to its items")
    written = written_out(frame.b, owner, keys)
    if written.mode is IndexingMode.CHOICE:
        _augment_chosen(frame, owner, written, symbol, value, old)
        return
    place = basic_indexing.basic(frame.b, owner, written.items)
    if written.mode is not IndexingMode.ELEMENT or write_conflicts.conflicts(frame, place):
        _update_array(frame, place, symbol, value)
        return
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    _store_element(frame, owner, place, binary(frame.b, symbol, Scalar(place.load(())), value))


def _augment_chosen(
    frame: Frame, owner: ArrayValue, keys: SubscriptKeys, symbol: str, value: Value, old: ArrayValue | None = None
) -> None:
    """``owner[arrays] symbol= value``: a copy is changed in place, and stored."""
    b = frame.b
    old = advanced_indexing.read(b, owner, keys) if old is None else old
    if symbol != "@":
        value = value if isinstance(value, ArrayValue) or is_number(value) else b.array(value)
        stores.require_updatable(b, UFUNC_OF[symbol], old, value)
    advanced_indexing.write(b, owner, keys, binary(b, symbol, old, value), checked=True)

"""Outlined calls: functions of dcpy's own that are compiled once for each kind of arguments, however often called.

What dictionaries, sets and heaps do is written in Python, and a program calls it in many places, in loops in which
types are found by dry runs. A function that is `compiled_once` takes numbers, tuples of numbers, and lists, and returns
a number or nothing. A list is passed as the array of its items: the function may store an item of the same kind, and
not change the length. Where arguments are others (texts, arrays, items that are lists), it is evaluated in place.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.frontend.abstract_values.kinds_by_path import NONE
from dcpy.frontend.abstract_values.list_values import Level, ListValue, NamedItems
from dcpy.frontend.abstract_values.packed_items import PackedNumber, PackedPart, PackedTuple, PackedUnion
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
    scalar_expr,
)
from dcpy.frontend.lower.frame import NoCall
from dcpy.frontend.lower.functions import call_nodes
from dcpy.frontend.lower.functions.passed_types import (
    EmptyListType,
    ListType,
    NumberType,
    PassedType,
    TextType,
    TupleType,
)
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.name_binding import materialize
from dcpy.frontend.lower.sequences import item_kinds, list_contents, list_references, list_types
from dcpy.ir.data import packed_strides
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.lowering_result import Lowered


def call_node(frame: Frame, function: python_types.FunctionType, bound: Mapping[str, Value]) -> Value | None:
    """Emit a `Call` of the function; None where it must be evaluated in place."""
    if not getattr(function, "compiled_once", False):
        return call_nodes.call_node(frame, function, bound)
    if frame.map_scopes():
        return None
    given = dict(bound)
    passed = {name: _type_of(frame, value) for name, value in given.items()}
    kinds = {name: kind for name, kind in passed.items() if kind is not None}
    if len(kinds) < len(passed) or _repeats(given):
        return None
    lowered = _lowered(frame, function, kinds)
    if lowered is None:
        return None
    materialize(frame)
    written = call_nodes.written_containers(lowered.sdfg, frame.program.callees.written_arguments)
    for name, kind in kinds.items():
        if isinstance(kind, ListType):
            given[name] = _as_array(frame, given[name], written=name in written)
    return _emit(frame, lowered, kinds, given)


# -- types -----------------------------------------------------------------------------------------------------------


def _type_of(frame: Frame, value: Value) -> PassedType | None:
    """The type of an argument, which decides what the function is compiled for; None where it cannot be passed."""
    if is_number(value):
        return NumberType(dtype_of(value), is_weak(value))
    match value:
        case TextValue(parts=((number, code, spec),)) if is_number(number):
            return TextType(NumberType(dtype_of(number), is_weak(number)), (code, spec))
        case TupleValue(items=(), is_list=True):
            return EmptyListType()
        case TupleValue(is_list=True):
            return _type_of_known(frame, value)
        case TupleValue(items=items, cls=cls, names=names):
            parts = [_type_of(frame, item) for item in items]
            known = tuple(part for part in parts if isinstance(part, NumberType | TupleType | TextType))
            return TupleType(known, names, cls) if len(known) == len(parts) else None
        case ListValue():
            return _type_of_list(frame, value)
    return None


def _type_of_known(frame: Frame, value: TupleValue) -> PassedType | None:
    """The type of a list of known length: that of the array that it becomes."""
    if not all(is_number(item) or isinstance(item, TupleValue) for item in value.items):
        return None
    kind = item_kinds.joined_kind(frame.b, [item_kinds.kind_of_item(frame.b, item) for item in value.items])
    return _passed_list(kind.unfilled())


def _type_of_list(frame: Frame, value: ListValue) -> PassedType | None:
    kind = item_kinds.kind_of_list(frame.b, value)
    desc = value.array.as_view(frame.b.desc(value.array))
    return _passed_list(kind.unfilled()) if desc.strides == packed_strides(desc.shape) else None


def _passed_list(kind: item_kinds.ItemKind) -> ListType | None:
    sizes = [size.constant for size in kind.shape]
    known = tuple(size for size in sizes if size is not None)
    if len(known) < len(sizes) or len(kind.levels) < len(sizes) or not all(map(_is_tuple, kind.levels)):
        return None
    return ListType(kind.dtype, kind.weak, known, (True, *map(_plain_level, kind.levels)))


def _is_tuple(level: object) -> bool:
    return level is False or isinstance(level, NamedItems | PackedTuple | PackedUnion)


def _plain_level(level: Level) -> Level:
    if not isinstance(level, PackedTuple):
        return level
    return replace(level, parts=tuple(map(_plain, level.parts)))


def _plain(part: PackedPart) -> PackedPart:
    """The kind of an item, without what numbers are on other paths: what is compiled once does not ask."""
    if isinstance(part, PackedNumber):
        return replace(part, other_kinds=NONE, fill=None)
    if isinstance(part, PackedTuple):
        return replace(part, parts=tuple(map(_plain, part.parts)))
    return part


def _repeats(given: Mapping[str, Value]) -> bool:
    """Return whether one list is passed twice: the function was compiled without knowing."""
    tokens = [value.token for value in given.values() if isinstance(value, ListValue | TupleValue)]
    known = [token for token in tokens if token is not None]
    return len(known) > len(set(known))


# -- the function ----------------------------------------------------------------------------------------------------


def _lowered(frame: Frame, function: python_types.FunctionType, kinds: Mapping[str, PassedType]) -> Lowered | None:
    """The function, lowered once for each pattern of types; None where it has to be evaluated in place."""
    callees = frame.program.callees
    key = (function, tuple(kinds.items()))
    if key not in callees.sdfgs:
        try:
            callees.sdfgs[key] = frame.program.evaluator.lower(frame.program, function, {**kinds}, None)
        except (NoCall, WillRaise, DcpyError):  # evaluated in place, it says what it is about
            callees.sdfgs[key] = None
    found: Lowered | None = callees.sdfgs[key]
    usable = found is not None and not found.extra_arguments and not found.free_symbols and not found.assumed
    return found if usable else None


# -- the call --------------------------------------------------------------------------------------------------------


def _as_array(frame: Frame, value: Value, *, written: bool) -> ListValue:
    """The list that is passed as its array; one that the function writes has an array of its own."""
    assert isinstance(value, TupleValue | ListValue)
    if not written:
        return value if isinstance(value, ListValue) else list_types.as_array_list(frame.b, value)
    name = list_references.changing(frame, value, list_references.ITEM)
    content = list_contents.content(frame, name, value)
    if isinstance(content, TupleValue):
        shown = list_references.shown(frame, content)
        assert isinstance(shown, TupleValue)
        kind = item_kinds.joined_kind(frame.b, [item_kinds.kind_of_item(frame.b, item) for item in shown.items])
    else:
        kind = item_kinds.kind_of_list(frame.b, content)
    found = list_contents.holding_kind(frame, name, content, kind.unfilled())
    list_references.forget_rows(frame, name)
    if found.size and isinstance(value, ListValue):
        return replace(found, array=value.array, size="")
    return found


def _emit(frame: Frame, lowered: Lowered, kinds: Mapping[str, PassedType], given: Mapping[str, Value]) -> Value:
    sdfg = lowered.sdfg
    symbols: dict[str, Expr] = {}
    actuals: dict[str, Memlet] = {}
    for name, kind in kinds.items():
        actuals |= dict(_operands(frame, name, kind, given[name], symbols))
    arguments = {name: actuals[name] for name in sdfg.arguments}
    results = [
        call_nodes.result_of(frame, sdfg, result, call_nodes.CallArguments(), given, arguments)
        for result in sdfg.results
    ]
    symbols = {name: value for name, value in symbols.items() if name in sdfg.symbols}
    if sdfg.body.blocks:
        frame.emit.node(Call(sdfg, arguments, symbols, outlined=True))
    return call_nodes.structured(sdfg.structure, results)


def _operands(
    frame: Frame, name: str, kind: PassedType, value: Value, symbols: dict[str, Expr]
) -> Iterator[tuple[str, Memlet]]:
    """Yield the containers of an argument, by the names that the function has for them; `symbols` gets its sizes."""
    match kind, value:
        case ListType(), ListValue(array=array):
            symbols[kind.length(name)] = frame.b.exact(array.shape[0])
            yield name, frame.b.operand(array)
        case TupleType(parts=parts), TupleValue(items=items):
            for (inner, part), item in zip(kind.named(name), items, strict=True):
                yield from _operands(frame, inner, part, item, symbols)
            assert len(parts) == len(items)
        case TextType(number=inner_kind), TextValue(parts=((number, *_),)):
            yield from _operands(frame, name, inner_kind, number, symbols)
        case NumberType(), _:
            number = value if isinstance(value, Scalar) else Scalar(scalar_expr(value), is_weak(value))
            yield name, call_nodes.element(frame, number)
        case _:
            assert not isinstance(value, ArrayValue | Static)

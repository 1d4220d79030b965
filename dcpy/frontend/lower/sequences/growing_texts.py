"""Growing texts: what a text is whose form depends on the path taken, ``line += "#"`` in a loop.

Its pieces are the items of a list that grows, in a slot of the name's own; a text that is read is the pieces that are
there now. Pieces are only added, so what was read stays what it was; where the slot begins anew while another name
shows it, there is another slot.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.list_values import GrownText, JoinedLevel, JoinedList, ListValue
from dcpy.frontend.abstract_values.values import Static, TextValue, TupleValue, Value, VariantValue
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.sequences import amortized_append, item_kinds, list_types
from dcpy.frontend.python.joined_pieces import interleaved
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, Names

Piece = Value | JoinedList  # of a text: a constant, a text with one number, or a joined list


def grows_in(body: core.Body, name: str, values: Sequence[Value]) -> bool:
    """Return whether a loop makes a text of parts: ``name += x``, ``name = x + name``, ``name = f"{name}x"``.

    One that is a constant on each path is kept apart, as other values are: ``state = "done"``.
    """
    if not all(map(is_text, values)):
        return False
    known = all(isinstance(value, Static | VariantValue) for value in values)
    return not known or any(_adds(statement, name) for statement in core.statements_in(body))


def _adds(statement: core.Statement, name: str) -> bool:
    match statement:
        case core.Augment(target=ast.Name(id=target), op="+"):
            return target == name
        case core.Assign(value=ast.AST() as value) if name in statement.targets_bound():
            return any(isinstance(part, ast.BinOp | ast.JoinedStr) or _makes_text(part) for part in ast.walk(value))
    return False


def _makes_text(part: ast.AST) -> bool:
    return isinstance(part, ast.Attribute) and part.attr in ("join", "replace", "format")


def is_text(value: Value) -> bool:
    """Return whether a value is a text on all paths."""
    if isinstance(value, VariantValue):
        return all(is_text(option) for _, option in value.options)
    return isinstance(value, TextValue | GrownText) or (isinstance(value, Static) and isinstance(value.value, str))


def grows_at_branch(frame: Frame, name: str, values: Sequence[Value]) -> bool:
    """Return whether a text that a loop carries, and that is of several forms here, is made of pieces from here on."""
    if not all(map(is_text, values)) or not any(isinstance(value, TextValue) for value in values):
        return False
    return any(name in sites.carried for sites in frame.loops)


def is_grown(value: Value) -> bool:
    """Return whether a text has pieces that only the run time counts."""
    match value:
        case GrownText():
            return True
        case TextValue(parts=parts):
            return any(not isinstance(part, str) and isinstance(part[0], JoinedList) for part in parts)
    return False


def pieces_of(value: Value) -> Iterator[Piece]:
    """Yield the pieces of a text; empty ones are none."""
    match value:
        case GrownText(items=items):
            yield JoinedList("", items)
        case Static(value=str() as known) if known:
            yield value
        case TextValue(parts=parts):
            for part in parts:
                if isinstance(part, str):
                    yield from (Static(part),) if part else ()
                else:
                    yield part[0] if isinstance(part[0], JoinedList) else TextValue((part,))


def slot_of(frame: Frame, name: str, values: Sequence[Value], busy: Names) -> GrownText | None:
    """The text in which those of several paths meet; None where pieces are no items of one list."""
    pieces = [piece for value in values for piece in pieces_of(value)]
    kinds = []
    for piece in pieces:
        if isinstance(piece, JoinedList):
            if any(isinstance(level, JoinedLevel) for level in piece.items.levels):
                return None
            kinds.append(item_kinds.kind_of_list(frame.b, piece.items))
            if piece.separator:
                kinds.append(item_kinds.kind_of_item(frame.b, Static(piece.separator)))
        else:
            kinds.append(item_kinds.kind_of_item(frame.b, piece))
    if not kinds:
        return None
    kind = item_kinds.kind_of_texts(frame.b, kinds)
    return GrownText(frame.list_slot(name, kind, busy))


def concrete(frame: Frame, value: GrownText) -> TextValue:
    """The text as it is now."""
    return TextValue(((JoinedList("", amortized_append.shown(frame, value.items)), -1, ""),))


def as_one_list(frame: Frame, value: Value) -> Value:
    """A text that is an item of a list: one with joined lists among other pieces becomes one joined list."""
    if not is_grown(value) or (isinstance(value, TextValue) and len(value.parts) == 1):
        return value
    found = slot_of(frame, "text", [value], frozenset())
    if found is None:
        return value
    kind = item_kinds.kind_of_list(frame.b, found.items)
    made = amortized_append.empty_growing(frame, kind)
    _append(frame, made, list(pieces_of(value)))
    return concrete(frame, GrownText(made))


def move(frame: Frame, pairs: Sequence[tuple[GrownText, Value]]) -> None:
    """Make the targets the texts of the sources, all at once."""
    written = {target.items.array.container for target, _ in pairs}
    ready = []
    for target, source in pairs:
        pieces = list(pieces_of(source))
        kept = _is_front(frame, target, pieces[0]) if pieces else False
        rest = [_apart(frame, piece, written) for piece in pieces[kept:]]
        ready.append((target.items, pieces[0] if kept else None, rest))
    for items, front, rest in ready:
        length = frame.b.exact(front.items.array.shape[0]) if isinstance(front, JoinedList) else ZERO
        amortized_append.set_length(frame, items.size, length)
        _append(frame, items, rest)


def _is_front(frame: Frame, target: GrownText, piece: Piece) -> bool:
    """Return whether a piece is what is in the slot already, from its first item on."""
    if not isinstance(piece, JoinedList) or piece.separator:
        return False
    array = piece.items.array
    first = array.window.dims[0]
    at_front = isinstance(first, Range) and first.start is ZERO and not piece.items.size
    return at_front and frame.b.root(array.container) == target.items.array.container


def _apart(frame: Frame, piece: Piece, written: set[str]) -> Piece:
    """A piece that is read now, where it lies in what is about to be written."""
    if not isinstance(piece, JoinedList):
        return piece
    items = amortized_append.shown(frame, piece.items)
    if frame.b.root(items.array.container) in written:
        items = items.of(frame.b.copy(items.array))
    return JoinedList(piece.separator, items)


def _append(frame: Frame, target: ListValue, pieces: Sequence[Piece]) -> None:
    kind = item_kinds.kind_of_list(frame.b, target)
    for piece in pieces:
        if not isinstance(piece, JoinedList):
            amortized_append.appended(frame, target, piece)
            continue
        items: Any = piece.items
        if piece.separator:
            items = frame.b.call(Static(interleaved), items, Static(piece.separator))
            if isinstance(items, TupleValue):
                items = list_types.as_array_list(frame.b, items, kind) if items.items else None
        if items is not None:
            amortized_append.extend(frame, target, list_types.converted(frame.b, items, kind))

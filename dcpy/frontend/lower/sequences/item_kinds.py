"""Item kinds: what the items of a list of run-time length are, and what holds those of several lists.

Tuples of numbers of one kind are rows of an array of that kind. Those of several kinds are packed (`packed_items`):
each place of the tuple has its own kind, and places of two lists meet one by one. Items that do not meet at all (an int
and a float, a number and None) are packed with the number of their kind.

A known number meets those of another kind (``[0] * n``, filled with floats), and lists are numbers of one kind then, as
long as nobody asks which item is which. Where that matters, lowering begins anew, and items keep their kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds
from dcpy.frontend.abstract_values.list_values import JoinedLevel, Level, ListValue, NamedItems, only_list
from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.packed_items import (
    PackedConstant,
    PackedLevel,
    PackedNumber,
    PackedPart,
    PackedText,
    PackedTuple,
    PackedUnion,
    row_class,
)
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
)
from dcpy.frontend.lower.arithmetic import range_checks
from dcpy.frontend.lower.arithmetic.promotion import joined_number, mixed_kinds
from dcpy.frontend.lower.lowering_signals import ITEM_KINDS, PathsMatter
from dcpy.frontend.lower.sequences import item_words
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.symbolic import Expr, as_expr
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

LONG_TUPLE = 64  # items, of tuples in lists that are arrays of their own
MOST_PIECES = 256  # of a text that grows, which differ in kind
MOST_OPTIONS = 24  # kinds of items in one list: what uses an item may be written once for each


@dataclass(frozen=True)
class ItemKind:
    """Kind of the items of a list: numbers of one dtype, arrays of one `shape`, or lists (`levels`) of such."""

    dtype: DType
    weak: bool = False
    other_kinds: Kinds = NONE
    shape: tuple[Expr, ...] = ()
    levels: tuple[Level, ...] = ()
    fill: Static | None = None

    def list_of(self, array: ArrayValue, *, size: str = "") -> ListValue:
        """A list of such items."""
        return ListValue(array, self.weak, self.other_kinds, (True, *self._unfilled_levels), size, self.fill)

    @property
    def packed(self) -> PackedLevel | None:
        """The innermost items, where they are rows of words."""
        last = self.levels[-1] if self.levels else None
        return last if isinstance(last, PackedTuple | PackedUnion) else None

    @property
    def union(self) -> PackedUnion | None:
        """The kinds of which each of the innermost items is one."""
        packed = self.packed
        return packed if isinstance(packed, PackedUnion) else None

    def unfilled(self) -> ItemKind:
        """The same kind of items, with numbers that are not known."""
        return replace(self, fill=None, levels=self._unfilled_levels)

    @property
    def _unfilled_levels(self) -> tuple[Level, ...]:
        packed = self.packed
        return self.levels if packed is None else (*self.levels[:-1], packed.unfilled())

    @property
    def number(self) -> Value:
        """A number that stands for those in the list."""
        return self.fill or Scalar(Load("", (), self.dtype), self.weak, self.other_kinds)


def kind_of_item(b: TypedEmitter, value: Value) -> ItemKind:  # noqa: C901  (one case per kind)
    """Return the kind of a list with such items; refuse values that are no number, array or list of them."""
    if is_number(value):
        return _kind_of_number(value)
    if isinstance(value, Static) and (value.value is None or isinstance(value.value, str)):
        return _of_level(PackedUnion((PackedConstant(value),)))
    value = item_words.distributed(b, value)
    match value:
        case TextValue():
            return _kind_of_text(b, value)
        case VariantValue(options=options):
            return joined_kind(b, _with_one_shape([kind_of_item(b, option) for _, option in options]))
        case ArrayValue(dtype=dtype, shape=shape) if shape:
            return ItemKind(dtype, shape=tuple(b.exact(size) for size in shape))
        case ArrayValue():
            return ItemKind(value.dtype)
        case ListValue(array=array):
            shape = tuple(b.exact(size) for size in array.shape)
            return ItemKind(array.dtype, value.weak, value.other_kinds, shape, value.levels, value.fill)
        case DictValue(items=pairs) if pairs:
            parts = [_part_of(kind_of_item(b, item)) for _, item in pairs]
            known = tuple(part for part in parts if part is not None)
            if len(known) == len(parts):
                return _of_level(PackedTuple(known, row_class(tuple(key for key, _ in pairs))))
        case TupleValue(items=items, is_list=is_list, cls=cls) if items and (cls is None or hasattr(cls, "_fields")):
            kinds = [kind_of_item(b, item) for item in items]
            if not is_list and (packed := _packed(kinds, cls)) is not None:
                return packed
            inner = joined_kind(b, kinds, in_tuple=not is_list)
            level = is_list if cls is None else NamedItems(cls)
            return replace(inner, shape=(as_expr(len(items)), *inner.shape), levels=(level, *inner.levels))
    raise FrontendError(
        f"a list whose length is known at run time only cannot hold {kind_of(value)}",
        notes=("its items are stored in an array: numbers, arrays of one shape, or tuples and lists of numbers",),
        help="keep one list for each kind of value, or give the list a length that is known",
    )


def _kind_of_number(value: Value) -> ItemKind:
    fill = value if isinstance(value, Static) else None
    if fill is not None and type(fill.value) is int and not range_checks.fits(fill, types.int64):
        raise FrontendError(f"{fill.value} does not fit into 64 bits", help="write it as a float")
    return ItemKind(dtype_of(value), is_weak(value), instead_of(value), fill=fill)


def _kind_of_text(b: TypedEmitter, value: TextValue) -> ItemKind:
    joined = only_list(value)
    if joined is not None:
        inner = kind_of_item(b, joined.items)
        return replace(inner, levels=(JoinedLevel(joined.separator), *inner.levels[1:]))
    parts = [_part_of(kind_of_item(b, number)) for number in item_words.numbers_in(value)]
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts):
        raise FrontendError("a list of run-time length holds texts with lists in them", help="print them one by one")
    packed = PackedText(PackedTuple(known).unfilled(), item_words.pieces_of(value))
    return _of_level(PackedUnion((packed,)))


def _with_one_shape(kinds: Sequence[ItemKind]) -> Sequence[ItemKind]:
    """The kinds of an item that is one of several arrays: that they are of one shape is checked where it is stored."""
    first = kinds[0].shape
    if not first or any(kind.levels or len(kind.shape) != len(first) for kind in kinds):
        return kinds
    return [replace(kind, shape=first) for kind in kinds]


def _packed(kinds: Sequence[ItemKind], cls: type | None) -> ItemKind | None:
    """Return the kind of a tuple whose items are numbers of several kinds, or tuples of such; None for others."""
    first = replace(kinds[0], fill=None)
    if kinds[0].packed is None and all(replace(kind, fill=None) == first for kind in kinds):
        return None
    parts = [_part_of(kind) for kind in kinds]
    known = tuple(part for part in parts if part is not None)
    return _of_level(PackedTuple(known, cls)) if len(known) == len(parts) else None


def _of_level(level: PackedLevel) -> ItemKind:
    return ItemKind(types.int64, weak=True, shape=(as_expr(level.words),), levels=(level,))


def _part_of(kind: ItemKind) -> PackedPart | None:
    """Return a kind of items as part of packed ones: numbers, or tuples of numbers of known length."""
    if not kind.levels:
        return None if kind.shape else PackedNumber(kind.dtype, kind.weak, kind.other_kinds, kind.fill)
    level = kind.levels[0]
    if isinstance(level, PackedUnion):
        return level.options[0] if len(level.options) == 1 else None
    if isinstance(level, PackedTuple):
        return level
    count = kind.shape[0].constant
    if level or count is None or count > LONG_TUPLE:
        return None
    inner = _part_of(replace(kind, shape=kind.shape[1:], levels=kind.levels[1:]))
    cls = level.cls if isinstance(level, NamedItems) else None
    return None if inner is None else PackedTuple((inner,) * count, cls)


def option_of(kind: ItemKind) -> PackedPart | None:
    """Return a kind of items as one of those of a list of several kinds."""
    part = _part_of(kind)
    return None if part is None else part.unfilled()


def _joined_packed(b: TypedEmitter, kinds: Sequence[ItemKind]) -> ItemKind | None:
    """The kind of a list that holds tuples part by part; None where their parts are no numbers, or do not meet."""
    found = _innermost(b, kinds)
    parts = [] if found is None else [_part_of(kind) for kind in found]
    known = [part for part in parts if part is not None]
    part = item_words.joined_part(known) if known and len(known) == len(parts) else None
    return _around(kinds[0], part) if isinstance(part, PackedTuple) else None


def _innermost(b: TypedEmitter, kinds: Sequence[ItemKind]) -> list[ItemKind] | None:
    """Return the kinds of what is in the innermost lists; None where these differ in length, or depth."""
    depths = [_depth(kind) for kind in kinds]
    depth, first = depths[0], kinds[0].shape
    if any(other != depth for other in depths):
        return None
    if not all(_same_sizes(b, kind.shape[:depth], first[:depth]) for kind in kinds):
        return None
    return [replace(kind, shape=kind.shape[depth:], levels=kind.levels[depth:]) for kind in kinds]


def _depth(kind: ItemKind) -> int:
    """Return how many lists, one in the other, are around the innermost items."""
    return next((k for k, level in enumerate(kind.levels) if not level), len(kind.levels))


def _around(outer: ItemKind, level: PackedLevel) -> ItemKind:
    """The kind of lists like `outer` with other innermost items."""
    inner, depth = _of_level(level), _depth(outer)
    return replace(inner, shape=outer.shape[:depth] + inner.shape, levels=outer.levels[:depth] + inner.levels)


def _union(b: TypedEmitter, kinds: Sequence[ItemKind], most: int = MOST_OPTIONS) -> ItemKind | None:
    """The kind of a list whose items keep their kinds; None where some are neither numbers, tuples of them, nor known.
    """
    found = _innermost(b, kinds)
    if found is None:
        return None
    options: dict[PackedPart, bool] = {}
    for kind in found:
        union = kind.union
        part = _part_of(kind) if union is None else None
        if union is None and part is None:
            return None
        for option in union.options if union is not None else (part,):
            assert option is not None
            options[_of_known_kind(b, option.unfilled())] = True
    if len(options) > most:
        raise FrontendError(
            f"a list holds items of more than {most} kinds",
            notes=("what uses an item is compiled once for each kind",),
            help="make a list for each kind of items, or give the numbers in them one type: float(x)",
        )
    return _around(kinds[0], PackedUnion(tuple(options)))


def _of_known_kind(b: TypedEmitter, option: PackedPart) -> PackedPart:
    """The kind of an item, without kinds that cannot be told from it.

    Lowering begins anew where the kind of a number depends on the path, or on the item: it is kept apart from then on.
    """
    if isinstance(option, PackedText):
        numbers = _of_known_kind(b, option.numbers)
        assert isinstance(numbers, PackedTuple)
        return replace(option, numbers=numbers)
    if isinstance(option, PackedTuple):
        return replace(option, parts=tuple(_of_known_kind(b, part) for part in option.parts))
    if not isinstance(option, PackedNumber) or not option.other_kinds:
        return option
    if not item_words.tells(option.dtype, option.other_kinds):
        return replace(option, other_kinds=NONE)
    error = FrontendError(
        f"the kind of a number in a list depends on the path taken: {' or '.join(_shown(option))}",
        help="make all of them one type: float(x)",
    )
    for merge in option.other_kinds.merges:
        if isinstance(found := b.by_path(merge, error), PathsMatter):
            raise found
    raise error


def _shown(number: PackedNumber) -> list[str]:
    return mixed_kinds(Scalar(Load("", (), number.dtype), number.weak, number.other_kinds))


def _noted(b: TypedEmitter, kinds: Sequence[ItemKind], found: ItemKind) -> ItemKind:
    """The kind of a list in which numbers of several kinds meet in one: the place is noted, for where that matters."""
    place = _place(b)
    level = found.packed
    if isinstance(level, PackedTuple):
        new = _noted_level(level, place)
        if new is level:
            return found
        changed = replace(found, levels=(*found.levels[:-1], new))
    else:
        if not item_words.tells(found.dtype, found.other_kinds):
            return found
        changed = replace(found, other_kinds=_noted_kinds(found.other_kinds, place))
    return (_union(b, kinds) or found) if b.split_joins.get(place) else changed


def _noted_level(level: PackedTuple, place: object) -> PackedTuple:
    parts: list[PackedPart] = []
    for part in level.parts:
        if isinstance(part, PackedTuple):
            parts.append(_noted_level(part, place))
        elif isinstance(part, PackedNumber) and item_words.tells(part.dtype, part.other_kinds):
            parts.append(replace(part, other_kinds=_noted_kinds(part.other_kinds, place)))
        else:
            parts.append(part)
    same = all(new is old for new, old in zip(parts, level.parts, strict=True))
    return level if same else replace(level, parts=tuple(parts))


def are_apart(b: TypedEmitter, items: Sequence[Value]) -> bool:
    """Return whether items of lists that meet here, one by one, are to keep their kinds."""
    numbers = [item for item in items if isinstance(item, Scalar) and item_words.tells(item.dtype, item.other_kinds)]
    return bool(numbers) and b.split_joins.get(_place(b), False)


def noted_number(b: TypedEmitter, item: Value) -> Value:
    """An item in which numbers of several kinds meet: the place is noted, for where that matters."""
    if not isinstance(item, Scalar) or not item_words.tells(item.dtype, item.other_kinds):
        return item
    return replace(item, other_kinds=_noted_kinds(item.other_kinds, _place(b)))


def _place(b: TypedEmitter) -> object:
    return ITEM_KINDS, b.emit.span


def _noted_kinds(kinds: Kinds, place: object) -> Kinds:
    return Kinds(kinds, (place, *kinds.merges), tells=True, of_items=kinds.of_items)


def kind_of_rows(b: TypedEmitter, array: ArrayValue) -> ItemKind:
    """Return the kind of an array's items, as items of a list."""
    return ItemKind(array.dtype, shape=tuple(b.exact(size) for size in array.shape[1:]))


def joined_kind(
    b: TypedEmitter, kinds: Sequence[ItemKind], *, in_tuple: bool = False, apart: bool = True
) -> ItemKind:  # fmt: skip
    """The kind of a list that holds items of all these kinds; refuses what would change a number's type in silence.

    Not `apart`: items that are to keep their kinds are refused, too.
    """
    if any(kind.union is not None for kind in kinds) and (union := _union(b, kinds)) is not None:
        return union
    try:
        found = _one_kind(b, kinds, in_tuple=in_tuple)
    except FrontendError:
        union = _union(b, kinds) if apart and not in_tuple else None
        if union is None:
            raise
        return union
    if in_tuple:
        return found
    noted = _noted(b, kinds, found)
    if not apart and noted.union is not None:
        raise FrontendError(
            "the items of a list differ in kind, and which is taken is known at run time only",
            help="make all of them one type: float(x)",
        )
    return noted


def kind_of_texts(b: TypedEmitter, kinds: Sequence[ItemKind]) -> ItemKind:
    """The kind of a list of pieces of texts, which may be of many kinds: nothing is compiled for each."""
    found = _union(b, kinds, MOST_PIECES)
    assert found is not None
    return found.unfilled()


def _one_kind(b: TypedEmitter, kinds: Sequence[ItemKind], *, in_tuple: bool) -> ItemKind:
    """The kind in which all of these meet."""
    first = kinds[0]
    union = next((kind.union for kind in kinds if kind.union is not None), None)
    if union is not None and any(kind.levels != first.levels for kind in kinds):
        constants = [kind_of(option.value) for option in union.options if isinstance(option, PackedConstant)]
        constant = constants[0] if constants else "numbers"
        raise FrontendError(
            f"a list whose length is known at run time only cannot hold {constant} beside these items",
            notes=("items of several kinds are numbers, None, texts, and tuples of them",),
            help="keep one list for each kind of value, or give the list a length that is known",
        )
    if any(kind.packed is not None for kind in kinds) and (packed := _joined_packed(b, kinds)) is not None:
        return packed
    classes = dict.fromkeys(level.cls.__name__ for k in kinds for level in k.levels
                            if isinstance(level, NamedItems | PackedTuple) and level.cls is not None)  # fmt: skip
    if len(classes) > 1:
        raise FrontendError(
            f"a list of run-time length holds named tuples of several classes: {', '.join(classes)}",
            help="make a list for each class",
        )
    if not all(_same_sizes(b, kind.shape, first.shape) and kind.levels == first.levels for kind in kinds):
        raise FrontendError(
            "a list of run-time length has items of different lengths or shapes",
            notes=("they are the rows of one array inside",),
            help="make rows whose length is known before: `[f(j) for j in range(m)]`, or fill an array; pass rows of "
            "several lengths as one array and the places where they begin: np.concatenate(rows), "
            "np.cumsum([0, *map(len, rows)])",
        )
    meeting = joined_number([kind.number for kind in kinds])
    if meeting is None or (first.shape and not first.levels and any(kind.dtype != first.dtype for kind in kinds)):
        shown = " and ".join(dict.fromkeys(str(mixed_kinds(Scalar(Load("", (), k.dtype), k.weak, k.other_kinds))[-1])
                                           for k in kinds))  # fmt: skip
        if in_tuple:
            raise FrontendError(
                f"the tuples of a list whose length is known at run time only hold {shown}",
                notes=("they are the rows of one array inside, which has one type",),
                help="convert their items to one type, `(float(x), float(i))`, or make a list for each place",
            )
        raise FrontendError(
            f"a list holds {shown}, in an order that is known at run time only",
            help="make all of them one type: float(x), or start with 0.0 instead of 0",
        )
    same = all(kind.fill == first.fill for kind in kinds)
    return ItemKind(
        meeting.dtype, meeting.weak, meeting.other_kinds, first.shape, first.levels, first.fill if same else None
    )


def _same_sizes(b: TypedEmitter, left: Sequence[Expr], right: Sequence[Expr]) -> bool:
    ranges = b.emit.ranges
    return len(left) == len(right) and all(
        one is other or ranges.simplify(one - other).constant == 0
        or (ranges.proves_le(one, other) and ranges.proves_le(other, one))
        for one, other in zip(left, right, strict=True)
    )  # fmt: skip


def same_kind(b: TypedEmitter, left: ItemKind, right: ItemKind) -> bool:
    """Return whether lists of both kinds hold the same items; known numbers apart."""
    mine, other = (replace(kind.unfilled(), shape=()) for kind in (left, right))
    return mine == other and _same_sizes(b, left.shape, right.shape)


def kind_of_list(b: TypedEmitter, value: ListValue) -> ItemKind:
    """Return the kind of a list's items."""
    return ItemKind(
        value.array.dtype, value.weak, value.other_kinds, value.array.shape[1:], value.levels[1:], value.fill
    )  # fmt: skip

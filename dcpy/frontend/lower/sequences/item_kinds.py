"""Item kinds: what the items of a list of run-time length are, and what holds those of several lists.

Tuples of numbers of one kind are rows of an array of that kind. Those of several kinds are packed (`packed_items`):
each place of the tuple has its own kind, and places of two lists meet one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import NONE, Kinds
from dcpy.frontend.abstract_values.list_values import Level, ListValue, NamedItems
from dcpy.frontend.abstract_values.number_kinds import instead_of
from dcpy.frontend.abstract_values.packed_items import PackedNumber, PackedPart, PackedTuple
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
)
from dcpy.frontend.lower.arithmetic import range_checks
from dcpy.frontend.lower.arithmetic.promotion import joined_number, mixed_kinds
from dcpy.frontend.lower.sequences import item_words
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.symbolic import Expr, as_expr
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

LONG_TUPLE = 64  # items, of tuples in lists that are arrays of their own


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
    def packed(self) -> PackedTuple | None:
        """Tuples of numbers of several kinds, which are the innermost items."""
        last = self.levels[-1] if self.levels else None
        return last if isinstance(last, PackedTuple) else None

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


def kind_of_item(b: TypedEmitter, value: Value) -> ItemKind:
    """Return the kind of a list with such items; refuse values that are no number, array or list of them."""
    if is_number(value):
        fill = value if isinstance(value, Static) else None
        if isinstance(value, Static) and type(value.value) is int and not range_checks.fits(value, types.int64):
            raise FrontendError(f"{value.value} does not fit into 64 bits", help="write it as a float")
        return ItemKind(dtype_of(value), is_weak(value), instead_of(value), fill=fill)
    match value:
        case ArrayValue(dtype=dtype, shape=shape) if shape:
            return ItemKind(dtype, shape=tuple(b.exact(size) for size in shape))
        case ArrayValue():
            return ItemKind(value.dtype)
        case ListValue(array=array):
            shape = tuple(b.exact(size) for size in array.shape)
            return ItemKind(array.dtype, value.weak, value.other_kinds, shape, value.levels, value.fill)
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


def _packed(kinds: Sequence[ItemKind], cls: type | None) -> ItemKind | None:
    """Return the kind of a tuple whose items are numbers of several kinds, or tuples of such; None for others."""
    first = replace(kinds[0], fill=None)
    if kinds[0].packed is None and all(replace(kind, fill=None) == first for kind in kinds):
        return None
    parts = [_part_of(kind) for kind in kinds]
    known = tuple(part for part in parts if part is not None)
    return _of_part(PackedTuple(known, cls)) if len(known) == len(parts) else None


def _of_part(part: PackedTuple) -> ItemKind:
    return ItemKind(types.int64, weak=True, shape=(as_expr(part.words),), levels=(part,))


def _part_of(kind: ItemKind) -> PackedPart | None:
    """Return a kind of items as part of packed ones: numbers, or tuples of numbers of known length."""
    if not kind.levels:
        return None if kind.shape else PackedNumber(kind.dtype, kind.weak, kind.other_kinds, kind.fill)
    level = kind.levels[0]
    if isinstance(level, PackedTuple):
        return level
    count = kind.shape[0].constant
    if level or count is None or count > LONG_TUPLE:
        return None
    inner = _part_of(replace(kind, shape=kind.shape[1:], levels=kind.levels[1:]))
    cls = level.cls if isinstance(level, NamedItems) else None
    return None if inner is None else PackedTuple((inner,) * count, cls)


def _joined_packed(b: TypedEmitter, kinds: Sequence[ItemKind]) -> ItemKind | None:
    """The kind of a list that holds tuples part by part; None where their parts are no numbers, or do not meet."""
    lists = [next((k for k, level in enumerate(kind.levels) if not level), None) for kind in kinds]
    depth = lists[0]
    if depth is None or any(other != depth for other in lists):
        return None
    first = kinds[0]
    if not all(_same_sizes(b, kind.shape[:depth], first.shape[:depth]) for kind in kinds):
        return None
    parts = [_part_of(replace(kind, shape=kind.shape[depth:], levels=kind.levels[depth:])) for kind in kinds]
    known = [part for part in parts if part is not None]
    part = item_words.joined_part(known) if len(known) == len(parts) else None
    if not isinstance(part, PackedTuple):
        return None
    inner = _of_part(part)
    return replace(inner, shape=first.shape[:depth] + inner.shape, levels=first.levels[:depth] + inner.levels)


def kind_of_rows(b: TypedEmitter, array: ArrayValue) -> ItemKind:
    """Return the kind of an array's items, as items of a list."""
    return ItemKind(array.dtype, shape=tuple(b.exact(size) for size in array.shape[1:]))


def joined_kind(b: TypedEmitter, kinds: Sequence[ItemKind], *, entering: int = 0, in_tuple: bool = False) -> ItemKind:
    """The kind of a list that holds items of all these kinds; refuses what would change a number's type in silence."""
    first = kinds[0]
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
    meeting = joined_number([kind.number for kind in kinds], entering=entering)
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
            f"a list holds {shown}, and which is where is known at run time only",
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

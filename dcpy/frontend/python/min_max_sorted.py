"""min``, ``max`` and ``sorted`` of a few numbers, or tuples of them, by their keys.

Items whose order is known are put in order now. Others go through a network of comparisons of neighbours, which keeps
equal ones as they are, as Python does; it needs no memory but registers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import all_of
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.number_kinds import types_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    RecordValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    as_integer,
    integer,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic import comparisons
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.operators import truth
from dcpy.frontend.lower.arithmetic.promotion import joined_number
from dcpy.frontend.lower.control import expression_branches
from dcpy.frontend.lower.lowering_signals import WillRaise, raised_by
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import item_kinds, item_words, list_types
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.ir.expressions.scalar import ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop, Region
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, max_of, min_of, sym

MISSING = Static(object())
NONE = Static(None)
FALSE = Static(False)
FEW = 32  # items that a network sorts: it grows with their square


@implements(min)
def min_(b: OpBuilder, *args: Value, default: Value = MISSING, key: Value = NONE) -> Value:
    """The smallest of several numbers or tuples of them, or of the items of something."""
    return _extremum(b, "min", args, default, key)


@implements(max)
def max_(b: OpBuilder, *args: Value, default: Value = MISSING, key: Value = NONE) -> Value:
    """The largest of several numbers or tuples of them, or of the items of something."""
    return _extremum(b, "max", args, default, key)


def _extremum(b: OpBuilder, name: str, args: Sequence[Value], default: Value, key: Value) -> Value:
    if len(args) == 1:
        only = args[0]
        if isinstance(only, ArrayValue) and only.rank == 1 and key == NONE:
            return _first_extremum(b, name, only)
        args = sequences.items(b, only)
    if not args:
        if default != MISSING:
            return default
        raise WillRaise("ValueError", f"{name}() arg is an empty sequence", by="Python")
    place = b.emit.place
    if place is not None and key == NONE and all(map(is_number, args)) and expression_branches.is_apart(place):
        return _apart(b, place, name, args[0], args[1:])
    if key == NONE:
        return _best(b, name, args, key)
    args = [sequences.stable(b, _written_out(item)) for item in args]
    if len(args) == 1 or not any(map(_has_text, args)):
        return _best(b, name, args, key)
    keys = [_keyed(b, key, item) for item in args]  # texts and the like: which of them is decided by numbers
    chosen = _place_of_best(b, name, keys)
    return args[chosen] if isinstance(chosen, int) else item_words.one_of(b, chosen, args)


def _written_out(item: Value) -> Value:
    """A known tuple as one with items of its own."""
    if not isinstance(item, Static) or type(item.value) is not tuple:
        return item
    return TupleValue(tuple(_written_out(Static(part)) for part in item.value))


def _place_of_best(b: OpBuilder, name: str, keys: Sequence[Value]) -> int | ScalarExpr:
    """The position of the first of the smallest, or largest, keys."""
    best: Value = Static(0)
    least = keys[0]
    for position, now in enumerate(keys[1:], 1):
        test = _less(b, name, now, least) if name == "min" else _less(b, name, least, now)
        best, least = _chosen(b, name, test, Static(position), best), _chosen(b, name, test, now, least)
    return best.value if isinstance(best, Static) else scalar_expr(best)


def _best(b: OpBuilder, name: str, args: Sequence[Value], key: Value) -> Value:
    """The smallest, or largest, of several items."""
    best, least = args[0], _keyed(b, key, args[0])
    for other in args[1:]:
        now = _keyed(b, key, other)
        if key == NONE and is_number(best) and is_number(other):
            best = least = _better(b, name, best, other)
            continue
        test = _less(b, name, now, least) if name == "min" else _less(b, name, least, now)
        best, least = _chosen(b, name, test, other, best), _chosen(b, name, test, now, least)
    return best


def _apart(
    b: OpBuilder, place: expression_branches.ExpressionPlace, name: str, best: Value, others: Sequence[Value]
) -> Value:  # fmt: skip
    """The extremum of numbers of several kinds, which is of one kind on each path."""
    if not others:
        return best
    other, rest = others[0], others[1:]
    test = truth(b, b.operator("<" if name == "min" else ">", other, best))
    if isinstance(test, bool):
        return _apart(b, place, name, other if test else best, rest)
    yes, no = (functools.partial(_apart, b, place, name, number, rest) for number in (other, best))
    return expression_branches.either(place, test, yes, no)


def _first_extremum(b: OpBuilder, name: str, x: ArrayValue) -> Value:
    """Python's ``min(array)``: item after item, so that NaN counts only in the first place."""
    if x.dtype.kind == "c":
        raise b.error(f"{name}() does not compare complex numbers", notes=("Python raises TypeError here",))
    b.emit.require(b.exact(x.shape[0]) - 1, "ValueError", f"{name}() arg is an empty sequence")
    out, best = b.scalar_container(x.dtype)
    target = Memlet(out.container, Subset())
    b.emit.tasklet([(target, x.load([ZERO]))])
    param = b.emit.parameter("k")
    body = Region()
    with b.emit.inside(body):
        item = x.load([sym(param)])
        better = op("lt" if name == "min" else "gt", item, best.expr)
        b.emit.tasklet([(target, op("select", better, item, best.expr))])
    b.emit.block(Loop(param, Range(ONE, x.shape[0]), body))
    return best


def _better(b: OpBuilder, name: str, best: Value, other: Value) -> Value:
    """Python keeps the first of equal ones, and its comparisons with NaN are false."""
    test = truth(b, b.operator("<" if name == "min" else ">", other, best))
    if isinstance(test, bool):
        return other if test else best
    left, right = as_integer(best), as_integer(other)
    if left is not None and right is not None and is_weak(best) and is_weak(other):
        found = (min_of if name == "min" else max_of)(left, right)
        return integer(b.emit.ranges.simplify(found))
    return b.hold(_chosen(b, name, test, other, best))


@implements(sorted)
def sorted_(b: OpBuilder, iterable: Value, *, key: Value = NONE, reverse: Value = FALSE) -> Value:
    """A sorted list; equal items stay as they are, also where the order is reversed."""
    items = [sequences.stable(b, _written_out(item)) for item in sequences.items(b, iterable)]
    keys = [_keyed(b, key, item) for item in items]
    backward = b.static(reverse, "reverse")
    if all(isinstance(known, Static) for known in keys):
        constants = [b.static(known) for known in keys]
        with raised_by("Python"):  # some of them may have no order
            order = sorted(range(len(items)), key=constants.__getitem__, reverse=backward)
        return TupleValue(tuple(items[position] for position in order), is_list=True)
    if len(items) > FEW:
        raise b.error(
            f"{len(items)} items of a list of known length are sorted by what is known at run time only",
            notes=(f"a list of known length has at most {FEW} such items; others are sorted as arrays",),
            help="sort an array of numbers, `np.sort(np.array(items))`, or positions, `np.argsort(keys)`",
        )
    by_place = key != NONE and any(map(_has_text, items))
    pairs: list[Pair] = list(zip(map(Static, range(len(items))) if by_place else items, keys, strict=True))
    if backward:
        pairs.reverse()
    for end in range(len(pairs) - 1, 0, -1):
        for place in range(end):
            pairs[place : place + 2] = _in_order(b, *pairs[place : place + 2], same=key == NONE)
    found = [item for item, _ in pairs]
    if backward:
        found.reverse()
    return _at_places(b, items, found) if by_place else TupleValue(tuple(found), is_list=True)


def _at_places(b: OpBuilder, items: Sequence[Value], places: Sequence[Value]) -> Value:
    """A list of the items at some places: an array, where one holds items of all their kinds."""
    given = TupleValue(tuple(items), is_list=True)
    try:
        kind = item_kinds.joined_kind(b, [item_kinds.kind_of_item(b, item) for item in items])
    except FrontendError:
        found = [items[place.value] if isinstance(place, Static) else item_words.one_of(b, scalar_expr(place), items)
                 for place in places]  # fmt: skip
        return replace(given, items=tuple(found))
    whole = list_types.as_array_list(b, given, kind)
    positions = list_types.as_array_list(b, TupleValue(tuple(places), is_list=True))
    taken = b.array(b.subscript(whole.array, [positions.array]))
    return replace(whole, array=replace(taken, fresh=False))


def _has_text(item: Value) -> bool:
    """Return whether a part of an item is nothing that an operation chooses: a text, or None."""
    if isinstance(item, TupleValue | RecordValue):
        return any(map(_has_text, item.items))
    return isinstance(item, Static) and not is_number(item)


Pair = tuple[Value, Value]  # an item and its key


def _in_order(b: OpBuilder, left: Pair, right: Pair, *, same: bool) -> list[Pair]:
    """Two neighbours, exchanged where the second comes first; `same`: items are their own keys."""
    test = _less(b, "sorted", right[1], left[1])
    found: list[Pair] = []
    for yes, no in ((right, left), (left, right)):
        item = _chosen(b, "sorted", test, yes[0], no[0])
        found.append((item, item if same else _chosen(b, "sorted", test, yes[1], no[1])))
    return found


def _keyed(b: OpBuilder, key: Value, item: Value) -> Value:
    return item if key == NONE else sequences.stable(b, b.call(key, item))


def _less(b: OpBuilder, name: str, left: Value, right: Value) -> bool | ScalarExpr:
    if ArrayValue in (type(left), type(right)):
        raise b.error(
            f"{name}() compares numbers, not {kind_of(left)} and {kind_of(right)}",
            help="use np.minimum, np.maximum or np.sort for arrays, or give a key: `key=lambda v: v.sum()`",
        )
    test = truth(b, comparisons.compare(b, "<", left, right))
    return test if isinstance(test, bool) else scalar_expr(b.hold(Scalar(test, weak=True)))


def _chosen(b: OpBuilder, name: str, test: bool | ScalarExpr, yes: Value, no: Value) -> Value:
    """One of two items, by a test."""
    if isinstance(test, bool):
        return yes if test else no
    if isinstance(yes, TupleValue | RecordValue) and type(yes) is type(no) and _alike(yes, no):
        assert isinstance(no, TupleValue | RecordValue)
        parts = zip(yes.items, no.items, strict=True)
        return replace(yes, items=tuple(_chosen(b, name, test, mine, other) for mine, other in parts))
    if yes == no and not isinstance(yes, TupleValue | ListValue):
        return yes
    meeting = joined_number((yes, no)) if is_number(yes) and is_number(no) else None
    if meeting is None:
        lists = isinstance(yes, TupleValue) and yes.is_list
        sorts = "convert all to one type, `float(n)`, or sort the places in an array: `key=lambda i: v[i]`"
        converts = "convert both to one type, or use np.minimum and np.maximum"
        error = b.error(
            f"{name}() gives {kind_of(no)} or {kind_of(yes)}, depending on their values",
            notes=("their order is known at run time only",),
            help="use tuples, `(a, b)`, instead of lists" if lists else sorts if name == "sorted" else converts,
        )
        place = b.emit.place if is_number(yes) and is_number(no) and name != "sorted" else None
        raise b.by_path(None if place is None else expression_branches.key_of(place), error)
    sides = (convert(scalar_expr(value), meeting.dtype) for value in (yes, no))
    others, place = meeting.other_kinds, b.emit.place
    if name != "sorted" and place is not None and types_of(yes) != types_of(no):
        others = all_of([others], expression_branches.key_of(place), tells=not place[0].is_in_loop)
    return b.hold(Scalar(op("select", test, *sides), meeting.weak, others))


def _alike(left: TupleValue | RecordValue, right: TupleValue | RecordValue) -> bool:
    """Return whether one can be chosen part by part: lists that may change, and are seen elsewhere, cannot."""
    same = left.cls is right.cls and len(left.items) == len(right.items)
    seen = [value for value in (left, right) if isinstance(value, TupleValue) and value.is_list and value.token]
    kinds = [isinstance(value, TupleValue) and value.is_list for value in (left, right)]
    return same and not seen and kinds[0] == kinds[1]



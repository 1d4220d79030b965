"""``np.pad``: more elements around an array, constants or its own by a rule.

Rules that only read other elements fill bands of the result; those that compute pad one axis after the other, as NumPy
does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value, integer, is_number
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.array_sizes import require_addressable
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_manipulation.shapes import band
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.ir.symbolic import ZERO, Expr, max_of, min_of, sym

CONSTANT = Static("constant")
EVEN = Static("even")

SourceIndex = Callable[[Expr, Expr], Expr]  # a position counted from the first element, and the size: where to read


def _reflect(position: Expr, size: Expr) -> Expr:
    period = max_of(size * 2 - 2, 1)
    place = position % period
    return min_of(place, period - place)


def _symmetric(position: Expr, size: Expr) -> Expr:
    place = position % (size * 2)
    return min_of(place, size * 2 - 1 - place)


PLACES: dict[str, SourceIndex] = {
    "edge": lambda position, size: min_of(max_of(position, 0), size - 1),
    "wrap": lambda position, size: position % size,
    "reflect": _reflect,
    "symmetric": _symmetric,
}

#: the keyword of each mode that computes, and its default
_KEYWORDS: dict[str, tuple[str, Value]] = {
    "constant": ("constant_values", NUMBER_0),
    "linear_ramp": ("end_values", NUMBER_0),
    "maximum": ("stat_length", NONE),
    "minimum": ("stat_length", NONE),
    "mean": ("stat_length", NONE),
    "median": ("stat_length", NONE),
    "reflect": ("reflect_type", EVEN),
    "symmetric": ("reflect_type", EVEN),
}


@implements(np.pad)
def pad(b: OpBuilder, array: Value, pad_width: Value, mode: Value = CONSTANT, **kwargs: Value) -> Value:
    """The array with more elements around it: a constant, or its own by a rule."""
    x = b.array(array)
    widths = _widths(b, pad_width, x.rank)
    shape = [b.exact(size) + before + after for size, (before, after) in zip(x.shape, widths, strict=True)]
    require_addressable(b, shape, x.dtype)
    rule = b.static(mode, "mode")
    extra = _extra(b, rule, kwargs)
    if rule == "empty" or (rule == "constant" and is_number(extra)):
        return _inside(b, x, widths, shape, None if rule == "empty" else extra)
    if rule in PLACES and extra in (EVEN, NONE):
        return _padded(b, x, widths, shape, PLACES[rule])
    return _computed(b, x, widths, rule, extra)


def _extra(b: OpBuilder, rule: Any, kwargs: Mapping[str, Value]) -> Value:
    """The one keyword that a mode has."""
    if rule not in (*_KEYWORDS, *PLACES, "empty"):
        raise b.error(f"np.pad does not take the mode {rule!r}", help="use one of NumPy's modes, by its name")
    name, default = _KEYWORDS.get(rule, ("", NONE))
    unknown = [keyword for keyword in kwargs if keyword != name]
    if unknown:
        raise b.error(f"unsupported keyword arguments for mode {rule!r}: {', '.join(unknown)}")
    return kwargs.get(name, default)


def _widths(b: OpBuilder, value: Value, rank: int) -> list[tuple[Expr, Expr]]:
    """Elements before and after each dimension."""
    found = [b.shape_argument(TupleValue(pair)) for pair in _pairs(b, value, rank, "pad_width")]
    return [(pair[0], pair[1]) for pair in found]


def _pairs(b: OpBuilder, value: Value, rank: int, name: str) -> list[tuple[Value, Value]]:
    """Return the values before and after each dimension: of one value, a pair, or a pair per dimension."""
    parts = items_of(value)
    if parts is None:
        return [(value, value)] * rank
    if all(items_of(part) is None for part in parts):
        return [(parts[0], parts[-1])] * rank
    pairs = [items_of(part) or () for part in parts]
    if len(pairs) not in (1, rank) or any(len(pair) not in (1, 2) for pair in pairs):
        raise b.error(f"{name} does not fit an array of {rank} dimensions", notes=("NumPy raises ValueError here",))
    return [(pair[0], pair[-1]) for pair in (pairs * rank if len(pairs) == 1 else pairs)]


def _inside(
    b: OpBuilder, x: ArrayValue, widths: Sequence[tuple[Expr, Expr]], shape: Sequence[Expr], fill: Value | None
) -> ArrayValue:
    """The array in the middle of a new one."""
    order = memory_order.order_as_packed(b, x)
    if fill is None:
        out = b.empty(shape, x.dtype, order=order)
    else:
        out = b.full(shape, x.dtype, b.cast(fill, x.dtype), order=order)
    b.store(_middle(b, out, x, widths), x)
    return out


def _middle(b: OpBuilder, out: ArrayValue, x: ArrayValue, widths: Sequence[tuple[Expr, Expr]]) -> ArrayValue:
    """The part of the result that is the array."""
    for axis, (before, _) in enumerate(widths):
        out = band(out, axis, before, b.exact(x.shape[axis]))
    return out


def _padded(
    b: OpBuilder, x: ArrayValue, widths: Sequence[tuple[Expr, Expr]], shape: Sequence[Expr], place: SourceIndex
) -> ArrayValue:
    """The array in the middle, and bands around it: only these, which are few, choose places by the rule."""
    out = b.empty(shape, x.dtype, order=memory_order.order_as_packed(b, x))
    sizes = [b.exact(size) for size in x.shape]
    padded = [axis for axis, (before, after) in enumerate(widths) if not (before is ZERO and after is ZERO)]
    for axis in padded:
        _require_elements(b, axis, sizes[axis])
    befores = [before for before, _ in widths]
    b.store(_middle(b, out, x, widths), x)
    for axis in padded:
        before, after = widths[axis]
        rows = out  # whole along the axes that are done, in the middle of those to come
        for other in padded[padded.index(axis) + 1 :]:
            rows = band(rows, other, befores[other], sizes[other])
        offsets = {other: -befores[other] for other in padded if other < axis}
        for start, width in ((ZERO, before), (before + sizes[axis], after)):
            if width is not ZERO:
                side = band(rows, axis, start, width)
                _fill_band(b, side, x, offsets | {axis: start - before}, place)
    return out


def _fill_band(
    b: OpBuilder, out: ArrayValue, x: ArrayValue, offsets: Mapping[int, Expr], place: SourceIndex
) -> None:
    """Fill a part of the result; `offsets`: where it starts in the array, along axes that a rule is for."""
    params, domain = elementwise.domain(b, [b.exact(size) for size in out.shape])
    places = [
        place(sym(name) + offsets[axis], b.exact(x.shape[axis])) if axis in offsets else sym(name)
        for axis, name in enumerate(params)
    ]
    elementwise.fill(b, out, params, domain, x.load(places))


def _require_elements(b: OpBuilder, axis: int, size: Expr) -> None:
    message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    b.emit.require(size - 1, "ValueError", message)


# -- modes that compute ----------------------------------------------------------------------------------------------


def _computed(b: OpBuilder, x: ArrayValue, widths: Sequence[tuple[Expr, Expr]], rule: str, extra: Value) -> Value:
    """One axis after the other; each sees what was put around the axes before."""
    pairs = _pairs(b, extra, x.rank, _KEYWORDS[rule][0])
    found: Value = x
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, pairs, strict=True)):
        if before is ZERO and after is ZERO:
            continue
        if rule != "constant":
            _require_elements(b, axis, b.exact(x.shape[axis]))
        sides = (integer(before), integer(after))
        found = call_body(b, _padded_along, found, Static(axis), *sides, Static(rule), low, high)
    return b.copy(x) if found is x else found


def _padded_along(x: Any, axis: int, before: int, after: int, rule: str, low: Any, high: Any) -> Any:
    rows = np.moveaxis(x, axis, 0)
    n = len(rows)
    result = np.empty((before + n + after, *rows.shape[1:]), x.dtype)
    result[before : before + n] = rows
    left, right = result[:before], result[before + n :]
    if rule == "constant":
        left[...] = np.asarray(low).astype(x.dtype)
        right[...] = np.asarray(high).astype(x.dtype)
    elif rule == "linear_ramp":
        for k in range(before):
            left[k] = _ramp(low, rows[0], k, before)
        for k in range(after):
            right[after - 1 - k] = _ramp(high, rows[-1], k, after)
    elif rule == "reflect" or rule == "symmetric":
        for k in range(before):
            left[k] = _oddly(rows, k - before, rule)
        for k in range(after):
            right[k] = _oddly(rows, n + k, rule)
    else:
        left[...] = _statistic(rows[: n if low is None else min(low, n)], rule)
        right[...] = _statistic(rows[n - (n if high is None else min(high, n)) :], rule)
    return np.moveaxis(result, 0, axis)


def _ramp(end: Any, edge: Any, k: int, count: int) -> Any:
    """A step on the way from `end` to the edge; integers are rounded down."""
    value = (edge - np.float64(end)) / count * k + end
    return np.floor(value) if edge.dtype.kind in "iu" else value


def _statistic(rows: Any, rule: str) -> Any:
    if rule == "maximum":
        return np.max(rows, axis=0)
    if rule == "minimum":
        return np.min(rows, axis=0)
    found = np.mean(rows, axis=0) if rule == "mean" else np.median(rows, axis=0)
    return np.rint(found) if rows.dtype.kind in "iu" else found


def _oddly(rows: Any, position: int, rule: str) -> Any:
    """The array turned over at its ends: what lies behind an end mirrors what lies before it, at a point."""
    n = len(rows)
    period = n if rule == "symmetric" else max(n - 1, 1)
    times, rest = position // period, position % period
    if n == 1 and rule == "reflect":
        return rows[0] + 0
    if times % 2 == 0:
        return rows[rest] + times * (rows[-1] - rows[0])
    return (times + 1) * rows[-1] - (times - 1) * rows[0] - rows[n - 1 - rest]

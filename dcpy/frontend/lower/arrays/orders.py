"""Memory order of new arrays: NumPy's "K", the order of the operands' axes as far as they agree on one.

Which of two axes of an operand lies farther apart in memory is known before the program runs: of arrays without gaps
by the order of their axes, of strided arguments by the type of the argument, of views by what they show. Axes whose
strides cannot be compared stay in C order, as those of operands that disagree do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.arithmetic.broadcasting import may_be_one
from dcpy.frontend.values import ArrayValue, Value
from dcpy.ir.data import Array, View, packed_axes, packed_strides, strides_of
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

Axes = tuple[int, ...]  #: from the slowest to the fastest


def order_of_ufunc(b: TypedEmitter, operands: Sequence[Value], rank: int, *, in_c_order: int = 0) -> Axes:
    """The axes of what is computed element by element from operands, which broadcast to that rank.

    As in NumPy's iterator: of two axes, the one with the longer strides is outside, if all operands say so. An axis
    that an operand does not have, or repeats, says nothing. An operand in C order has the last `in_c_order` axes.
    """
    arrays = [value for value in operands if isinstance(value, ArrayValue) and value.rank > 1]
    if all(_is_plainly_in_order(b, value) for value in arrays):
        return tuple(range(rank))
    known = [_Steps(b, value) for value in arrays]
    if all(steps.is_in_order for steps in known):
        return tuple(range(rank))

    def is_longer(one: int, other: int) -> bool | None:
        if min(one, other) >= rank - in_c_order:
            return False
        found = None
        for steps in known:
            missing = rank - steps.value.rank
            if min(one, other) < missing:
                continue
            left, right = one - missing, other - missing
            if not (steps.says(left) and steps.says(right)):
                continue
            longer = steps.compare(left, right)
            if longer is None or longer <= 0:
                return False
            found = True
        return found

    return _sorted(rank, is_longer)


def order_of_copy(b: TypedEmitter, value: ArrayValue) -> Axes:
    """The axes of a copy, and of an array like another one: by the length of their strides, of which 0 is shortest."""
    steps = _Steps(b, value)
    if value.rank < 2 or steps.is_in_order:
        return tuple(range(value.rank))
    return _sorted(value.rank, lambda one, other: (steps.compare(one, other) or 0) > 0)


def asked_order(b: TypedEmitter, value: ArrayValue, order: str | None) -> Axes:
    """The axes of a copy, or of an array like another one, for NumPy's ``order``: C, F, A or K."""
    if order == "F" or (order == "A" and lies_backwards(b, value)):
        return tuple(range(value.rank))[::-1]
    return order_of_copy(b, value) if order in ("K", None) else tuple(range(value.rank))


def order_as_packed(b: TypedEmitter, value: ArrayValue) -> Axes:
    """Fortran order where an array is known to lie so, else C order."""
    try:
        return asked_order(b, value, "A")
    except FrontendError:
        return tuple(range(value.rank))


def order_of_elements(b: TypedEmitter, value: ArrayValue, order: str | None) -> Axes:
    """The axes in the order in which elements are read one after the other: C, F, A or K.

    `FrontendError` where the order of the elements in memory is asked for, and not known.
    """
    if order != "K" or value.rank < 2:
        return asked_order(b, value, order or "C")
    if known_order(b, value) is None:
        raise unknown(b, "K")
    return order_of_ufunc(b, [value], value.rank)


def unknown(b: TypedEmitter, order: str) -> FrontendError:
    """What is raised where an array is to be read in the order that it has in memory, and that is not known."""
    return b.error(f"the order of this array in memory is not known: {order!r}", help="name the order: 'C' or 'F'")


def order_of_joined(b: TypedEmitter, arrays: Sequence[ArrayValue]) -> Axes:
    """The axes of arrays that are joined: as of a copy, where all with several elements along both axes agree.

    An axis moves outwards past those with shorter strides: where one is between that says nothing, past that as well.
    """
    known = [_Steps(b, value) for value in arrays]
    found = list(range(arrays[0].rank))
    if all(steps.is_in_order for steps in known):
        return tuple(found)
    for start in range(1, len(found)):
        place = start
        for outer in reversed(range(start)):
            pair = found[start], found[outer]
            longer = [s.compare(*pair) for s in known if all(s.value.shape[axis] is not ONE for axis in pair)]
            if longer and not all(one is not None and one > 0 for one in longer):
                break
            place = outer if longer else place
        found.insert(place, found.pop(start))
    return tuple(found)


def order_of_reduction(b: TypedEmitter, value: ArrayValue, over: Sequence[int]) -> Axes:
    """The axes of what is left of an array: in the order that they have in it."""
    kept = [axis for axis in range(value.rank) if axis not in over]
    return tuple(kept.index(axis) for axis in order_of_ufunc(b, [value], value.rank) if axis in kept)


def order_of_gathered(b: TypedEmitter, base: ArrayValue, axes: Sequence[int], first: int, rank: int) -> Axes:
    """The axes of what index arrays of a common `rank` select along `axes`: theirs, at `first`, are outside."""
    found = range(first, first + rank)
    kept = [axis for axis in order_of_copy(b, base) if axis not in axes]
    places = {axis: k if k < first else k + rank for k, axis in enumerate(sorted(kept))}
    return (*found, *(places[axis] for axis in kept))


def lie_as_made(b: TypedEmitter, value: Value, axes: Sequence[int], operands: Sequence[ArrayValue]) -> None:
    """The same, if the array was made just now: it is not in the memory of an operand, or of an argument."""
    if not isinstance(value, ArrayValue) or value.rank < 2 or len(axes) != value.rank:
        return
    root = b.root(value.container)
    made = b.desc(root).transient and all(b.root(operand.container) != root for operand in operands)
    if made and order_of_copy(b, value) != tuple(axes):
        lie_as(b, value, axes)


def lie_as(b: TypedEmitter, value: ArrayValue, axes: Sequence[int]) -> None:
    """Says that a new array lies in this order of its axes in NumPy, whatever its order is here."""
    desc = b.desc(value)
    shown = [value.axes[axis] for axis in axes if value.axes[axis] >= 0]
    found = (*shown, *(axis for axis in range(len(desc.shape)) if axis not in shown))
    container, known = value.container, b.emit.orders.get(value.container)
    if desc.axes != found if isinstance(desc, Array) else True:
        b.emit.orders[container] = found
    elif known is not None:
        del b.emit.orders[container]
    b.emit.on_undo(lambda: _put_back(b, container, known))


def _put_back(b: TypedEmitter, container: str, known: Axes | None) -> None:
    b.emit.orders.pop(container, None)
    if known is not None:
        b.emit.orders[container] = known


def known_order(b: TypedEmitter, value: ArrayValue) -> Axes | None:
    """The axes of an array from the longest stride to the shortest; None where that is not known."""
    steps = _Steps(b, value)
    axes = [axis for axis in range(value.rank) if value.shape[axis] is not ONE]
    pairs = ((one, other) for one in axes for other in axes if one < other)
    return order_of_copy(b, value) if all(steps.compare(*pair) is not None for pair in pairs) else None


def order_of_result(b: TypedEmitter, values: Sequence[ArrayValue]) -> Axes:
    """The axes of a result that is copied: those of the arrays of all returns, where these agree on one order."""
    found = [order_of_copy(b, value) for value in values]
    return found[0] if all(axes == found[0] for axes in found) else tuple(range(values[0].rank))


def axes_of_result(b: TypedEmitter, container: str) -> Axes | None:
    """The axes of a new array in NumPy's order, in which it can be made; None where a view tells its strides."""
    desc, axes = b.emit.descs[container], b.emit.orders.get(container)
    if axes is None:
        return desc.axes if isinstance(desc, Array) else None
    shown = any(isinstance(other, View) and other.of == container for other in b.emit.descs.values())
    return None if shown else axes


def strides_in_numpy(b: TypedEmitter, value: ArrayValue) -> tuple[Expr, ...] | None:
    """The strides, in elements, that an array has in NumPy; None of a part of one that lies otherwise here."""
    desc = b.desc(value)
    if value.container not in b.emit.orders or not desc.transient:
        return strides_of(value.as_view(desc))
    if not value.is_all_of(desc) and sorted(value.axes) != list(range(len(desc.shape))):
        return None
    return packed_strides([b.exact(size) for size in value.shape], order_of_copy(b, value))


def is_packed_in(b: TypedEmitter, value: ArrayValue, axes: Sequence[int]) -> bool:
    """Whether the elements are known to lie without gaps in this order of the axes."""
    return b.contiguous(value.transposed(axes))


def lies_backwards(b: TypedEmitter, value: ArrayValue) -> bool:
    """Whether the elements lie without gaps in Fortran order, and not in C order; `FrontendError` where not known."""
    if value.container in b.emit.orders:
        return _is_whole_in_fortran_order(b, value)
    if value.rank < 2 or b.contiguous(value):
        return False
    backwards = value.transposed(range(value.rank)[::-1])
    if b.contiguous(backwards):
        return True
    if has_gaps(b, backwards) or _lies_otherwise(b, value):
        return False
    raise unknown(b, "A")


def _is_whole_in_fortran_order(b: TypedEmitter, value: ArrayValue) -> bool:
    """The same of an array whose order its descriptor does not tell: an argument with strides, or a new array."""
    if not value.is_all_of(b.desc(value)):
        raise unknown(b, "A")
    axes = [axis for axis in order_of_copy(b, value) if value.shape[axis] is not ONE]
    is_argument = not b.desc(b.root(value.container)).transient
    return not is_argument and len(axes) > 1 and axes == sorted(axes, reverse=True)


def _lies_otherwise(b: TypedEmitter, value: ArrayValue) -> bool:
    """Whether the elements lie without gaps, in another order of the axes than Fortran's, whatever the sizes are."""
    axes = [axis for axis in order_of_copy(b, value) if value.shape[axis] is not ONE]
    certain = not any(may_be_one(b, value.shape[axis]) for axis in axes)
    return certain and axes != sorted(axes, reverse=True) and is_packed_in(b, value, order_of_copy(b, value))


def has_gaps(b: TypedEmitter, x: ArrayValue) -> bool:
    """Whether the elements do not lie in C order without gaps, whatever the sizes are (if there are elements)."""
    seen = x.as_view(b.desc(x))
    for size, stride, want in zip(seen.shape, strides_of(seen), packed_strides(x.shape), strict=True):
        differs = not may_be_one(b, stride) if want is ONE else b.emit.ranges.proves_ne(stride, want)
        if differs and not may_be_one(b, size):
            return True
    return False


def _sorted(rank: int, is_longer: Callable[[int, int], bool | None]) -> Axes:
    """Axes by stable insertion, as NumPy sorts them: each moves inwards past those with longer strides.

    `is_longer`: whether the strides of the first axis are longer than those of the second; None where nothing says so.
    """
    found = list(range(rank))[::-1]  # the innermost one first
    for start in range(1, rank):
        place = start
        for inner in reversed(range(start)):
            longer = is_longer(found[inner], found[start])
            if longer is not None and not longer:
                break
            place = place if longer is None else inner
        found.insert(place, found.pop(start))
    return tuple(reversed(found))


def _is_plainly_in_order(b: TypedEmitter, value: ArrayValue) -> bool:
    """Whether it is a part, with its axes in their order, of an array in C order: most are, and it is quickly seen."""
    desc = b.emit.descs[value.container]
    if not isinstance(desc, Array) or value.container in b.emit.orders:
        return False
    in_order = all(axis >= 0 for axis in value.axes) and list(value.axes) == sorted(value.axes)
    return in_order and desc.axes == tuple(range(len(desc.shape)))


class _Steps:
    """The strides of an array, as far as they can be compared before the program runs."""

    def __init__(self, b: TypedEmitter, value: ArrayValue) -> None:
        self.b, self.value = b, value
        self.is_in_order = b.contiguous(value) and value.container not in b.emit.orders
        self.strides = strides_of(value.as_view(b.desc(value)))
        self.lies_otherwise = value.container in b.emit.orders and b.desc(value).transient
        places = _places(b, value.container)
        self.places = [places[axis] if axis >= 0 else None for axis in value.axes]

    def says(self, axis: int) -> bool:
        """Whether the stride of an axis counts: there is more than one element along it, and they differ."""
        return self.value.shape[axis] is not ONE and self.strides[axis] is not ZERO

    def compare(self, one: int, other: int) -> int | None:
        """1 where the stride of the first axis is longer, -1 where it is shorter, 0 where both are alike."""
        left, right = self.strides[one], self.strides[other]
        if (left is right or left is -right) and not self.lies_otherwise:
            return 0
        if left is ZERO or right is ZERO:
            return -1 if left is ZERO else 1
        mine, theirs = self.places[one], self.places[other]
        if mine is not None and theirs is not None and mine != theirs:
            return 1 if mine > theirs else -1
        return self._by_length(left, right)

    def _by_length(self, left: Expr, right: Expr) -> int | None:
        if left.constant is not None and right.constant is not None:
            return 1 if abs(left.constant) > abs(right.constant) else -1
        left, right = _without_sign(left), _without_sign(right)
        if self._is_longer(left, right):
            return 1
        return -1 if self._is_longer(right, left) else None

    def _is_longer(self, left: Expr, right: Expr) -> bool:
        """Whether a stride is longer for sure, where sizes of arguments are at least 1: else there are no elements."""
        emit = self.b.emit
        if all(name in emit.sdfg.sizes for name in (*left.symbols, *right.symbols)):
            rest = (left - right - 1).subs({name: sym(name) + 1 for name in (*left.symbols, *right.symbols)})
            return all(factor >= 0 for _, factor in rest.terms)
        return emit.ranges.proves_le(right + 1, left)


def _without_sign(stride: Expr) -> Expr:
    return -stride if stride.terms and all(factor < 0 for _, factor in stride.terms) else stride


def _places(b: TypedEmitter, container: str) -> list[int | None]:
    """For each axis of a container how far out it is in memory, where that is known; others cannot be compared."""
    desc = b.emit.descs[container]
    if isinstance(desc, Array) or container in b.emit.orders:
        axes = desc.axes if isinstance(desc, Array) else None
        return _from_the_fastest(len(desc.shape), b.emit.orders.get(container, axes))
    if isinstance(desc, View) and desc.window is not None:
        outer = _places(b, desc.of)
        return [outer[axis] if axis >= 0 else None for axis in desc.axes]
    axes = packed_axes(desc.shape, strides_of(desc))
    return _from_the_fastest(len(desc.shape), axes)


def _from_the_fastest(rank: int, axes: Axes | None) -> list[int | None]:
    found: list[int | None] = [None] * rank
    for place, axis in enumerate(reversed(axes or ())):
        found[axis] = place
    return found

"""Memory order of new arrays: NumPy's "K", the order of the operands' axes as far as they agree on one.

Which of two axes of an operand lies farther apart in memory is known before the program runs: of arrays without gaps
by the order of their axes, of strided arguments by the type of the argument, of views by what they show. Axes whose
strides cannot be compared stay in C order, as those of operands that disagree do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.lower.arithmetic.broadcasting import may_be_one
from dcpy.frontend.values import ArrayValue, Value
from dcpy.ir.data import Array, View, packed_axes, packed_strides, strides_of
from dcpy.ir.symbolic import ONE, ZERO, Expr

if TYPE_CHECKING:
    from dcpy.base.errors import FrontendError
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

Axes = tuple[int, ...]  #: from the slowest to the fastest


def order_of_ufunc(b: TypedEmitter, operands: Sequence[Value], rank: int) -> Axes:
    """The axes of what is computed element by element from operands, which broadcast to that rank.

    As in NumPy's iterator: of two axes, the one with the longer strides is outside, if all operands say so. An axis
    that an operand does not have, or repeats, says nothing.
    """
    known = [_Steps(b, value) for value in operands if isinstance(value, ArrayValue) and value.rank > 1]
    if all(steps.is_in_order for steps in known):
        return tuple(range(rank))

    def is_longer(one: int, other: int) -> bool | None:
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


def known_order(b: TypedEmitter, value: ArrayValue) -> Axes | None:
    """The axes of an array from the longest stride to the shortest; None where that is not known."""
    steps = _Steps(b, value)
    axes = [axis for axis in range(value.rank) if value.shape[axis] is not ONE]
    pairs = ((one, other) for one in axes for other in axes if one < other)
    return order_of_copy(b, value) if all(steps.compare(*pair) is not None for pair in pairs) else None


def is_packed_in(b: TypedEmitter, value: ArrayValue, axes: Sequence[int]) -> bool:
    """Whether the elements are known to lie without gaps in this order of the axes."""
    return b.contiguous(value.transposed(axes))


def lies_backwards(b: TypedEmitter, value: ArrayValue) -> bool:
    """Whether the elements lie without gaps in Fortran order, and not in C order; `FrontendError` where not known."""
    if value.rank < 2 or b.contiguous(value):
        return False
    backwards = value.transposed(range(value.rank)[::-1])
    if b.contiguous(backwards):
        return True
    is_strided_argument = value.container in b.emit.axes_of_arguments and value.is_all_of(b.desc(value))
    if is_strided_argument or has_gaps(b, backwards) or _lies_otherwise(b, value):
        return False
    raise unknown(b, "A")


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


class _Steps:
    """The strides of an array, as far as they can be compared before the program runs."""

    def __init__(self, b: TypedEmitter, value: ArrayValue) -> None:
        self.b, self.value = b, value
        self.is_in_order = b.contiguous(value)
        self.strides = strides_of(value.as_view(b.desc(value)))
        places = _places(b, value.container)
        self.places = [places[axis] if axis >= 0 else None for axis in value.axes]

    def says(self, axis: int) -> bool:
        """Whether the stride of an axis counts: there is more than one element along it, and they differ."""
        return self.value.shape[axis] is not ONE and self.strides[axis] is not ZERO

    def compare(self, one: int, other: int) -> int | None:
        """1 where the stride of the first axis is longer, -1 where it is shorter, 0 where both are alike."""
        left, right = self.strides[one], self.strides[other]
        if left is right or left is -right:
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
        if self.b.emit.ranges.proves_le(right + 1, left):
            return 1
        return -1 if self.b.emit.ranges.proves_le(left + 1, right) else None


def _without_sign(stride: Expr) -> Expr:
    return -stride if stride.terms and all(factor < 0 for _, factor in stride.terms) else stride


def _places(b: TypedEmitter, container: str) -> list[int | None]:
    """For each axis of a container how far out it is in memory, where that is known; others cannot be compared."""
    desc = b.emit.descs[container]
    if isinstance(desc, Array):
        return _from_the_fastest(len(desc.shape), b.emit.axes_of_arguments.get(container, desc.axes))
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

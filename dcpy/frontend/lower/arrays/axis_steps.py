"""Axis steps: the strides of an array in NumPy's memory, compared before the program runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.guessed_axes import GuessedAxes
from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.ir.data import Array, View, packed_axes, strides_of
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


class AxisSteps:
    """The strides of an array, as far as they can be compared before the program runs."""

    def __init__(self, b: TypedEmitter, value: ArrayValue) -> None:
        self.b, self.value = b, value
        self.is_guessed = is_guessed(b, value.container)
        self.is_in_order = b.contiguous(value) and not self.is_guessed and value.container not in b.emit.axis_orders
        self.strides = strides_of(value.as_view(b.desc(value)))
        self.lies_otherwise = value.container in b.emit.axis_orders and b.desc(value).transient
        places = _places(b, value.container)
        self.places = [places[axis] if axis >= 0 else None for axis in value.axes]

    def has_several(self, axis: int) -> bool:
        """Return whether there may be more than one element along an axis."""
        return self.value.shape[axis] is not ONE

    def says(self, axis: int) -> bool:
        """Return whether the stride of an axis counts: there is more than one element along it, and they differ."""
        return self.has_several(axis) and self.strides[axis] is not ZERO

    def compare(self, one: int, other: int) -> int | None:
        """1 where the stride of the first axis is longer, -1 where it is shorter, 0 where both are alike; None where
        that is not known.
        """
        left, right = self.strides[one], self.strides[other]
        if left is ZERO or right is ZERO:
            return 0 if left is right else -1 if left is ZERO else 1
        if self.is_guessed:
            return None
        if (left is right or left is -right) and not self.lies_otherwise:
            return 0
        mine, theirs = self.places[one], self.places[other]
        if mine is not None and theirs is not None and mine != theirs:
            return 1 if mine > theirs else -1
        several = {name for axis in (one, other) if (name := self.value.shape[axis].name) is not None}
        return self._by_length(left, right, several)

    def _by_length(self, left: Expr, right: Expr, several: Collection[str]) -> int | None:
        if left.constant is not None and right.constant is not None:
            return 1 if abs(left.constant) > abs(right.constant) else -1
        left, right = _without_sign(left), _without_sign(right)
        if self._is_longer(left, right, several):
            return 1
        return -1 if self._is_longer(right, left, several) else None

    def _is_longer(self, left: Expr, right: Expr, several: Collection[str]) -> bool:
        """Return whether a stride is longer for sure, where sizes of arguments are at least 1: else there are no
        elements. The sizes `several` are at least 2: else the order of both axes does not matter.
        """
        emit = self.b.emit
        names = {*left.symbols, *right.symbols}
        if all(name in emit.sdfg.sizes for name in names):
            rest = (left - right - 1).subs({name: sym(name) + (2 if name in several else 1) for name in names})
            return all(factor >= 0 for _, factor in rest.terms)
        return emit.ranges.proves_le(right + 1, left)


def is_guessed(b: TypedEmitter, container: str) -> bool:
    """Return whether NumPy's order of an array, or of what a view shows, is known at run time only."""
    desc = b.emit.descs[container]
    guessed = isinstance(b.emit.axis_orders.get(container), GuessedAxes)
    return guessed or (isinstance(desc, View) and is_guessed(b, desc.of))


def _without_sign(stride: Expr) -> Expr:
    return -stride if stride.terms and all(factor < 0 for _, factor in stride.terms) else stride


def _places(b: TypedEmitter, container: str) -> list[int | None]:
    """The position of each axis of a container in memory, where that is known; others cannot be compared."""
    desc = b.emit.descs[container]
    if isinstance(desc, Array) or container in b.emit.axis_orders:
        axes = desc.axes if isinstance(desc, Array) else None
        return _from_the_fastest(len(desc.shape), b.emit.axis_orders.get(container, axes))
    if isinstance(desc, View) and desc.window is not None:
        outer = _places(b, desc.of)
        return [outer[axis] if axis >= 0 else None for axis in desc.axes]
    axes = packed_axes(desc.shape, strides_of(desc)) or packed_axes(desc.shape, _without_gaps(strides_of(desc)))
    if axes is None and isinstance(desc, View):
        return _of_sums(b, desc)
    return _from_the_fastest(len(desc.shape), axes)


def _of_sums(b: TypedEmitter, view: View) -> list[int | None]:
    """The places of a diagonal's axes: a sum of strides lies as far out as the longest one of them, whatever the signs
    and the steps are.
    """
    places: dict[object, int | None] = {}
    for stride, place in zip(strides_of(b.emit.descs[view.of]), _places(b, view.of), strict=True):
        for monomial, _ in stride.terms:
            places[monomial] = place if len(stride.terms) == 1 and monomial not in places else None
    found = [[places.get(monomial) for monomial, _ in stride.terms] for stride in strides_of(view)]
    return [None if not parts or None in parts else max(filter(None, parts), default=0) for parts in found]


def _without_gaps(strides: Sequence[Expr]) -> tuple[Expr, ...]:
    """Strides, divided by what divides all of them: those of real parts of complex numbers are multiples of 2."""
    gap = math.gcd(*(factor for stride in strides for _, factor in stride.terms)) or 1
    return tuple(Expr(tuple((monomial, factor // gap) for monomial, factor in stride.terms)) for stride in strides)


def _from_the_fastest(rank: int, axes: tuple[int, ...] | None) -> list[int | None]:
    found: list[int | None] = [None] * rank
    for place, axis in enumerate(reversed(axes or ())):
        found[axis] = place
    return found

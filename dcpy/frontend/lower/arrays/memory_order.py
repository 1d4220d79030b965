"""Memory order of new arrays: NumPy's "K", the order of the operands' axes as far as they agree on one.

Which of two axes of an operand lies farther apart in memory is known before the program runs: of arrays without gaps
by the order of their axes, of strided arguments by the type of the argument, of views by what they show. Axes whose
strides cannot be compared stay in C order, as those of operands that disagree do, but these axes are `GuessedAxes`:
what is made in such an order is an array whose order is not known, and so is what is made of that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.guessed_axes import GuessedAxes
from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.lower.arithmetic.broadcasting import may_be_one
from dcpy.frontend.lower.arrays.axis_steps import AxisSteps, is_guessed
from dcpy.ir.data import Array, View, packed_strides, strides_of
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

Axes = tuple[int, ...]  #: from the slowest to the fastest


def order_of_ufunc(b: TypedEmitter, operands: Sequence[Value], rank: int, *, in_c_order: int = 0) -> Axes:
    """The axes of what is computed element by element from operands, which broadcast to that rank.

    As in NumPy's iterator: of two axes, the one with the longer strides is outside, if all operands say so. An axis
    that an operand does not have, or repeats, says nothing; a size that may turn out to be 1 is assumed to be the one
    of the call that is compiled. An operand in C order has the last `in_c_order` axes.
    """
    arrays = [value for value in operands if isinstance(value, ArrayValue) and value.rank > 1]
    if all(_is_plainly_in_order(b, value) for value in arrays):
        return tuple(range(rank))
    known = [AxisSteps(b, value) for value in arrays]
    if all(steps.is_in_order for steps in known):
        return tuple(range(rank))
    shapes = [value.shape for value in operands if isinstance(value, ArrayValue)]
    sizes = [{b.exact(size) for shape in shapes for size in shape[axis - rank : axis - rank + 1 or None]}
             for axis in range(rank)]  # fmt: skip
    guesses = set()

    def may_repeat(axis: int, size: Expr) -> bool:
        """Return whether a size turns out to be 1, or may, and another operand has another one."""
        return bool(sizes[axis] - {b.exact(size), ONE}) and may_be_one(b, size)

    def is_longer(one: int, other: int) -> bool | None:
        if min(one, other) >= rank - in_c_order:
            return False
        said = set()
        for steps in known:
            left, right = (axis - rank + steps.value.rank for axis in (one, other))
            if min(left, right) < 0 or not (steps.says(left) and steps.says(right)):
                continue
            extents = (one, steps.value.shape[left]), (other, steps.value.shape[right])
            repeated = [size for axis, size in extents if may_repeat(axis, size)]
            if any(b.emit.same(size, ONE) for size in repeated):
                continue
            longer = steps.compare(left, right)
            said.add(None if longer is None or repeated else longer > 0)
        if None in said and False not in said:
            guesses.add((one, other))
        return said == {True} if said else None

    axes = _sorted(rank, is_longer)
    return GuessedAxes(axes) if guesses else axes


def order_of_copy(b: TypedEmitter, value: ArrayValue) -> Axes:
    """The axes of a copy, and of an array like another one: by the length of their strides, of which 0 is shortest."""
    if value.rank < 2 or _is_plainly_in_order(b, value):
        return tuple(range(value.rank))
    steps = AxisSteps(b, value)
    if steps.is_in_order:
        return tuple(range(value.rank))
    guesses = set()

    def is_longer(one: int, other: int) -> bool:
        longer = steps.compare(one, other)
        if longer is None and steps.has_several(one) and steps.has_several(other):
            guesses.add((one, other))
        return (longer or 0) > 0

    axes = _sorted(value.rank, is_longer)
    return GuessedAxes(axes) if guesses else axes


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
    """Return the error for reading an array in memory order where that order is not known."""
    return b.error(f"the order of this array in memory is not known: {order!r}", help="name the order: 'C' or 'F'")


def order_of_joined(b: TypedEmitter, arrays: Sequence[ArrayValue]) -> Axes:
    """The axes of arrays that are joined: as of a copy, where all with several elements along both axes agree.

    An axis moves outwards past those with shorter strides: where one without an order is between, past that as well.
    """
    known = [AxisSteps(b, value) for value in arrays]
    found, guessed = list(range(arrays[0].rank)), False
    if all(steps.is_in_order for steps in known):
        return tuple(found)
    for start in range(1, len(found)):
        place = start
        for outer in reversed(range(start)):
            pair = found[start], found[outer]
            longer = [steps.compare(*pair) for steps in known if all(map(steps.has_several, pair))]
            guessed |= None in longer and all(one is None or one > 0 for one in longer)
            if longer and not all(one is not None and one > 0 for one in longer):
                break
            place = outer if longer else place
        found.insert(place, found.pop(start))
    return GuessedAxes(found) if guessed else tuple(found)


def order_of_reduction(b: TypedEmitter, value: ArrayValue, over: Sequence[int]) -> Axes:
    """The axes of what is left of an array: in the order that they have in it."""
    kept = [axis for axis in range(value.rank) if axis not in over]
    axes = order_of_ufunc(b, [value], value.rank)
    return type(axes)(kept.index(axis) for axis in axes if axis in kept)


def order_of_gathered(b: TypedEmitter, base: ArrayValue, axes: Sequence[int], first: int, rank: int) -> Axes:
    """The axes of what index arrays of a common `rank` select along `axes`: theirs, at `first`, are outside."""
    found = range(first, first + rank)
    whole = order_of_copy(b, base)
    kept = [axis for axis in whole if axis not in axes]
    places = {axis: k if k < first else k + rank for k, axis in enumerate(sorted(kept))}
    return type(whole)((*found, *(places[axis] for axis in kept)))


def lie_as_made(b: TypedEmitter, value: Value, axes: Axes, operands: Sequence[ArrayValue]) -> None:
    """The same, if the array was made just now: it is not in the memory of an operand, or of an argument."""
    if not isinstance(value, ArrayValue) or value.rank < 2 or len(axes) != value.rank:
        return
    root = b.root(value.container)
    made = b.desc(root).transient and all(b.root(operand.container) != root for operand in operands)
    known = order_of_copy(b, value)
    if made and (known != axes or type(known) is not type(axes)):
        lie_as(b, value, axes)


def lie_as(b: TypedEmitter, value: ArrayValue, axes: Axes) -> None:
    """Say that a new array lies in this order of its axes in NumPy, and perhaps in another one here."""
    desc = b.desc(value)
    shown = [value.axes[axis] for axis in axes if value.axes[axis] >= 0]
    found = type(axes)((*shown, *(axis for axis in range(len(desc.shape)) if axis not in shown)))
    container, known = value.container, b.emit.axis_orders.get(value.container)
    if not isinstance(desc, Array) or desc.axes != found or isinstance(axes, GuessedAxes):
        b.emit.axis_orders[container] = found
    elif known is not None:
        del b.emit.axis_orders[container]
    b.emit.on_undo(lambda: _put_back(b, container, known))


def _put_back(b: TypedEmitter, container: str, known: Axes | None) -> None:
    b.emit.axis_orders.pop(container, None)
    if known is not None:
        b.emit.axis_orders[container] = known


def known_order(b: TypedEmitter, value: ArrayValue) -> Axes | None:
    """The axes of an array from the longest stride to the shortest; None where that is not known."""
    steps = AxisSteps(b, value)
    axes = list(filter(steps.has_several, range(value.rank)))
    pairs = ((one, other) for one in axes for other in axes if one < other)
    return order_of_copy(b, value) if all(steps.compare(*pair) is not None for pair in pairs) else None


def order_of_result(b: TypedEmitter, values: Sequence[ArrayValue]) -> Axes:
    """The axes of a result that is copied: those of the arrays of all returns, where these agree on one order."""
    found = [order_of_copy(b, value) for value in values]
    return found[0] if all(axes == found[0] for axes in found) else tuple(range(values[0].rank))


def order_where_paths_meet(b: TypedEmitter, values: Sequence[ArrayValue], slots: Mapping[str, Axes]) -> Axes:
    """The axes that the arrays of all paths agree on, () for C order; a guess, C order, where they do not agree.

    Of what a dry run has made and taken back, slots (whose axes are in `slots`) and other arrays say how they lay, and
    views say nothing.
    """
    gone = {**b.emit.discarded_orders, **slots}
    known = []
    for value in values:
        if value.container in b.emit.descs:
            known.append(as_known(_order_of_each_copy(b, value)))
        elif value.container in gone:
            known.append(as_known(_axes_shown(value, gone[value.container])))
    if any(axes != known[0] or isinstance(axes, GuessedAxes) for axes in known):
        return GuessedAxes(range(values[0].rank))
    return known[0] if known else ()


def _order_of_each_copy(b: TypedEmitter, value: ArrayValue) -> Axes:
    """The axes of a copy; a guess where another copy, of the array transposed, may be in another order of them.

    Axes of which one is repeated, or that have equal strides, lie in any order.
    """
    axes = order_of_copy(b, value)
    if value.rank < 2 or _is_plainly_in_order(b, value):
        return axes
    steps = AxisSteps(b, value)
    several = list(filter(steps.has_several, axes))
    pairs = itertools.combinations(several, 2)
    is_sorted = all(map(steps.says, several)) and all(steps.compare(*pair) != 0 for pair in pairs)
    return axes if is_sorted or steps.is_in_order else GuessedAxes(axes)


def _axes_shown(value: ArrayValue, axes: Axes) -> Axes:
    """The order of an array's axes, where those of its container are in this one (C order where there are none)."""
    places = {axis: place for place, axis in enumerate(axes)}
    return type(axes)(sorted(range(value.rank), key=lambda k: places.get(value.axes[k], value.axes[k])))


def as_known(axes: Axes | None) -> Axes:
    """The axes where they are not known to be in C order, else ()."""
    if isinstance(axes, GuessedAxes):
        return axes
    return () if axes is None or axes == tuple(range(len(axes))) else axes


def axes_of_result(b: TypedEmitter, container: str) -> Axes | None:
    """The axes of a new array in NumPy's order, in which it can be made; None where a view decides its strides."""
    desc, axes = b.emit.descs[container], b.emit.axis_orders.get(container)
    if axes is None:
        return desc.axes if isinstance(desc, Array) else None
    shown = any(isinstance(other, View) and other.of == container for other in b.emit.descs.values())
    return None if shown else axes


def strides_in_numpy(b: TypedEmitter, value: ArrayValue) -> tuple[Expr, ...] | None:
    """The strides, in elements, that an array has in NumPy; None of a part of a view that lies otherwise here, and of
    what is packed here only.
    """
    desc = b.desc(value)
    if is_in_doubt(b, value):
        return None
    if value.container not in b.emit.axis_orders or not desc.transient:
        return strides_of(value.as_view(desc))
    if isinstance(desc, Array):
        sizes = tuple(map(b.exact, desc.shape))
        return strides_of(value.as_view(Array.packed(desc.dtype, sizes, order=b.emit.axis_orders[value.container])))
    if value.window != Subset.whole(desc.shape) or sorted(value.axes) != list(range(len(desc.shape))):
        return None
    return packed_strides([b.exact(size) for size in value.shape], order_of_copy(b, value))


def note_gaps(b: TypedEmitter, slot: ArrayValue, values: Sequence[ArrayValue]) -> None:
    """Notes of a new array in which `values` meet that it may have gaps in NumPy, where one of these itself is it."""
    axes, emit = order_of_copy(b, slot), b.emit
    there = [value for value in values if value.container in emit.descs and value.container != slot.container]
    if slot.container not in emit.packed_here and not all(is_packed_in_numpy(b, value, axes) for value in there):
        emit.packed_here.add(slot.container)
        emit.on_undo(lambda: emit.packed_here.discard(slot.container))


def is_packed_in_numpy(b: TypedEmitter, value: ArrayValue, axes: Sequence[int]) -> bool:
    """Return whether the elements are known to lie so in NumPy, where the order is not always that of here."""
    if is_in_doubt(b, value):
        return False
    if value.container not in b.emit.axis_orders or not b.desc(value).transient:
        return is_packed_in(b, value, axes)
    steps, wanted = strides_in_numpy(b, value), packed_strides([b.exact(size) for size in value.shape], tuple(axes))
    pairs = zip(value.shape, steps or (), wanted, strict=steps is not None)
    return steps is not None and all(size is ONE or step is want for size, step, want in pairs)


def is_packed_in(b: TypedEmitter, value: ArrayValue, axes: Sequence[int]) -> bool:
    """Return whether the elements are known to lie without gaps in this order of the axes."""
    return b.contiguous(value.transposed(axes))


def lies_backwards(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether the elements lie without gaps in Fortran order, and not in C order; `FrontendError` where not
    known.
    """
    if value.rank < 2:
        return False
    if is_in_doubt(b, value):
        return _may_lie_backwards(b, value)
    if value.container in b.emit.axis_orders:
        return _is_whole_in_fortran_order(b, value)
    if b.contiguous(value):
        return False
    backwards = value.transposed(range(value.rank)[::-1])
    if b.contiguous(backwards):
        return True
    if has_gaps(b, backwards) or _lies_otherwise(b, value):
        return False
    raise unknown(b, "A")


def _is_whole_in_fortran_order(b: TypedEmitter, value: ArrayValue) -> bool:
    """The same of an array whose order its descriptor does not have: an argument with strides, or a new array."""
    if not value.is_all_of(b.desc(value)):
        raise unknown(b, "A")
    axes = [axis for axis in order_of_copy(b, value) if value.shape[axis] is not ONE]
    is_argument = not b.desc(b.root(value.container)).transient
    return not is_argument and len(axes) > 1 and axes == sorted(axes, reverse=True)


def _may_lie_backwards(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return False where the order of the axes is known, and is not Fortran's; else raise `FrontendError`."""
    axes = known_order(b, value)
    several = [axis for axis in axes or () if not may_be_one(b, value.shape[axis])]
    if axes is None or several == sorted(several, reverse=True):
        raise unknown(b, "A")
    return False


def _lies_otherwise(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether the elements lie without gaps, in another order of the axes than Fortran's, for all sizes
    are.
    """
    axes = [axis for axis in order_of_copy(b, value) if value.shape[axis] is not ONE]
    certain = not any(may_be_one(b, value.shape[axis]) for axis in axes)
    return certain and axes != sorted(axes, reverse=True) and is_packed_in(b, value, order_of_copy(b, value))


def has_gaps(b: TypedEmitter, x: ArrayValue) -> bool:
    """Return whether the elements do not lie in C order without gaps, for all sizes (if there are elements)."""
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
    """Return whether it is a part, with its axes in their order, of an array in C order: most are, and it is quickly
    seen.
    """
    desc = b.emit.descs[value.container]
    if not isinstance(desc, Array) or value.container in b.emit.axis_orders:
        return False
    axes = [*value.axes]
    return axes[0] >= 0 and axes == sorted(axes) and desc.axes == tuple(range(len(desc.shape)))


def is_in_doubt(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether the order of an array in NumPy, or its gaps there, are known at run time only."""
    return is_guessed(b, value.container) or b.root(value.container) in b.emit.packed_here


def lies_as_here(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether an array of several dimensions lies in NumPy as its descriptor says."""
    if value.rank < 2:
        return True
    container = value.container
    while isinstance(desc := b.emit.descs[container], View):
        if container in b.emit.axis_orders:
            return False
        container = desc.of
    is_argument = not desc.transient
    return is_argument or not (container in b.emit.axis_orders or container in b.emit.packed_here)

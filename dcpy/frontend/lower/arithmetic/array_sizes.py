"""Sizes of new arrays: ValueError where 64 bits do not count the bytes, MemoryError where no process has so many.

Checked are sizes that a program computes of its integers, before anything else is computed of them: whether the array
gets memory, or fusion makes it unnecessary, is decided later. Shapes of arrays, and what elementwise operations make of
them, are free; so is code of dcpy's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.assumptions import LARGEST_SIZE
from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.frontend.lower.arithmetic.overflow import AGES, ValueIntervals
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir import types
from dcpy.ir.data import Array, View
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, max_of, product_of, sym
from dcpy.ir.symbolic.expr import Atom, rebuild
from dcpy.ir.symbolic.intervals import LIMITS, is_within, product
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

ADDRESS_SPACE = 2**47  # bytes that a process has at most, with processors of today
LARGEST_ADDED = 2**24  # to sizes of arrays, where products of these are not looked at
MOST_SAMPLES = 2**63 - 513  # that are less than 2**63 as a float
POINTER = 8  # bytes of an item of Python's lists
NO_ROOM = "a list has no room in memory"
TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
TOO_LONG = "Maximum allowed dimension exceeded"


def _require_at_most(b: TypedEmitter, size: Expr, most: int, exception: str, message: str) -> None:
    if not b.emit.ranges.proves_le(size, most):
        if _is_beyond(ValueIntervals(b.emit).exactly(size), (LIMITS[0], most)):
            raise WillRaise(exception, message, [size])
        b.check(op("ge", Index(most - size), Const(0, types.int64)), exception, message, [Index(size)])
        b.emit.ranges = b.emit.ranges.narrowed(most - size)


def _is_counted(b: TypedEmitter, size: Expr) -> bool:
    """Return whether a size is a number of elements found in an array, which its bound says."""
    most = b.emit.ranges.bounds(size.name)[1] if size.name is not None else None
    return most is not None and any(product_of(*desc.shape) is most for desc in b.emit.descs.values())


def _is_of_arrays(known: ValueIntervals, size: Expr) -> bool:
    """Return whether a size is that of an array, or a sum of some and of a small number."""
    number = next((factor for monomial, factor in size.terms if not monomial), 0)
    return number <= LARGEST_ADDED and known.of(Index(size))[1] <= 16 * LARGEST_SIZE


def _has_another(b: TypedEmitter, shape: Sequence[Expr]) -> bool:
    """Return whether there is an array of the same shape, of which the same has been asked."""
    found = (name for name, desc in b.emit.descs.items() if isinstance(desc, Array) and desc.shape == tuple(shape))
    return any(map(b.emit.is_visible, found))


def _is_raised(size: Expr) -> bool:
    """Return whether a size is a symbol, perhaps with a number that is not negative: then the test of its bytes says
    all.
    """
    number = size.subs(dict.fromkeys(size.symbols, 0)).constant if size.is_linear else None
    return number is not None and 0 <= number <= LARGEST_SIZE and (size - number).name is not None


def require_countable(b: TypedEmitter, shape: Sequence[Expr], dtype: DType) -> None:
    """`ValueError` unless 64 bits count the bytes of a view that repeats what is there; sizes of 0 count as 1.

    Free for the shape of an array that there is memory for. Sizes that are all those of arrays are multiplied only.
    """
    if any(not isinstance(desc, View) and desc.shape == tuple(shape) for desc in b.emit.descs.values()):
        return
    total = _require_product(b, [max_of(size, 1) for size in shape], "iterator is too large")
    if any(size.constant is not None or ValueIntervals(b.emit).of(Index(size))[1] > LARGEST_SIZE for size in shape):
        _require_product(b, [total, as_expr(dtype.itemsize)], TOO_BIG)


def require_addressable(b: TypedEmitter, shape: Sequence[Expr], dtype: DType) -> None:
    """`ValueError` unless 64 bits count the bytes of a new array, as NumPy counts them: sizes of 0 are 1.

    `MemoryError` where they are more than a process can address: none if a size is the constant 0. Free where all
    sizes are those of arrays, or sums of some: what else there is memory for is seen when it is allocated.
    """
    refuse_constants(shape, dtype)
    known = ValueIntervals(b.emit)
    free = all(_is_of_arrays(known, size) or _is_counted(b, size) for size in shape)
    if free or _has_another(b, shape):
        return
    if len(shape) > 1 or not _is_raised(shape[0]):
        for size in shape:
            require_computed(b, size)
    most = ADDRESS_SPACE // dtype.itemsize
    if len(shape) == 1:  # a call assumes it, and another version is compiled for sizes that are larger
        if not b.emit.holds(most - shape[0]):
            _require_at_most(b, shape[0], LIMITS[1] // dtype.itemsize, "ValueError", TOO_BIG)
            _require_at_most(b, shape[0], most, "MemoryError", _unable(dtype, 1))
        return
    sizes = [max_of(size, 1) for size in shape]
    total = _require_product(b, [as_expr(dtype.itemsize), *sizes], TOO_BIG)
    if any(size is ZERO for size in shape):
        return
    if known.of(Index(total))[1] > ADDRESS_SPACE:
        within = op("le", Index(total), Const(ADDRESS_SPACE, types.int64))
        b.check(within, "MemoryError", _unable(dtype, len(shape)), [Index(size) for size in shape])
    for size in shape:
        b.emit.ranges = b.emit.ranges.narrowed(most - size)


def refuse_constants(shape: Sequence[Expr], dtype: DType) -> None:
    """`ValueError` where the sizes that are numbers are already too many bytes."""
    constants = [size.constant for size in shape if size.constant is not None]
    if dtype.itemsize * math.prod(max(size, 1) for size in constants) > LIMITS[1]:
        raise WillRaise("ValueError", TOO_BIG)


def require_room(b: TypedEmitter, sizes: Sequence[Expr]) -> None:
    """`MemoryError`, as of Python's lists, where no process has room for a list of a product of sizes."""
    known, total = ValueIntervals(b.emit), ONE
    for size in sizes:
        reached = product(_interval(known, total), _interval(known, size))
        _require_within(b, reached, "mul_fits", (total, size), "MemoryError", NO_ROOM)
        total = total * size
    most = ADDRESS_SPACE // POINTER
    if not b.emit.holds(most - total):
        _require_at_most(b, total, most, "MemoryError", NO_ROOM)


def constant_range_length(start: Any, stop: Any, step: Any) -> int:
    """The number of elements of a range of constants, as NumPy computes it. `WillRaise` as NumPy, where it is none."""
    if any(isinstance(value, complex) for value in (start, stop, step)):
        return len(np.arange(start, stop, step))
    if step == 0:
        raise WillRaise("ZeroDivisionError", "float division by zero", by="Python")
    try:
        count = np.ceil(np.float64(stop - start) / np.float64(step))
    except OverflowError:  # an integer of Python's that is no float
        count = np.float64(np.inf)
    if np.isnan(count):
        raise WillRaise("ValueError", "arange: cannot compute length")
    if abs(count) >= 2**63:
        raise WillRaise("ValueError", "Maximum allowed size exceeded")
    return max(int(count), 0)


def range_length(b: TypedEmitter, start: Expr, stop: Expr, step: Expr) -> Expr:
    """Return the number of integers in a range with any bounds."""
    values = [Index(value) for value in (start, stop, step)]
    return b.emit.assign_symbol("n", op("range_length", *values), 0)


def stays_countable(b: TypedEmitter, start: Expr, stop: Expr, step: Expr) -> bool:
    """Return whether a range can be counted by its values: what follows its last one fits, too. Not for steps that are
    large.

    Steps of one end at the bound; nothing is counted up to `AGES` in them. `OverflowError` at run time where a smaller
    step would go beyond 64 bits.
    """
    number = step.constant
    if number in (1, -1):
        return True
    if number is not None and abs(number) >= LARGEST_SIZE:
        return False
    known = ValueIntervals(b.emit)
    size = known.of(Index(step))
    (first_low, first), (last_low, last) = known.of(Index(start)), known.of(Index(stop))
    if size[0] > 0:
        if last + size[1] <= LIMITS[1] or (number is not None and first + number * AGES <= LIMITS[1]):
            return True
    elif last_low + size[0] >= LIMITS[0] or (number is not None and first_low + number * AGES >= LIMITS[0]):
        return True
    values = [Index(stop), Index(step)]
    message = "a range up to {0} in steps of {1} goes beyond the 64 bits that integers have in a program"
    b.check(op("add_fits", *values), "OverflowError", message, values)
    return True


def length_of_range(b: TypedEmitter, start: Expr, stop: Expr, step: Expr) -> Expr:
    """The size of ``np.arange(start, stop, step)``; `ValueError` where a step that is small makes it too long."""
    way = stop - start
    number = step.constant
    if is_within(ValueIntervals(b.emit).exactly(way), LIMITS):
        return b.emit.ranges.simplify(b.exact(Range(start, stop, step).size))
    if number is None or abs(number) >= LARGEST_SIZE:
        return range_length(b, start, stop, step)
    require_computed(b, way, "ValueError", "Maximum allowed size exceeded")
    return b.emit.ranges.simplify(b.exact(Range(start, stop, step).size))


def refuse_last_sample(count: Expr) -> None:
    """`IndexError` for a known number of samples that is 2**63 as a float: NumPy makes none, and then sets the last."""
    if (count.constant or 0) > MOST_SAMPLES:
        raise WillRaise("IndexError", "index -1 is out of bounds for axis 0 with size 0")


def require_counted(b: TypedEmitter, array: ArrayValue) -> None:
    """The same where the elements of an array are counted that might never get memory; free for those of the caller."""
    count = product_of(*array.shape)
    mine = [desc.shape for desc in b.emit.descs.values() if not desc.transient]
    if b.emit.descs[b.root(array.container)].transient and not any(product_of(*shape) == count for shape in mine):
        _require_product(b, array.shape, TOO_BIG)


def require_computed(b: TypedEmitter, size: Expr, exception: str = "ValueError", message: str = TOO_LONG) -> None:
    """Raise unless 64 bits hold a size, at each step of computing it; free where that is proved."""
    known = ValueIntervals(b.emit)
    total: Expr = ZERO
    for monomial, factor in size.terms:
        term = as_expr(factor)
        for atom, power in monomial:
            for arg in atom.args:
                require_computed(b, arg, exception, message)
            for _ in range(power):
                term = _step(b, known, "*", term, _of(atom), exception, message)
        total = _step(b, known, "+", total, term, exception, message)


def _step(b: TypedEmitter, known: ValueIntervals, symbol: str, x: Expr, y: Expr, exception: str, message: str) -> Expr:
    result = x * y if symbol == "*" else x + y
    if symbol == "+" and ZERO in (x, y):
        return result
    first, second = _interval(known, x), _interval(known, y)
    reached = product(first, second) if symbol == "*" else (first[0] + second[0], first[1] + second[1])
    if not is_within(known.exactly(result), LIMITS):
        _require_within(b, reached, "mul_fits" if symbol == "*" else "add_fits", (x, y), exception, message)
    return result


def _require_within(
    b: TypedEmitter, reached: tuple[int, int], fits: str, operands: tuple[Expr, Expr], exception: str, message: str
) -> None:
    """Raise unless what is `reached` by an operation fits into 64 bits; where it never does, it is no number."""
    if is_within(reached, LIMITS):
        return
    if _is_beyond(reached, LIMITS):
        raise WillRaise(exception, message)
    b.check(op(fits, *map(Index, operands)), exception, message)


def _interval(known: ValueIntervals, size: Expr) -> tuple[int, int]:
    """The interval of a size of which all steps are known to fit into 64 bits."""
    low, high = known.exactly(size)
    return max(low, LIMITS[0]), min(high, LIMITS[1])


def _is_beyond(values: tuple[int, int], limits: tuple[int, int]) -> bool:
    return values[0] > limits[1] or values[1] < limits[0]


def _of(atom: Atom) -> Expr:
    return sym(atom.name) if atom.kind == "sym" else rebuild(atom.kind, atom.args)


def _require_product(b: TypedEmitter, factors: Sequence[Expr], message: str) -> Expr:
    known, total = ValueIntervals(b.emit), ONE
    for factor in factors:
        reached = product(_interval(known, total), _interval(known, factor))
        _require_within(b, reached, "mul_fits", (total, factor), "ValueError", message)
        total = total * factor
    return total


def _unable(dtype: DType, rank: int) -> str:
    shape = ", ".join(f"{{{axis}}}" for axis in range(rank)) + ("," if rank == 1 else "")
    return f"Unable to allocate an array with shape ({shape}) and data type {dtype.numpy_name}"

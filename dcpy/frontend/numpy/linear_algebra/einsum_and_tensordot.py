"""``einsum`` and ``tensordot``: reduced to products of (stacks of) matrices, or to a product of all and a sum."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.shapes import reshaped
from dcpy.frontend.numpy.linear_algebra.products_and_diagonals import diagonal, matmul
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE
from dcpy.frontend.numpy.statistics.reductions import ADD, accumulated
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir.symbolic import Expr, product_of

AXES_2 = Static(2)
FEW_TERMS = 8  #: that are added up one by one where matrices would have to be copied


@dataclass(frozen=True)
class LabelledArray:
    """An array with a letter per dimension, each letter once."""

    array: ArrayValue
    letters: str

    def sizes(self, b: OpBuilder) -> dict[str, Expr]:
        """The size of each letter."""
        return {letter: b.exact(size) for letter, size in zip(self.letters, self.array.shape, strict=True)}


@implements(np.einsum)
def einsum(b: OpBuilder, *operands: Value, out: Value = NONE, optimize: Value = FALSE) -> Value:
    """Sums of products over repeated letters: ``np.einsum("ik,kj->ij", A, B)``. A view where nothing is computed."""
    subscripts, given = _operands(b, operands)
    inputs, result, arrays = _parse(b, subscripts, [b.array(value) for value in given])
    dtype = promoted(tuple(arrays))[0]
    for array, letters in zip(arrays, inputs, strict=True):
        if array.rank != len(letters):
            raise b.error(
                f"np.einsum: {letters!r} does not fit an operand of {array.rank} dimensions",
                notes=("NumPy raises ValueError here",),
            )
    parts = [
        _distinct(b, LabelledArray(b.array(b.cast(array, dtype)), letters))
        for array, letters in zip(arrays, inputs, strict=True)
    ]
    axes = _order(b, parts, result)
    made = parts
    while len(parts) > 1:
        left, right, *rest = parts
        needed = result + "".join(part.letters for part in rest)
        parts = [_pair(b, left, right, needed), *rest]
    final = _summed(b, parts[0], result)
    found = b.transpose(final.array, [final.letters.index(letter) for letter in result])
    memory_order.lie_as_made(b, found, axes, [part.array for part in made])
    return into(b, out, found if result else Scalar(final.array.load(())), "einsum")


def _order(b: OpBuilder, parts: Sequence[LabelledArray], result: str) -> memory_order.Axes:
    """The axes of the result as those of a ufunc, with the letters that are summed behind those of the result."""
    letters = result + "".join(sorted(set("".join(part.letters for part in parts)) - set(result)))
    spread = []
    for part in parts:
        array = b.transpose(part.array, sorted(range(part.array.rank), key=lambda k: letters.index(part.letters[k])))
        for place, letter in enumerate(letters):
            array = array if letter in part.letters else b.expand(array, place)
        spread.append(array)
    axes = memory_order.order_of_ufunc(b, spread, len(letters))
    return type(axes)(axis for axis in axes if axis < len(result))


def _operands(b: OpBuilder, operands: Sequence[Value]) -> tuple[str, Sequence[Value]]:
    """The letters and the arrays; ``np.einsum(A, [0, 1], B, [1, 2], [0, 2])`` has numbers for letters."""
    if operands and isinstance(operands[0], Static) and isinstance(operands[0].value, str):
        return operands[0].value, operands[1:]
    if len(operands) < 2:
        raise b.error("np.einsum takes letters and arrays", help='write np.einsum("ik,kj->ij", A, B)')
    inputs = ",".join(_word(b, axes) for axes in operands[1::2])
    word = "->" + _word(b, operands[-1]) if len(operands) % 2 else ""
    return inputs + word, operands[: len(operands) // 2 * 2 : 2]


def _word(b: OpBuilder, axes: Value) -> str:
    found = b.static(axes, "the axes of an operand")
    known = found if isinstance(found, list | tuple) else [found]
    if not all(k is Ellipsis or (isinstance(k, int) and 0 <= k < len(ascii_letters)) for k in known):
        raise b.error(f"np.einsum: axes are numbers from 0 to {len(ascii_letters) - 1}, or ...",
                      notes=("NumPy raises TypeError here",), help='write np.einsum("ik,kj->ij", A, B)')  # fmt: skip
    return "".join("..." if k is Ellipsis else ascii_letters[k] for k in known)


def _parse(b: OpBuilder, subscripts: str, arrays: list[ArrayValue]) -> tuple[list[str], str, list[ArrayValue]]:
    """The letters of each operand and of the result. Dimensions that dots stand for get letters of their own."""
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(arrays):
        raise b.error(f"np.einsum: {len(inputs)} groups of letters, but {len(arrays)} operands")
    if not arrow:
        single = sorted(letter for letter in set(left) - set(",.") if left.count(letter) == 1)
        result = ("..." if "..." in left else "") + "".join(single)
    extra = [max(array.rank - len(word) + 3, 0) for word, array in zip(inputs, arrays, strict=True) if "..." in word]
    fresh = "".join(letter for letter in ascii_letters if letter not in subscripts)[: max(extra, default=0)]
    arrays = _stretched(b, inputs, arrays, len(fresh))
    inputs = [
        word.replace("...", fresh[len(fresh) - (array.rank - len(word) + 3) :]) if "..." in word else word
        for word, array in zip(inputs, arrays, strict=True)
    ]
    result = result.replace("...", fresh)
    used = set("".join(inputs))
    if not used.union(result) <= set(ascii_letters) or set(result) - used or len(set(result)) != len(result):
        raise b.error(f"np.einsum: the output letters {result!r} do not fit {left!r}")
    if set(fresh) - set(result):
        raise b.error("output subscripts must have '...' too", notes=("NumPy raises ValueError here",))
    return inputs, result, arrays


def _stretched(b: OpBuilder, inputs: Sequence[str], arrays: list[ArrayValue], count: int) -> list[ArrayValue]:
    """Operands whose dimensions under the dots have the sizes that all of them have together."""
    if not count:
        return arrays
    places = [(word.index("..."), array.rank - len(word) + 3) if "..." in word else (0, 0)
              for word, array in zip(inputs, arrays, strict=True)]  # fmt: skip
    shapes = [array.shape[at : at + n] for (at, n), array in zip(places, arrays, strict=True)]
    common = broadcast_shapes(b, shapes)
    found = []
    for (at, n), array in zip(places, arrays, strict=True):
        shape = (*array.shape[:at], *common[len(common) - n :], *array.shape[at + n :])
        found.append(b.broadcast_to(array, tuple(b.exact(size) for size in shape)) if n else array)
    return found


def _distinct(b: OpBuilder, part: LabelledArray) -> LabelledArray:
    """A repeated letter stands for the diagonal."""
    array, letters = part.array, part.letters
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            b.same_size(
                array.shape[first], array.shape[second], "dimensions of operand for collapsing indices don't match"
            )
            found = diagonal(b, array, Static(0), Static(first), Static(second))
            array = b.array(found)
            letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :] + letter
    return LabelledArray(array, letters)


def _summed(b: OpBuilder, part: LabelledArray, kept: Collection[str]) -> LabelledArray:
    """Letters that nothing needs any more are added up."""
    axes = tuple(k for k, letter in enumerate(part.letters) if letter not in kept)
    if not axes:
        return part
    found = b.array(accumulated(b, ADD, part.array, axes, part.array.dtype, False))
    return LabelledArray(found, "".join(letter for letter in part.letters if letter in kept))


def _pair(b: OpBuilder, left: LabelledArray, right: LabelledArray, needed: str) -> LabelledArray:
    """The product of two operands: dimensions in groups, each made one, then a product of stacks of matrices."""
    left = _summed(b, left, needed + right.letters)
    right = _summed(b, right, needed + left.letters)
    sizes = {**right.sizes(b), **left.sizes(b)}
    for letter, size in right.sizes(b).items():
        b.same_size(sizes[letter], size, "operands could not be broadcast together with remapped shapes")
    both = [letter for letter in left.letters if letter in right.letters]
    stack = [letter for letter in both if letter in needed]
    inner = [letter for letter in both if letter not in needed]
    rows = [letter for letter in left.letters if letter not in both]
    columns = [letter for letter in right.letters if letter not in both]
    result = "".join((*stack, *rows, *columns))
    if not inner:
        return LabelledArray(_outer(b, left, right, stack, rows, columns), result)
    if stack and not rows and not columns:
        return LabelledArray(_dots(b, left, right, stack, inner), result)
    terms = [sizes[letter].constant for letter in inner]
    few = [term for term in terms if term is not None]
    is_plain = (left.letters, right.letters) == ("".join((*rows, *inner)), "".join((*inner, *columns)))
    if len(few) == len(terms) and 1 <= math.prod(few) <= FEW_TERMS and not (is_plain and needed.startswith(result)):
        result = "".join(sorted(result, key=needed.index))
        return LabelledArray(_few_terms(b, left, right, result, inner, few), result)
    first = _matrix(b, left, (stack, rows, inner), sizes)
    second = _matrix(b, right, (stack, inner, columns), sizes)
    found = b.array(matmul(b, first, second))
    return LabelledArray(reshaped(b, found, tuple(sizes[letter] for letter in result)), result)


def _dots(
    b: OpBuilder, left: LabelledArray, right: LabelledArray, stack: Sequence[str], inner: Sequence[str]
) -> ArrayValue:
    """Rows times rows: a sum of elementwise products, as there are no matrices to multiply."""
    first, second = (
        b.transpose(part.array, [part.letters.index(letter) for letter in (*stack, *inner)]) for part in (left, right)
    )
    products = b.array(b.ufunc(np.multiply, first, second))
    axes = tuple(range(len(stack), products.rank))
    return b.array(accumulated(b, ADD, products, axes, products.dtype, False))


def _few_terms(
    b: OpBuilder, left: LabelledArray, right: LabelledArray, result: str, inner: Sequence[str], sizes: Sequence[int]
) -> ArrayValue:
    """A few products added up, element by element: matrices would have to be copied first."""
    sides = []
    for part in (left, right):
        kept = [letter for letter in result if letter in part.letters]
        array = b.transpose(part.array, [part.letters.index(letter) for letter in (*kept, *inner)])
        for place, letter in enumerate(result):
            array = array if letter in kept else b.expand(array, place)
        sides.append(array)
    total: Value | None = None
    for places in itertools.product(*map(range, sizes)):
        keys = [Static(...), *map(Static, places)]
        term = b.ufunc(np.multiply, *(b.subscript(array, keys) for array in sides))
        total = term if total is None else b.ufunc(np.add, total, term)
    assert total is not None
    return b.array(total)


def _outer(
    b: OpBuilder,
    left: LabelledArray,
    right: LabelledArray,
    stack: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
) -> ArrayValue:
    """Nothing to add up: an elementwise product."""
    first = b.transpose(left.array, [left.letters.index(letter) for letter in (*stack, *rows)])
    second = b.transpose(right.array, [right.letters.index(letter) for letter in (*stack, *columns)])
    for _ in columns:
        first = b.expand(first, first.rank)
    for _ in rows:
        second = b.expand(second, len(stack))
    return b.array(b.ufunc(np.multiply, first, second))


def _matrix(b: OpBuilder, part: LabelledArray, groups: Sequence[Sequence[str]], sizes: dict[str, Expr]) -> ArrayValue:
    """The operand with each group of letters as one dimension (no stack: two dimensions)."""
    order = [part.letters.index(letter) for group in groups for letter in group]
    array = b.transpose(part.array, order)
    shape = []
    for position, group in enumerate(groups):
        if group or position:
            shape.append(product_of(*(sizes[letter] for letter in group)))
    return array if array.shape == tuple(shape) else reshaped(b, array, tuple(shape))


@implements(np.tensordot)
def tensordot(builder: OpBuilder, a: Value, b: Value, axes: Value = AXES_2) -> Value:
    """Sums of products over pairs of dimensions: the last of `a` and the first of `b`, or those listed."""
    left, right = builder.array(a), builder.array(b)
    pairs = builder.static(axes, "axes")
    if isinstance(pairs, int):
        first, second = list(range(left.rank - pairs, left.rank)), list(range(pairs))
    else:
        first, second = ([part] if isinstance(part, int) else list(part) for part in pairs)
    if len(first) != len(second):
        raise builder.error("shape-mismatch for sum", notes=("NumPy raises ValueError here",))
    first = [builder.axis(Static(axis), left.rank) for axis in first]
    second = [builder.axis(Static(axis), right.rank) for axis in second]
    letters = "abcdefghijklmnopqrstuvwxyz"
    mine = letters[: left.rank]
    theirs = list(letters[left.rank : left.rank + right.rank])
    for axis, other in zip(first, second, strict=True):
        theirs[other] = mine[axis]
    kept = [x for x in mine if x not in theirs] + [x for x in theirs if x not in mine]
    found = einsum(builder, Static(f"{mine},{''.join(theirs)}->{''.join(kept)}"), left, right)
    return builder.array(found)  # of no dimensions, NumPy's result is an array, too

"""``einsum`` and ``tensordot``: reduced to products of (stacks of) matrices, or to a product of all and a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.frontend.implements import implements
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.promotion import promoted
from dcpy.frontend.numpy.defaults import FALSE, NONE
from dcpy.frontend.numpy.linalg import diagonal, matmul
from dcpy.frontend.numpy.manipulation import reshaped
from dcpy.frontend.numpy.outputs import into
from dcpy.frontend.numpy.reductions import ADD, accumulated
from dcpy.frontend.values import ArrayValue, Scalar, Static, Value
from dcpy.ir.symbolic import ONE, Expr

AXES_2 = Static(2)


@dataclass(frozen=True)
class Labelled:
    """An array with a letter per dimension, each letter once."""

    array: ArrayValue
    letters: str

    def sizes(self, b: Builder) -> dict[str, Expr]:
        """The size of each letter."""
        return {letter: b.exact(size) for letter, size in zip(self.letters, self.array.shape, strict=True)}


@implements(np.einsum)
def einsum(b: Builder, subscripts: Value, /, *operands: Value, out: Value = NONE, optimize: Value = FALSE) -> Value:
    """Sums of products over repeated letters: ``np.einsum("ik,kj->ij", A, B)``."""
    inputs, result = _parse(b, b.static(subscripts, "the subscripts"), len(operands))
    arrays = [b.array(value) for value in operands]
    dtype = promoted(tuple(arrays))[0]
    for array, letters in zip(arrays, inputs, strict=True):
        if array.rank != len(letters):
            raise b.error(
                f"np.einsum: {letters!r} does not fit an operand of {array.rank} dimensions",
                notes=("NumPy raises ValueError here",),
            )
    parts = [
        _distinct(b, Labelled(b.array(b.cast(array, dtype)), letters))
        for array, letters in zip(arrays, inputs, strict=True)
    ]
    while len(parts) > 1:
        left, right, *rest = parts
        needed = set(result).union(*(part.letters for part in rest))
        parts = [_pair(b, left, right, needed), *rest]
    final = _summed(b, parts[0], set(result))
    found: Value = b.transpose(final.array, [final.letters.index(letter) for letter in result])
    if not result:
        found = Scalar(final.array.load(()))
    elif isinstance(found, ArrayValue) and found.container in {array.container for array in arrays}:
        found = b.copy(found)
    return into(b, out, found, "einsum")


def _parse(b: Builder, subscripts: Any, count: int) -> tuple[list[str], str]:
    if not isinstance(subscripts, str) or "..." in subscripts:
        raise b.error("np.einsum takes a string of letters without '...'", help='write np.einsum("ik,kj->ij", A, B)')
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow:
        result = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    if len(inputs) != count:
        raise b.error(f"np.einsum: {len(inputs)} groups of letters, but {count} operands")
    unknown = sorted(set(result) - set(left)) or [x for x in sorted(set(left + result) - {","}) if not x.isalpha()]
    if unknown or len(set(result)) != len(result):
        raise b.error(f"np.einsum: the output letters {result!r} do not fit {left!r}")
    return inputs, result


def _distinct(b: Builder, part: Labelled) -> Labelled:
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
    return Labelled(array, letters)


def _summed(b: Builder, part: Labelled, kept: set[str]) -> Labelled:
    """Letters that nothing needs any more are added up."""
    axes = tuple(k for k, letter in enumerate(part.letters) if letter not in kept)
    if not axes:
        return part
    found = b.array(accumulated(b, ADD, part.array, axes, part.array.dtype, False))
    return Labelled(found, "".join(letter for letter in part.letters if letter in kept))


def _pair(b: Builder, left: Labelled, right: Labelled, needed: set[str]) -> Labelled:
    """The product of two operands: dimensions in groups, each made one, then a product of stacks of matrices."""
    left = _summed(b, left, needed | set(right.letters))
    right = _summed(b, right, needed | set(left.letters))
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
        return Labelled(_outer(b, left, right, stack, rows, columns), result)
    first = _matrix(b, left, (stack, rows, inner), sizes)
    second = _matrix(b, right, (stack, inner, columns), sizes)
    found = b.array(matmul(b, first, second))
    return Labelled(reshaped(b, found, tuple(sizes[letter] for letter in result)), result)


def _outer(
    b: Builder, left: Labelled, right: Labelled, stack: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> ArrayValue:
    """Nothing to add up: an elementwise product."""
    first = b.transpose(left.array, [left.letters.index(letter) for letter in (*stack, *rows)])
    second = b.transpose(right.array, [right.letters.index(letter) for letter in (*stack, *columns)])
    for _ in columns:
        first = b.expand(first, first.rank)
    for _ in rows:
        second = b.expand(second, len(stack))
    return b.array(b.ufunc(np.multiply, first, second))


def _matrix(b: Builder, part: Labelled, groups: Sequence[Sequence[str]], sizes: dict[str, Expr]) -> ArrayValue:
    """The operand with each group of letters as one dimension (no stack: two dimensions)."""
    order = [part.letters.index(letter) for group in groups for letter in group]
    array = b.transpose(part.array, order)
    shape = []
    for position, group in enumerate(groups):
        total = ONE
        for letter in group:
            total = total * sizes[letter]
        if group or position:
            shape.append(total)
    return array if array.shape == tuple(shape) else reshaped(b, array, tuple(shape))


@implements(np.tensordot)
def tensordot(builder: Builder, a: Value, b: Value, axes: Value = AXES_2) -> Value:
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

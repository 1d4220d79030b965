"""Permutations and choices: what NumPy's ``Generator`` does to the order of given elements.

A node draws positions, and the elements are taken from there: an order in place gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Scalar,
    Static,
    SymInt,
    Value,
    dtype_of,
    is_number,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0, TRUE
from dcpy.frontend.numpy.random.distributions import GENERATOR, draw, library, scalar_operand
from dcpy.frontend.numpy.random.integers import INT64, drawn_integers
from dcpy.frontend.numpy.random.parameter_checks import as_floats, require_all
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.symbolic import ONE, Expr, max_of, product_of


def permutations(b: OpBuilder, rng: GeneratorValue, *shape: Expr) -> ArrayValue:
    """Permutations of the numbers from 0, one after the other: the last dimension is one."""
    order = b.empty(shape, types.int64, name="order")
    library(b, "random.permutation", rng, {}, {"order": order})
    return order


@implements(GENERATOR.permutation)
def permutation(b: OpBuilder, rng: GeneratorValue, x: Value, axis: Value = NUMBER_0) -> Value:
    """The numbers below `x`, or the parts of an array along an axis, in random order."""
    if is_number(x):
        return permutations(b, rng, max_of(b.integer(x, "x"), 0))
    array = b.array(x)
    if not array.rank:
        raise WillRaise("AxisError", "axis 0 is out of bounds for array of dimension 0")
    place = b.axis(axis, array.rank)
    return b.call(Static(np.take), array, permutations(b, rng, b.exact(array.shape[place])), Static(place))


@implements(GENERATOR.shuffle)
def shuffle(b: OpBuilder, rng: GeneratorValue, x: Value, axis: Value = NUMBER_0) -> Value:
    """Change the order of the parts of an array along an axis."""
    if not isinstance(x, ArrayValue) or not x.rank:
        raise b.error(f"a program shuffles arrays, not {b.describe(x)}", help="use rng.permutation(x) for a new array")
    b.store(x, permutation(b, rng, x, axis))
    return NONE


@implements(GENERATOR.permuted)
def permuted(b: OpBuilder, rng: GeneratorValue, x: Value, *, axis: Value = NONE, out: Value = NONE) -> Value:
    """Each row along an axis in an order of its own; without an axis, all elements."""
    array = b.array(x)
    if axis == NONE:
        flat = b.reshape(array, (product_of(*array.shape),))
        order = permutations(b, rng, *flat.shape) if isinstance(flat, ArrayValue) else flat
        return into(b, out, b.call(Static(_take_flat), array, order), "permuted")
    place = b.axis(axis, array.rank)
    others = [b.exact(size) for position, size in enumerate(array.shape) if position != place]
    order = permutations(b, rng, *others, b.exact(array.shape[place]))
    return into(b, out, b.call(Static(_take_rows), array, order, Static(place)), "permuted")


def _take_flat(x: Any, order: Any) -> Any:
    return np.ravel(x)[order].reshape(x.shape)


def _take_rows(x: Any, order: Any, axis: Any) -> Any:
    return np.moveaxis(np.take_along_axis(np.moveaxis(x, axis, -1), order, -1), -1, axis)


# -- choices ---------------------------------------------------------------------------------------------------------


@implements(GENERATOR.choice)
def choice(
    b: OpBuilder,
    rng: GeneratorValue,
    a: Value,
    size: Value = NONE,
    replace: Value = TRUE,
    p: Value = NONE,
    axis: Value = NUMBER_0,
    shuffle: Value = TRUE,
) -> Value:
    """Parts of an array along an axis, or numbers below `a`, perhaps with given probabilities."""
    return chosen(b, rng, a, size, replace, p, axis, bool(b.static(shuffle, "shuffle")))


Ordered = Callable[[Expr, tuple[Expr, ...]], Value]


def chosen(
    b: OpBuilder,
    rng: GeneratorValue,
    a: Value,
    size: Value,
    replace: Value,
    p: Value,
    axis: Value = NUMBER_0,
    shuffle: bool = True,
    how: str = "",
    ordered: Ordered | None = None,
) -> Value:
    """The choice; `how` integers are drawn, and without weights `ordered` ones that do not repeat."""
    array = None if is_number(a) else b.array(a)
    if array is not None and not array.rank:
        a, array = b.subscript(array, ()), None
    place = 0 if array is None else b.axis(axis, array.rank)
    population = b.integer(a, "a") if array is None else b.exact(array.shape[place])
    shape = () if size == NONE else b.shape_argument(size)
    _require_some(b, array, population, product_of(*shape))
    weights = None if p == NONE else _weights(b, p, population)
    again = b.static(replace, "replace")
    if again and weights is None:
        found = drawn_integers(b, rng, NUMBER_0, _int(population), size, INT64, how=how)
    elif again:
        uniform = draw(b, rng, "random", {}, size)
        found = b.call(Static(_search), b.array(weights), uniform)  # type: ignore[arg-type]
    else:
        found = _sample(b, rng, population, shape, weights, shuffle, ordered)
        if not shape:
            found = b.subscript(found, (NUMBER_0,))
    if array is not None:
        found = b.call(Static(np.take), array, found, Static(place))
    elif isinstance(found, Scalar):
        found = Scalar(found.expr, weak=True)
    return b.array(found) if isinstance(found, Scalar) and size != NONE else found


def _int(size: Expr) -> Value:
    return SymInt(size) if size.constant is None else Static(size.constant)


def _require_some(b: OpBuilder, array: ArrayValue | None, population: Expr, count: Expr) -> None:
    """Require something to choose from, unless nothing is chosen."""
    what = "a must be a positive integer" if array is None else "a cannot be empty"
    message = f"{what} unless no samples are taken"
    if count.constant == 0 or b.emit.ranges.proves_nonneg(population - 1):
        return
    if population.constant is not None and count.constant is not None:
        raise WillRaise("ValueError", message)
    some = op("ge", Index(population), Const(1, types.int64))
    b.check(op("or", some, op("eq", Index(count), Const(0, types.int64))), "ValueError", message)


def _weights(b: OpBuilder, p: Value, population: Expr) -> ArrayValue:
    """Probabilities as float64, one for each element to choose from."""
    found = b.array(as_floats(b, p))
    if found.rank != 1:
        raise WillRaise("ValueError", "p must be 1-dimensional")
    b.same_size(found.shape[0], population, "a and p must have same size")
    tolerance = np.finfo(np.float32 if dtype_of(b.array(p)) == types.float32 else np.float64).eps ** 0.5
    b.call(Static(_check_weights), found, Static(float(tolerance)))
    return found


def _check_weights(p: Any, tolerance: Any) -> None:
    total = np.sum(p)
    if np.isnan(total):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(total - 1.0) > tolerance:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")


def _search(p: Any, uniform: Any) -> Any:
    cdf = np.cumsum(p)
    cdf /= cdf[-1]
    return np.searchsorted(cdf, uniform, side="right")


def _sample(
    b: OpBuilder, rng: GeneratorValue, population: Expr, shape: tuple[Expr, ...], weights: ArrayValue | None,
    order: bool, ordered: Ordered | None,
) -> ArrayValue:  # fmt: skip
    """Positions, each at most once, in an array of at least one dimension."""
    shape = shape or (ONE,)
    count = product_of(*shape)
    b.emit.require(
        population - count, "ValueError", "Cannot take a larger sample than population when replace is False"
    )
    if weights is not None:
        nonzero = b.call(Static(np.count_nonzero), weights)
        require_all(b, lambda n: op("ge", n, Index(count)), "Fewer non-zero entries in p than size", nonzero)
    if ordered is not None and weights is None:
        return b.array(ordered(population, shape))
    found = b.empty((count,), types.int64, name="order")
    inputs = {"population": scalar_operand(b, _int(population))}
    if weights is not None:
        inputs["p"] = weights
    library(b, "random.sample", rng, inputs, {"order": found}, shuffle=order)
    shaped = b.reshape(found, shape)
    assert isinstance(shaped, ArrayValue)
    return shaped

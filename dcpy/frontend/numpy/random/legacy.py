"""Draws of NumPy's old generator, ``np.random.rand`` and its kind, that are functions of its bit generator alone.

They are library nodes over the bit generator that NumPy itself uses, so that the stream goes on across calls. What has
a state beside it (a normal draw that is kept for the next call) is drawn by NumPy:
`lower.objects.legacy_random_generators`.
"""

from __future__ import annotations

import numpy as np

from dcpy.frontend.abstract_values.values import GeneratorValue, SliceValue, Static, TupleValue, Value, integer
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0, NUMBER_1, TRUE
from dcpy.frontend.numpy.random.distributions import as_python, draw
from dcpy.frontend.numpy.random.integers import drawn_integers
from dcpy.frontend.numpy.random.parameter_checks import as_floats, require_all
from dcpy.frontend.numpy.random.permutations import chosen, permutation, permutations, shuffle
from dcpy.ir.expressions.scalar import op
from dcpy.ir.symbolic import Expr, product_of

OLD = np.random.RandomState
INT = Static(int)


@implements(OLD.random_sample, OLD.random)
def random_sample(b: OpBuilder, rng: GeneratorValue, size: Value = NONE) -> Value:
    """Uniform numbers in [0, 1)."""
    return as_python(draw(b, rng, "random", {}, size))


@implements(OLD.rand)
def rand(b: OpBuilder, rng: GeneratorValue, *args: Value) -> Value:
    """Uniform numbers in [0, 1), with the dimensions as arguments."""
    return random_sample(b, rng, TupleValue(args) if args else NONE)


@implements(OLD.uniform)
def uniform(
    b: OpBuilder, rng: GeneratorValue, low: Value = NUMBER_0, high: Value = NUMBER_1, size: Value = NONE
) -> Value:
    """Uniform numbers between two; they may be in either order."""
    inputs = {"low": as_floats(b, low), "high": as_floats(b, high)}
    finite = "Range exceeds valid bounds"
    require_all(b, lambda x, y: op("isfinite", op("sub", y, x)), finite, *inputs.values(), exception="OverflowError")
    return as_python(draw(b, rng, "uniform", inputs, size, how="old"))


@implements(OLD.randint)
def randint(
    b: OpBuilder, rng: GeneratorValue, low: Value, high: Value = NONE, size: Value = NONE, dtype: Value = INT
) -> Value:
    """Integers from `low` to below `high`; without `high`, from 0 to below `low`."""
    return drawn_integers(b, rng, low, high, size, dtype, how="old")


@implements(OLD.permutation)
def permutation_(b: OpBuilder, rng: GeneratorValue, x: Value) -> Value:
    """The numbers below `x`, or the rows of an array, in random order."""
    return permutation(b, rng, x)


@implements(OLD.shuffle)
def shuffle_(b: OpBuilder, rng: GeneratorValue, x: Value) -> Value:
    """Change the order of the rows of an array."""
    return shuffle(b, rng, x)


@implements(OLD.choice)
def choice(
    b: OpBuilder, rng: GeneratorValue, a: Value, size: Value = NONE, replace: Value = TRUE, p: Value = NONE
) -> Value:
    """Elements of an array, or numbers below `a`, perhaps with given probabilities."""

    def ordered(population: Expr, shape: tuple[Expr, ...]) -> Value:
        order = permutations(b, rng, population)
        first = b.subscript(order, [SliceValue(NONE, integer(product_of(*shape)), NONE)])
        return b.call(Static(np.reshape), first, TupleValue(tuple(map(integer, shape))))

    return chosen(b, rng, a, size, replace, p, how="old", ordered=ordered)

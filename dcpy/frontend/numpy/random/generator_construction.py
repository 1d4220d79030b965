"""Construction of generators in a program: ``np.random.default_rng(seed)``."""

from __future__ import annotations

import numpy as np

from dcpy.base.bit_generators import OWN_WORDS
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Static,
    Value,
    dtype_of,
    is_number,
    scalar_expr,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.random.parameter_checks import require_all
from dcpy.ir import types
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset

HALF = (1 << 32) - 1


@implements(np.random.default_rng, np.random.PCG64)
def default_rng(b: OpBuilder, seed: Value = NONE) -> Value:
    """A generator with the PCG64 that NumPy would make: its state is a container of the program."""
    if isinstance(seed, GeneratorValue):
        return seed
    if seed == NONE:
        raise b.error(
            "a generator without a seed is different in each call of the program",
            help="pass a seed, or a generator: rng = np.random.default_rng() outside, and rng as an argument",
        )
    state = Array.packed(types.uint64, (OWN_WORDS,), transient=True, span=b.emit.span)
    container = b.emit.declare(b.result_name or "generator", state)
    b.result_name = ""
    b.library("random.seed", {"entropy": _entropy(b, seed)}, {"state": ArrayValue.whole(container, state)})
    return GeneratorValue(container, own=True)


@implements(np.random.Generator)
def generator(b: OpBuilder, bit_generator: Value) -> Value:
    """``np.random.Generator(np.random.PCG64(seed))``: to dcpy a generator is its bit generator."""
    if not isinstance(bit_generator, GeneratorValue):
        raise b.error(f"{b.describe(bit_generator)} is not a bit generator", help="use np.random.default_rng(seed)")
    return bit_generator


def _entropy(b: OpBuilder, seed: Value) -> ArrayValue:
    """The seed as uint64 numbers; NumPy makes one word of 32 bits of each, or two where it does not fit."""
    if isinstance(seed, ArrayValue) and seed.rank == 1:
        _require_integer(b, seed)
        found = b.cast(seed, types.uint64)
        assert isinstance(found, ArrayValue)
        return found
    items = items_of(seed)
    words = [word for item in ((seed,) if items is None else items) for word in _words(b, item)]
    out = b.empty((len(words),), types.uint64, name="entropy")
    writes = [(Memlet(out.container, Subset.point(place)), word) for place, word in enumerate(words)]
    if writes:
        b.emit.tasklet(writes)
    return out


def _words(b: OpBuilder, item: Value) -> list[ScalarExpr]:
    if isinstance(item, ArrayValue) and not item.rank:
        item = b.subscript(item, ())
    if isinstance(item, Static) and isinstance(item.value, int | np.integer) and not isinstance(item.value, bool):
        number = int(item.value)
        if number < 0:
            raise WillRaise("ValueError", "expected non-negative integer")
        halves = [number >> shift & HALF for shift in range(0, max(number.bit_length(), 1), 32)]
        return [Const(half, types.uint64) for half in halves]
    if not is_number(item):
        raise b.error(f"{b.describe(item)} is not a seed", help="use an integer, or a list or an array of integers")
    _require_integer(b, item)
    return [cast(scalar_expr(b.hold(item)), types.uint64)]


def _require_integer(b: OpBuilder, seed: Value) -> None:
    dtype = dtype_of(seed)
    if not dtype.is_integer:
        raise b.error(f"a seed is an integer, but this is {b.describe(seed)}", notes=("NumPy raises TypeError here",))
    if dtype.kind == "i":
        require_all(b, lambda x: op("ge", x, Const(0, x.dtype)), "expected non-negative integer", seed)

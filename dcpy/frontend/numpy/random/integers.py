"""``Generator.integers``: numbers of any integer dtype, between bounds that must fit into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Scalar,
    Static,
    Value,
    as_integer,
    dtype_of,
    scalar_expr,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0
from dcpy.frontend.numpy.random.distributions import GENERATOR, draw, output_shape
from dcpy.frontend.numpy.random.parameter_checks import known_bool, truncated
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.symbolic import ONE, Expr
from dcpy.ir.types import DType

INT64 = Static(np.int64)


@dataclass(frozen=True)
class IntegerBound:
    """One end of the numbers: a value, which is drawn itself where it is `closed`."""

    value: Value
    closed: bool = True

    @property
    def known(self) -> int | None:
        """The number, where it is known."""
        found = as_integer(self.value)
        return None if found is None else found.constant


@implements(GENERATOR.integers)
def integers(
    b: OpBuilder,
    rng: GeneratorValue,
    low: Value,
    high: Value = NONE,
    size: Value = NONE,
    dtype: Value = INT64,
    endpoint: Value = FALSE,
) -> Value:
    """Integers from `low` to `high`, which is one of them with `endpoint`. Without `high`, from 0 to `low`."""
    return drawn_integers(b, rng, low, high, size, dtype, endpoint)


def drawn_integers(
    b: OpBuilder,
    rng: GeneratorValue,
    low: Value,
    high: Value,
    size: Value,
    dtype: Value,
    endpoint: Value = FALSE,
    how: str = "",
) -> Value:
    """The draw of integers; `how` is ``old`` for the way of NumPy's old generator."""
    if high == NONE:
        low, high = NUMBER_0, low
    wanted = b.dtype_argument(dtype) or types.int64
    if wanted.kind not in "iub":
        message = f"Unsupported dtype {wanted.numpy!r} for integers"
        raise b.error(message, notes=("NumPy raises TypeError here",), help="use an integer dtype, or bool")
    closed = bool(b.static(endpoint, "endpoint"))
    first, last = IntegerBound(_number(b, low)), IntegerBound(_number(b, high), closed)
    shape = output_shape(b, {"low": first.value, "high": last.value}, size)
    _Checks(b, first, last, wanted, closed, shape).run()
    inputs = {"low": _cast(b, first.value, wanted), "last": _last(b, last, wanted)}
    found = draw(b, rng, "integers", inputs, size, wanted, how=how)
    is_python = isinstance(found, Scalar) and dtype in (Static(int), Static(bool))
    return Scalar(found.expr, weak=True) if is_python and isinstance(found, Scalar) else found


def _number(b: OpBuilder, value: Value) -> Value:
    """A bound as an integer or an array of integers."""
    value = truncated(value)
    if not b.numbers(value):
        value = b.array(value)
    if isinstance(value, ArrayValue) and not value.rank:
        value = b.subscript(value, ())
    if dtype_of(value).kind not in "iub":
        raise b.error(
            f"the bounds of integers must be integers, not {b.describe(value)}",
            help="convert them: int(x), x.astype(int)",
        )
    return b.hold(value)


def _cast(b: OpBuilder, value: Value, dtype: DType) -> Value:
    known = as_integer(value)
    if known is not None and known.constant is not None:
        number = known.constant
        return Scalar(Const(bool(number) if dtype == types.bool_ else number, dtype))
    return b.hold(b.cast(value, dtype))


def _last(b: OpBuilder, bound: IntegerBound, dtype: DType) -> Value:
    """The largest number that is drawn."""
    if bound.closed:
        return _cast(b, bound.value, dtype)
    if bound.known is not None:
        return _cast(b, Static(bound.known - 1), dtype)
    work = _work_dtype(bound.value)
    one = Const(1, work)
    return b.hold(b.elementwise(lambda x: cast(op("sub", x, one), dtype), bound.value, dtypes=(work,)))


def _work_dtype(value: Value) -> DType:
    return types.uint64 if dtype_of(value) == types.uint64 else types.int64


class _Checks:
    """NumPy's checks of bounds, in its order; there are none where no number is drawn."""

    def __init__(
        self,
        b: OpBuilder,
        low: IntegerBound,
        high: IntegerBound,
        dtype: DType,
        closed: bool,
        shape: tuple[Expr, ...] | None,
    ) -> None:
        self.b, self.low, self.high, self.dtype, self.closed = b, low, high, dtype, closed
        self.size = ONE
        for extent in shape or ():
            self.size = self.size * extent

    def run(self) -> None:
        """All of them."""
        smallest, largest = (0, 1) if self.dtype == types.bool_ else self._limits()
        self._fits(self.low.value, "low", "ge", smallest)
        self._fits(self.high.value, "high", "le", largest + (not self.closed))
        self._in_order()

    def _limits(self) -> tuple[int, int]:
        limits = np.iinfo(self.dtype.numpy)
        return int(limits.min), int(limits.max)

    def _fits(self, value: Value, name: str, relation: str, limit: int) -> None:
        """The bound is ``relation`` the limit; no check where its own dtype proves it."""
        message = f"{name} is out of bounds for {self.dtype.numpy_name}"
        work = _work_dtype(value)
        range_of = np.iinfo(dtype_of(value).numpy) if dtype_of(value) != types.bool_ else np.iinfo(np.uint8)
        known = IntegerBound(value).known
        if known is not None:
            self._require(Const(known >= limit if relation == "ge" else known <= limit, types.bool_), message)
        elif not (range_of.min >= limit if relation == "ge" else range_of.max <= limit):
            self._require(self._all(lambda x: op(relation, x, Const(limit, work)), work, value), message)

    def _in_order(self) -> None:
        low, high, relation = self.low.value, self.high.value, "le" if self.closed else "lt"
        words = ("low > high", "high < 0") if self.closed else ("low >= high", "high <= 0")
        if self.low.known is not None and self.high.known is not None:
            last = self.high.known - (not self.closed)
            self._require(Const(self.low.known <= last, types.bool_), words[not self.low.known])
            return
        kinds = {_work_dtype(bound.value) for bound in (self.low, self.high) if bound.known is None}
        if len(kinds) > 1:
            raise self.b.error(
                "one bound of integers is uint64, and the other is not", help="convert it: np.uint64(low)"
            )
        work = kinds.pop()
        if self.high.known is not None and not self.closed:
            high, relation = Static(self.high.known - 1), "le"
        fits = self._all(lambda x, y: op(relation, x, y), work, low, high)
        if self.low.known is not None:
            self._require(fits, words[not self.low.known])
            return
        some = self._all(lambda x: op("eq", x, Const(0, work)), work, low)  # then the message names `high` alone
        self._require(op("or", fits, op("not", some)), words[1])
        self._require(fits, words[0])

    def _all(self, holds: Callable[..., ScalarExpr], dtype: DType, *values: Value) -> ScalarExpr:
        """Return whether a condition holds for all elements of broadcast operands."""
        operands = [_cast(self.b, value, dtype) for value in values]
        found = self.b.elementwise(holds, *operands)
        if isinstance(found, ArrayValue):
            found = self.b.reduce("and", found, range(found.rank))
        return scalar_expr(self.b.hold(found))

    def _require(self, condition: ScalarExpr, message: str) -> None:
        known = known_bool(condition)
        if known:
            return
        if self.size.constant is None:  # NumPy checks nothing where there is nothing to draw
            condition = op("or", condition, op("eq", Index(self.size), Const(0, types.int64)))
        elif self.size.constant == 0:
            return
        elif known is False:
            raise WillRaise("ValueError", message)
        self.b.check(condition, "ValueError", message)

"""Integer functions of the module `math`: divisors, roots, factorials, combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dcpy.frontend.abstract_values.values import Scalar, Static, Value, dtype_of, is_number, kind_of, scalar_expr
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.overflow import require_bits
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.python_implementations import call_body, computes_with_integers
from dcpy.frontend.python.math_functions import known_result
from dcpy.frontend.python.number_conversion import python_number
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op

NONE = Static(None)
DIVISORS = {math.gcd: "gcd", math.lcm: "lcm"}
LARGEST_ROOT = math.isqrt(2**63 - 1)


def _whole(b: OpBuilder, value: Value, name: str) -> Value:
    """An argument as a Python int."""
    if not is_number(value) or dtype_of(value).kind not in "iub":
        raise b.error(f"math.{name} takes integers, not {kind_of(value)}", notes=("Python raises TypeError here",))
    number = python_number(b, value)
    if dtype_of(number) == types.bool_:
        number = Scalar(cast(scalar_expr(number), types.int64), weak=True)
    return b.hold(number)


# -- divisors --------------------------------------------------------------------------------------------------------


def _require_multiple(b: OpBuilder, x: Value, y: Value) -> None:
    """Require that the least common multiple of `x` and `y` fits."""
    left, right = scalar_expr(x), scalar_expr(y)
    divisor = op("max", op("gcd", left, right), Const(1, types.int64))
    test = op("mul_fits", op("floordiv", left, divisor), right)
    require_bits(b, test, "the least common multiple of {0} and {1}", [left, right])


def _divisor(function: Callable[..., int], name: str) -> Implementation:
    def call(b: OpBuilder, *integers: Value) -> Value:
        known = known_result(b, function, *integers)
        if known is not None:
            return known
        first, *others = [_whole(b, value, name) for value in integers]
        found: Value = Scalar(op("abs", scalar_expr(first)), weak=True)
        for number in others:
            if name == "lcm":
                found = b.hold(found)
                _require_multiple(b, found, number)
            found = Scalar(op(name, scalar_expr(found), scalar_expr(number)), weak=True)
        return found

    return call


for _function, _name in DIVISORS.items():
    implements(_function)(_divisor(_function, _name))


# -- roots and choices -----------------------------------------------------------------------------------------------


def _computed(function: Callable[..., int], body: Callable[..., Any], *parameters: str) -> Implementation:
    """A function whose integers, known at run time only, go to a Python function of dcpy's own."""

    def call(b: OpBuilder, *args: Value) -> Value:
        known = known_result(b, function, *args)
        if known is not None:
            return known
        return call_body(b, body, *(_whole(b, value, function.__name__) for value in args))

    return call


def _isqrt(n: Any) -> Any:
    """The root of the nearest float is off by 1 at most."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), LARGEST_ROOT)
    if root * root > n:
        root -= 1
    elif root < LARGEST_ROOT and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@computes_with_integers
def _factorial(n: Any) -> Any:
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def _require_counts(n: Any, k: Any) -> None:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")


@computes_with_integers
def _comb(n: Any, k: Any) -> Any:
    """Each quotient is a binomial coefficient itself, so that nothing is larger than the result."""
    _require_counts(n, k)
    found = 0
    if k <= n:
        found = 1
        fewer = min(k, n - k)
        for i in range(1, fewer + 1):
            shared = math.gcd(found, i)
            found = found // shared * ((n - fewer + i) // (i // shared))
    return found


@computes_with_integers
def _perm(n: Any, k: Any) -> Any:
    _require_counts(n, k)
    found = 0
    if k <= n:
        found = 1
        for i in range(k):
            found *= n - i
    return found


@implements(math.isqrt)
def isqrt(b: OpBuilder, n: Value, /) -> Value:
    """The largest integer whose square is not larger."""
    return _computed(math.isqrt, _isqrt)(b, n)


@implements(math.factorial)
def factorial(b: OpBuilder, n: Value, /) -> Value:
    """The product of the integers up to `n`."""
    return _computed(math.factorial, _factorial)(b, n)


@implements(math.comb)
def comb(b: OpBuilder, n: Value, k: Value, /) -> Value:
    """The number of ways in which `k` of `n` things are chosen, without order."""
    return _computed(math.comb, _comb)(b, n, k)


@implements(math.perm)
def perm(b: OpBuilder, n: Value, k: Value = NONE, /) -> Value:
    """The number of ways in which `k` of `n` things are chosen in order; of all of them by default."""
    return factorial(b, n) if k == NONE else _computed(math.perm, _perm)(b, n, k)

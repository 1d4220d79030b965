"""Distributions: the methods of ``np.random.Generator`` that draw a number, or an array of numbers.

Each is one library node, which reads and writes the generator's state. Integers are in `integers`, orders and
choices in `permutations`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Scalar,
    Static,
    Value,
    scalar_expr,
    shape_of,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.random.parameter_checks import (
    LARGEST_MEAN,
    as_floats,
    as_integers,
    number,
    require,
    require_all,
)
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Load, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType

GENERATOR = np.random.Generator
FLOAT64 = Static(np.float64)
PRECISIONS = (types.float64, types.float32)

Inputs = Mapping[str, Value]


# -- one node --------------------------------------------------------------------------------------------------------


def draw(
    b: OpBuilder,
    rng: GeneratorValue,
    method: str,
    inputs: Inputs,
    size: Value = NONE,
    dtype: DType = types.float64,
    out: ArrayValue | None = None,
    how: str = "",
) -> Value:
    """Return draws of a method: a number without a size and without arrays among the inputs, else an array."""
    shape = output_shape(b, inputs, size, out)
    operands = {name: _operand(b, value, shape or ()) for name, value in inputs.items()}
    if shape is None:
        target, number = b.scalar_container(dtype)
    else:
        target = out or b.empty(shape, dtype)
    library(b, "random.draw", rng, operands, {"out": _in_memory_order(b, target)}, method=method, how=how)
    return target if shape is not None else number


def library(
    b: OpBuilder, kind: str, rng: GeneratorValue, inputs: Mapping[str, ArrayValue], outputs: Mapping[str, ArrayValue],
    **fields: Any,
) -> None:  # fmt: skip
    """Emit a node that draws."""
    state = ArrayValue.whole(rng.container, b.desc(rng.container))
    b.library(kind, {"state": state, **inputs}, {"state": state, **outputs}, own=rng.own, **fields)


def output_shape(b: OpBuilder, inputs: Inputs, size: Value, out: ArrayValue | None = None) -> tuple[Expr, ...] | None:
    """The shape that is drawn; None for a single number."""
    shapes = [value.shape for value in inputs.values() if isinstance(value, ArrayValue)]
    if size == NONE and out is None:
        return broadcast_shapes(b, shapes) if shapes else None
    wanted = out.shape if out is not None else b.shape_argument(size)
    if any(len(shape) > len(wanted) for shape in shapes):
        raise WillRaise("ValueError", "Output size is not compatible with broadcast dimensions of inputs")
    return tuple(b.exact(extent) for extent in wanted)


def _operand(b: OpBuilder, value: Value, shape: Sequence[Expr]) -> ArrayValue:
    """An input of a node: an array of the full shape, or a scalar container."""
    if isinstance(value, ArrayValue):
        return b.broadcast_to(value, shape)
    return scalar_operand(b, value)


def scalar_operand(b: OpBuilder, value: Value) -> ArrayValue:
    """A number in a container, as nodes read it."""
    expr = scalar_expr(value)
    if isinstance(expr, Load) and not expr.indices:
        return ArrayValue.whole(expr.container, b.desc(expr.container))
    target, _ = b.scalar_container(expr.dtype)
    b.emit.tasklet([(Memlet(target.container, Subset()), expr)])
    return target


def _in_memory_order(b: OpBuilder, target: ArrayValue) -> ArrayValue:
    """An array as NumPy fills it: one that is packed in Fortran's order, from its transpose."""
    if b.contiguous(target):
        return target
    transposed = b.transpose(target, range(target.rank)[::-1])
    if not b.contiguous(transposed):
        raise WillRaise(
            "ValueError", "Supplied output array must be contiguous, writable, aligned, and in machine byte-order."
        )
    return transposed


# -- distributions with parameters -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistributionParameter:
    """A parameter of a distribution: its default if any, what is demanded of it, whether it is an integer."""

    name: str
    default: float | None
    demand: str
    is_integer: bool

    @classmethod
    def parse(cls, text: str) -> DistributionParameter:
        """``scale=1.0:>=0``, ``n:>=0:int``."""
        head, demand, kind = (*text.split(":"), "", "")[:3]
        name, _, default = head.partition("=")
        return cls(name, float(default) if default else None, demand, kind == "int")

    def value(self, b: OpBuilder, given: Value) -> Value:
        """The argument, converted as NumPy converts it."""
        return as_integers(b, given) if self.is_integer else as_floats(b, given)


DISTRIBUTIONS: dict[DType, str] = {
    types.float64: """
        normal                 loc=0.0  scale=1.0:>=0
        uniform                low=0.0  high=1.0
        exponential            scale=1.0:>=0
        gamma                  shape:>=0  scale=1.0:>=0
        beta                   a:>0  b:>0
        chisquare              df:>0
        noncentral_chisquare   df:>0  nonc:>=0
        f                      dfnum:>0  dfden:>0
        noncentral_f           dfnum:>0  dfden:>0  nonc:>=0
        standard_t             df:>0
        standard_cauchy
        pareto                 a:>0
        weibull                a:>=0
        power                  a:>0
        laplace                loc=0.0  scale=1.0:>=0
        gumbel                 loc=0.0  scale=1.0:>=0
        logistic               loc=0.0  scale=1.0:>=0
        lognormal              mean=0.0  sigma=1.0:>=0
        rayleigh               scale=1.0:>=0
        wald                   mean:>0  scale:>0
        vonmises               mu  kappa:>=0
        triangular             left  mode  right""",
    types.int64: """
        poisson                lam=1.0:mean
        binomial               n:>=0:int  p:0..1
        negative_binomial      n:>0  p:0<..1
        geometric              p:0<..1
        hypergeometric         ngood::int  nbad::int  nsample::int
        logseries              p:0..<1
        zipf                   a:>1""",
}


def _uniform(b: OpBuilder, low: Value, high: Value) -> None:
    def reach(a: ScalarExpr, c: ScalarExpr) -> ScalarExpr:
        return op("sub", c, a)

    arrays = bool(shape_of(low) or shape_of(high))
    message = "Range exceeds valid bounds" if arrays else "high - low range exceeds valid bounds"
    require_all(b, lambda a, c: op("isfinite", reach(a, c)), message, low, high, exception="OverflowError")
    require_all(b, lambda a, c: op("not", op("signbit", reach(a, c))), "high - low < 0", low, high)


def _triangular(b: OpBuilder, left: Value, mode: Value, right: Value) -> None:
    for relation, message, pair in (
        ("gt", "left > mode", (left, mode)),
        ("gt", "mode > right", (mode, right)),
        ("eq", "left == right", (left, right)),
    ):
        require_all(b, lambda x, y, name=relation: op("not", op(name, x, y)), message, *pair)


def _negative_binomial(b: OpBuilder, n: Value, p: Value) -> None:
    def fits(n: ScalarExpr, p: ScalarExpr) -> ScalarExpr:
        """The mean of the Poisson distribution that is drawn from stays small enough, ten deviations above too."""
        ratio = op("div", op("sub", number(1, p), p), p)
        reach = op("add", n, op("mul", number(10, n), op("sqrt", n)))
        return op("le", op("mul", ratio, reach), number(LARGEST_MEAN, n))

    require_all(b, fits, "n too large or p too small, see Generator.negative_binomial Notes", n, p)


def _hypergeometric(b: OpBuilder, good: Value, bad: Value, sample: Value) -> None:
    most = 10**9
    for value in (good, bad):
        message = f"both ngood and nbad must be less than {most}"
        require_all(b, lambda x: op("lt", x, number(most, x)), message, value)
    enough = "ngood + nbad < nsample"
    require_all(b, lambda g, x, s: op("ge", op("add", g, x), s), enough, good, bad, sample)
    for name, value in (("ngood", good), ("nbad", bad), ("nsample", sample)):
        require(b, name, value, ">=0")


RELATIONS: dict[str, Callable[..., None]] = {
    "uniform": _uniform,
    "triangular": _triangular,
    "negative_binomial": _negative_binomial,
    "hypergeometric": _hypergeometric,
}


def _register(method: str, parameters: Sequence[DistributionParameter], dtype: DType) -> None:
    """The implementation of one method, with NumPy's signature."""

    def call(b: OpBuilder, rng: GeneratorValue, *given: Value) -> Value:
        *arguments, size = given
        inputs = {p.name: p.value(b, value) for p, value in zip(parameters, arguments, strict=True)}
        for p in parameters:
            require(b, p.name, inputs[p.name], p.demand)
        if method in RELATIONS:
            RELATIONS[method](b, *inputs.values())
        return as_python(draw(b, rng, method, inputs, size, dtype))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("_builder", "rng")]
    for p in parameters:
        signature.append(inspect.Parameter(p.name, kind, default=_default(p)))
    signature.append(inspect.Parameter("size", kind, default=NONE))
    call.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    call.__doc__ = f"Numbers of a distribution, ``{method}``."
    implements(getattr(GENERATOR, method))(call)


def _default(parameter: DistributionParameter) -> Any:
    return inspect.Parameter.empty if parameter.default is None else Static(parameter.default)


for _dtype, _table in DISTRIBUTIONS.items():
    for _method, *_texts in map(str.split, _table.strip().splitlines()):
        _register(_method, [DistributionParameter.parse(text) for text in _texts], _dtype)


def as_python(value: Value) -> Value:
    """A single draw is a Python number: a float, also of float32, or an int."""
    if not isinstance(value, Scalar):
        return value
    expr = value.expr if value.dtype in (types.int64, types.bool_) else cast(value.expr, types.float64)
    return Scalar(expr, weak=True)


# -- the standard distributions, in two precisions -------------------------------------------------------------------


@implements(GENERATOR.random)
def random(b: OpBuilder, rng: GeneratorValue, size: Value = NONE, dtype: Value = FLOAT64, out: Value = NONE) -> Value:
    """Uniform numbers in [0, 1)."""
    return _standard(b, rng, "random", {}, size, dtype, out)


@implements(GENERATOR.standard_normal)
def standard_normal(
    b: OpBuilder, rng: GeneratorValue, size: Value = NONE, dtype: Value = FLOAT64, out: Value = NONE
) -> Value:
    """Normally distributed numbers of mean 0 and deviation 1."""
    return _standard(b, rng, "standard_normal", {}, size, dtype, out)


@implements(GENERATOR.standard_exponential)
def standard_exponential(
    b: OpBuilder,
    rng: GeneratorValue,
    size: Value = NONE,
    dtype: Value = FLOAT64,
    method: Value = Static("zig"),  # noqa: B008
    out: Value = NONE,
) -> Value:
    """Exponentially distributed numbers of scale 1, by the ziggurat or by inversion."""
    how = "inv" if b.static(method, "method") != "zig" else ""
    return _standard(b, rng, "standard_exponential", {}, size, dtype, out, how)


@implements(GENERATOR.standard_gamma)
def standard_gamma(
    b: OpBuilder, rng: GeneratorValue, shape: Value, size: Value = NONE, dtype: Value = FLOAT64, out: Value = NONE
) -> Value:
    """Numbers of the gamma distribution of scale 1."""
    found = as_floats(b, shape)
    require(b, "shape", found, ">=0")
    return _standard(b, rng, "standard_gamma", {"shape": found}, size, dtype, out)


def _standard(
    b: OpBuilder, rng: GeneratorValue, method: str, inputs: Inputs, size: Value, dtype: Value, out: Value, how: str = ""
) -> Value:
    wanted = b.dtype_argument(dtype) or types.float64
    if wanted not in PRECISIONS:
        message = f"Unsupported dtype {wanted.numpy!r} for {method}"
        raise b.error(message, notes=("NumPy raises TypeError here",), help="use np.float64 or np.float32")
    target = _out(b, out, size, wanted)
    converted = {name: as_floats(b, value, wanted) for name, value in inputs.items()}
    found = draw(b, rng, method, converted, size, wanted, target, how)
    return found if target is not None else as_python(found)


def _out(b: OpBuilder, out: Value, size: Value, dtype: DType) -> ArrayValue | None:
    """The array that ``out=`` names, which must have the size and dtype of the result."""
    if out == NONE:
        return None
    if not isinstance(out, ArrayValue):
        raise b.error(f"out= must be an array, but is {b.describe(out)}", notes=("NumPy raises TypeError here",))
    if out.dtype != dtype:
        raise WillRaise(
            "TypeError",
            f"Supplied output array has the wrong type. Expected {dtype.numpy_name}, got {out.dtype.numpy_name}",
        )
    if size != NONE:
        wanted, message = b.shape_argument(size), "size must match out.shape when used together"
        if len(wanted) != out.rank:
            raise WillRaise("ValueError", message)
        for left, right in zip(wanted, out.shape, strict=True):
            b.same_size(left, right, message)
    return out

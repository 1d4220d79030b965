"""Multivariate distributions: Dirichlet, multinomial, normal with a covariance, hypergeometric."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    GeneratorValue,
    Static,
    TupleValue,
    Value,
    integer,
    is_number,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.random.distributions import GENERATOR, library, output_shape, scalar_operand, standard_normal
from dcpy.frontend.numpy.random.parameter_checks import as_floats, as_integers, number, require, require_all
from dcpy.ir import types
from dcpy.ir.expressions.scalar import op
from dcpy.ir.symbolic import Expr, product_of
from dcpy.ir.types import DType

WARN = Static("warn")
SVD = Static("svd")
MARGINALS = Static("marginals")
TOLERANCE = Static(1e-8)
MOST_COLORS = 10**9  # balls in all that the method of marginals takes


def _vectors(
    b: OpBuilder, rng: GeneratorValue, method: str, inputs: dict[str, ArrayValue], shape: tuple[Expr, ...],
    length: Expr,
    dtype: DType, how: str = "",
) -> Value:  # fmt: skip
    """An array of vectors: one node fills its rows."""
    out = b.empty((product_of(*shape), length), dtype)
    library(b, "random.vectors", rng, inputs, {"out": out}, method=method, how=how)
    return b.reshape(out, (*shape, length))


@implements(GENERATOR.dirichlet)
def dirichlet(b: OpBuilder, rng: GeneratorValue, alpha: Value, size: Value = NONE) -> Value:
    """Vectors of positive numbers whose sum is 1."""
    found = b.array(as_floats(b, alpha))
    if found.rank != 1:
        raise WillRaise("ValueError", "alpha must be one-dimensional")
    require_all(b, lambda x: op("not", op("lt", x, number(0, x))), "alpha < 0", found)
    shape = () if size == NONE else b.shape_argument(size)
    return _vectors(b, rng, "dirichlet", {"alpha": found}, shape, b.exact(found.shape[0]), types.float64)


@implements(GENERATOR.multinomial)
def multinomial(b: OpBuilder, rng: GeneratorValue, n: Value, pvals: Value, size: Value = NONE) -> Value:
    """Return the counts of the outcomes of `n` experiments."""
    count, p = as_integers(b, n), b.array(as_floats(b, pvals))
    if not p.rank or p.shape[-1].constant == 0:
        message = "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
        raise WillRaise("ValueError", message)
    require_all(
        b,
        lambda x: op("and", op("ge", x, number(0, x)), op("le", x, number(1, x))),
        "pvals < 0, pvals > 1 or pvals contains NaNs",
        p,
    )
    b.call(Static(_check_sums if p.rank > 1 else _check_sum), p)
    require(b, "n", count, ">=0")
    first = b.subscript(p, (Static(Ellipsis), Static(0))) if p.rank > 1 else Static(0.0)
    shape = output_shape(b, {"n": count, "p": first}, size) or ()
    length = b.exact(p.shape[-1])
    rows = product_of(*shape)
    inputs = {
        "n": scalar_operand(b, count) if is_number(count) else _flat(b, b.broadcast_to(b.array(count), shape), (rows,)),
        "p": p if p.rank == 1 else _flat(b, b.broadcast_to(p, (*shape, length)), (rows, length)),
    }
    return _vectors(b, rng, "multinomial", inputs, shape, length, types.int64)


def _flat(b: OpBuilder, value: ArrayValue, shape: tuple[Expr, ...]) -> ArrayValue:
    found = b.reshape(value, shape)
    assert isinstance(found, ArrayValue)
    return found


def _check_sum(p: Any) -> None:
    if np.sum(p[:-1]) > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")


def _check_sums(p: Any) -> None:
    if np.any(np.sum(p[..., :-1], axis=-1) > 1.0 + 1e-12):
        raise ValueError("sum(pvals[...,:-1]) > 1.0")


@implements(GENERATOR.multivariate_hypergeometric)
def multivariate_hypergeometric(
    b: OpBuilder, rng: GeneratorValue, colors: Value, nsample: Value, size: Value = NONE, method: Value = MARGINALS
) -> Value:
    """Return the number of balls of each color among those drawn from an urn."""
    how = b.static(method, "method")
    if how not in ("marginals", "count"):
        raise WillRaise("ValueError", 'method must be "count" or "marginals".')
    found, sample = b.array(as_integers(b, colors)), as_integers(b, nsample)
    message = f"colors must be a one-dimensional sequence of nonnegative integers not exceeding {2**63 - 1}."
    if found.rank != 1:
        raise WillRaise("ValueError", message)
    require_all(b, lambda x: op("ge", x, number(0, x)), message, found)
    require_all(b, lambda x: op("ge", x, number(0, x)), "nsample must be nonnegative.", sample)
    total = b.call(Static(np.sum), found)
    if how == "marginals":
        limit = f'When method is "marginals", sum(colors) must be less than {MOST_COLORS}.'
        require_all(b, lambda x: op("lt", x, number(MOST_COLORS, x)), limit, total)
    require_all(b, lambda x, y: op("le", x, y), "nsample > sum(colors)", sample, total)
    shape = () if size == NONE else b.shape_argument(size)
    inputs = {"colors": found, "nsample": scalar_operand(b, sample)}
    method_name = "multivariate_hypergeometric"
    return _vectors(b, rng, method_name, inputs, shape, b.exact(found.shape[0]), types.int64, how)


# -- the normal distribution -----------------------------------------------------------------------------------------


@implements(GENERATOR.multivariate_normal)
def multivariate_normal(
    b: OpBuilder,
    rng: GeneratorValue,
    mean: Value,
    cov: Value,
    size: Value = NONE,
    check_valid: Value = WARN,
    tol: Value = TOLERANCE,
    *,
    method: Value = SVD,
) -> Value:
    """Normally distributed vectors: standard ones, times a root of the covariance (equal to rounding of products)."""
    how, check = b.static(method, "method"), b.static(check_valid, "check_valid")
    if how not in FACTORS:
        raise WillRaise("ValueError", "method must be one of {'eigh', 'svd', 'cholesky'}")
    if check not in ("warn", "raise", "ignore"):
        raise WillRaise("ValueError", "check_valid must equal 'warn', 'raise', or 'ignore'")
    center, matrix = b.array(as_floats(b, mean)), b.array(as_floats(b, cov))
    if center.rank != 1:
        raise WillRaise("ValueError", "mean must be 1 dimensional")
    square = "cov must be 2 dimensional and square"
    if matrix.rank != 2:
        raise WillRaise("ValueError", square)
    b.same_size(matrix.shape[0], matrix.shape[1], square)
    b.same_size(center.shape[0], matrix.shape[0], "mean and cov must have same length")
    length = integer(b.exact(center.shape[0]))
    sizes = () if size == NONE else tuple(map(integer, b.shape_argument(size)))
    noise = standard_normal(b, rng, TupleValue((*sizes, length)))
    found = b.call(Static(FACTORS[how]), matrix, tol)
    assert isinstance(found, TupleValue)
    factor, is_valid = found.items
    if check != "ignore" and how != "cholesky":
        exception = "RuntimeWarning" if check == "warn" else "ValueError"
        message = "covariance is not symmetric positive-semidefinite."
        require_all(b, lambda valid: valid, message, is_valid, exception=exception)
    return b.call(Static(_transformed), noise, center, factor)


def _by_svd(cov: Any, tol: Any) -> Any:
    u, s, vh = np.linalg.svd(cov)
    return u * np.sqrt(s), np.allclose(np.dot(vh.T * s, vh), cov, rtol=tol, atol=tol)


def _by_eigh(cov: Any, tol: Any) -> Any:
    s, u = np.linalg.eigh(cov)
    return u * np.sqrt(np.abs(s)), not np.any(s < -tol)


def _by_cholesky(cov: Any, tol: Any) -> Any:
    return np.linalg.cholesky(cov), True


FACTORS = {"svd": _by_svd, "eigh": _by_eigh, "cholesky": _by_cholesky}


def _transformed(noise: Any, mean: Any, factor: Any) -> Any:
    rows = noise.reshape(-1, len(mean))
    return (mean + rows @ factor.T).reshape(noise.shape)

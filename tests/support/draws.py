"""Programs that draw with each method of NumPy's ``Generator``, with its keywords: what the tests of both sides run.

`a` is a vector of six positive floats, `n` a small positive integer.
"""

from typing import Any

import numpy as np


def standard(rng, a, n) -> Any:
    return (
        rng.random(),
        rng.random(dtype=np.float32),
        rng.random(5),
        rng.random((2, n), dtype=np.float32),
        rng.random(size=()),
        rng.random(0),
        rng.random(out=np.zeros((4, 3)).T),
        rng.standard_normal(),
        rng.standard_normal((n, 2)),
        rng.standard_normal(7, dtype="f4"),
        rng.standard_exponential(),
        rng.standard_exponential(7),
        rng.standard_exponential(7, dtype=np.float32),
        rng.standard_exponential(method="inv"),
        rng.standard_exponential((2, 2), method="inv"),
        rng.standard_exponential(3, dtype=np.float32, method="inv"),
        rng.standard_exponential(out=np.zeros((4, 3)).T, method="inv"),
        rng.standard_gamma(2.0),
        rng.standard_gamma(0.5, (2, 2), np.float32),
        rng.standard_gamma(a),
        rng.standard_gamma(a, dtype=np.float32),
        rng.standard_normal(6, np.float64, a),
    )


def parameters(rng, a, n) -> Any:
    """What parameters may be, and how they broadcast."""
    return (
        rng.normal(),
        rng.normal(n, 2),
        rng.normal(1.0, np.float32(2.0), size=4),
        rng.normal(a[0], a[1]),
        rng.normal(a, 0.5),
        rng.normal([1, 2, 3]),
        rng.normal(loc=a[:, None], scale=a[:n]),
        rng.normal(0.0, a, (2, 6)),
        rng.normal(a, size=6),
        rng.normal(a[::2], a[1::2]),
        rng.normal(np.arange(3), scale=np.float32([1, 2, 3])),
        rng.normal(size=(n, n)).T,
        rng.uniform(),
        rng.uniform(-n, a),
        rng.uniform(low=-1.0, high=np.float64(3.0), size=(2, 2)),
    )


def positive(rng, a, n) -> Any:
    """Distributions of positive numbers."""
    return (
        rng.exponential(),
        rng.exponential(2.0, n),
        rng.exponential(a),
        rng.gamma(2.0),
        rng.gamma(0.5, 2.0, size=4),
        rng.gamma(a, a),
        rng.beta(0.5, 0.5),
        rng.beta(3, 2, size=(2, n)),
        rng.beta(a, 2 * a),
        rng.chisquare(3),
        rng.chisquare(a),
        rng.noncentral_chisquare(0.5, 1),
        rng.noncentral_chisquare(a, a),
        rng.f(3, 4),
        rng.f(a, 3, (2, 6)),
        rng.noncentral_f(3, 4, 1),
        rng.noncentral_f(a, 3, a),
        rng.pareto(2, n),
        rng.weibull(a),
        rng.weibull(0),
        rng.power(2, n),
        rng.rayleigh(),
        rng.lognormal(),
        rng.lognormal(a, 0.5),
        rng.wald(1, 2, size=n),
    )


def symmetric(rng, a, n) -> Any:
    """Distributions over the whole line, or the circle, and over an interval."""
    return (
        rng.standard_t(3),
        rng.standard_t(a),
        rng.standard_cauchy(),
        rng.standard_cauchy((2, n)),
        rng.laplace(size=n),
        rng.laplace(a, 2),
        rng.gumbel(),
        rng.gumbel(a, a),
        rng.logistic(1.0, size=(n, 1)),
        rng.vonmises(0, 1),
        rng.vonmises(a, a),
        rng.vonmises(0, 1e-9, size=2),
        rng.vonmises(0, 1e7, size=2),
        rng.triangular(0, 1, 2),
        rng.triangular(-a, a, a + 1),
        rng.triangular(n, n, n + 1, size=n),
    )


def counts(rng, a, n) -> Any:
    """Discrete distributions; each has several algorithms."""
    return (
        rng.poisson(),
        rng.poisson(n, size=4),
        rng.poisson([0.1, 20, 1e5]),
        rng.binomial(10.0, 0.5, size=[2, n]),
        rng.binomial(1000, 0.9, size=4),
        rng.binomial(n, a / 10),
        rng.binomial([10, 200, 3000], 0.7, (2, 3)),
        rng.negative_binomial(3, 0.5),
        rng.negative_binomial(a, 0.3),
        rng.geometric(0.5),
        rng.geometric(a / 10),
        rng.hypergeometric(10, 10, 5),
        rng.hypergeometric([10, 200], n + 30, [3, 15]),
        rng.logseries(0.5),
        rng.logseries(a / 10),
        rng.zipf(2.0, n),
        rng.zipf(a + 1.5),
    )


def integers(rng, a, n) -> Any:
    return (
        rng.integers(10),
        rng.integers(7, dtype=int),
        rng.integers(2, dtype=bool),
        rng.integers(5, 10, size=7),
        rng.integers(0, 2**40, size=(2, 3)),
        rng.integers(0, 2**32, size=3),
        rng.integers(-(2**63), 2**63, size=3),
        rng.integers(0, 2**64, size=3, dtype=np.uint64),
        rng.integers(0, 2**32, size=3, dtype=np.uint32),
        rng.integers(-100, 100, size=9, dtype=np.int32),
        rng.integers(-100, 100, 9, np.int16),
        rng.integers(-100, 100, size=9, dtype="i1"),
        rng.integers(0, 256, size=9, dtype=np.uint8),
        rng.integers(0, 1, size=9, dtype=bool, endpoint=True),
        rng.integers(n, 9, endpoint=True, size=5),
        rng.integers(0, n, size=5, dtype=np.int32),
        rng.integers(0, [3, 4, 500], size=(4, 3)),
        rng.integers([0, 1, 2], 9, dtype=np.uint8),
        rng.integers([0, 1, 2], [[9], [8]], dtype=np.int16, endpoint=True),
        rng.integers([-5, n], 2**33),
        rng.integers(0, [1, 2], dtype=bool),
        rng.integers(n, 2, size=0),
        rng.integers(1e6, size=a.shape),
        rng.integers(5, size=()),
    )


def orders(rng, a, n) -> Any:
    table = np.arange(24).reshape(2, 3, 4)
    rng.shuffle(a)
    rng.shuffle(a[::2])
    rng.shuffle(table, axis=2)
    return (
        a,
        table,
        rng.permutation(10),
        rng.permutation(n),
        rng.permutation(a),
        rng.permutation(table),
        rng.permutation(table, axis=1),
        rng.permuted(a),
        rng.permuted(table),
        rng.permuted(table, axis=1),
        rng.permuted(table, axis=-1, out=np.zeros((2, 3, 4), np.int64)),
    )


def choices(rng, a, n) -> Any:
    table, p = a.reshape(3, 2), a / a.sum()
    return (
        rng.choice(5),
        rng.choice(n, ()),
        rng.choice(5, 7),
        rng.choice(a),
        rng.choice(a, (2, 3)),
        rng.choice(a, ()),
        rng.choice(table),
        rng.choice([3, 4, 5], n),
        rng.choice(np.array(5)),
        rng.choice(table, 4),
        rng.choice(table, 4, axis=1),
        rng.choice(a, 4, replace=False),
        rng.choice(a, (2, 2), False),
        rng.choice(table, replace=False, axis=1),
        rng.choice(100, 20, replace=False, shuffle=False),
        rng.choice(10000, 9000, replace=False),
        rng.choice(20000, 400, replace=False),
        rng.choice(20000, 401, replace=False),
        rng.choice(20000, 1001, replace=False, shuffle=False),
        rng.choice(6, p=p),
        rng.choice(a, 5, p=p),
        rng.choice(6, 6, replace=False, p=p),
        rng.choice(6, replace=False, p=p),
        rng.choice(0, 0),
    )


def vectors(rng, a, n) -> Any:
    p = a / a.sum()
    return (
        rng.dirichlet([1, 2, 3]),
        rng.dirichlet(a, (2, n)),
        rng.dirichlet(a / 100, 4),
        rng.dirichlet([0.05, 0.01, 0.0], 5),
        rng.dirichlet([0, 0]),
        rng.multinomial(20, [0.2, 0.3, 0.5]),
        rng.multinomial(n, p, (2, 3)),
        rng.multinomial([3, 100, 2000], p, size=(2, 3)),
        rng.multinomial([[5], [6]], [[0.5, 0.5], [0.1, 0.9]]),
        rng.multivariate_hypergeometric([16, 8, 4], 6, size=(2, 3)),
        rng.multivariate_hypergeometric([16, 8, 4], n, 4, "count"),
        rng.multivariate_hypergeometric([16, 8, 4], 0, size=3),
    )


PROGRAMS = (standard, parameters, positive, symmetric, counts, integers, orders, choices, vectors)
ARGUMENTS = (np.arange(1, 7) / 2, 3)

"""S-2: slices whose bounds are known at run time: one version where they fit, one for everything else."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.frontend.specialize.types_from_call import types_from_call
from dcpy.ir.interp import run
from dcpy.transforms.simplify.pipeline import simplify


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(weights)):
        w, v = weights[i], values[i]
        best[w:] = np.maximum(best[w:], best[:-w] + v)
    return best


def scan(x):
    v = x.copy()
    n, d = len(v), 1
    while d < n:
        old = v.copy()
        v[d:] = old[d:] + old[: n - d]
        d *= 2
    return v


def stencil(a, b, n, radius):
    for r in range(1, radius + 1):
        b[r : n - r, r : n - r] += a[r : n - r, 2 * r : n] - a[0 : n - 2 * r, r : n - r]


def correlation(x, lags):
    out = np.zeros(len(lags))
    for i in range(len(lags)):
        d = lags[i]
        out[i] = np.sum(x[d:] * x[: len(x) - d])
    return out


def between(x, y, starts, stops):
    for k in range(len(starts)):
        lo, hi = starts[k], stops[k]
        y[lo:hi] += 2 * x[lo:hi]


def moved(x, starts, sizes):
    for k in range(len(starts)):
        i, n = starts[k], sizes[k]
        x[i : i + n] = x[:n] + x[n : 2 * n]


def windows(x, starts, others):
    for k in range(len(starts)):
        i, j = starts[k], others[k]
        x[i : i + 3] = x[j : j + 3] * x[-i:]


def ints(*values):
    return np.array(values, dtype=np.int64)


FIT = [
    (knapsack, (ints(3, 1, 5), np.array([2.0, 3.0, 4.0]), 9)),
    (scan, (np.arange(9.0),)),
    (stencil, (np.arange(81.0).reshape(9, 9), np.ones((9, 9)), 9, 3)),
    (correlation, (np.arange(7.0), ints(0, 1, 3))),
    (between, (np.arange(7.0), np.ones(7), ints(0, 2, 3), ints(2, 5, 7))),
    (moved, (np.arange(12.0), ints(1, 2, 6), ints(3, 2, 5))),
]


def lowered(function, values):
    bound = dict(zip(function.__code__.co_varnames, values, strict=False))
    sdfg = lower_function(function, types_from_call(bound), examples=bound).sdfg
    simplify(sdfg, check=True)
    return sdfg


def outcome(call, values):
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    try:
        result = call(*copies)
    except (ValueError, IndexError) as error:
        return type(error).__name__
    return [np.asarray(part).tolist() for part in (result, *copies) if part is not None]


@pytest.mark.parametrize(("function", "values"), FIT, ids=lambda found: getattr(found, "__name__", ""))
def test_where_slices_fit_nothing_is_clamped(function, values):
    """S-2: the version for slices that fit has no minimum, no maximum and no check in it."""
    text = str(dcpy.SDFG.of(lowered(function, values)))
    before, fast, *rest = text.split("    if ", 1)[0], *text.split("    if ", 1)[1].split("} else {", 1)
    assert rest
    assert "min(" not in fast
    assert "max(" not in fast.replace("out = max(", "")  # np.maximum
    assert "check " not in fast
    assert "min(" not in before.replace("assumes", "")


@pytest.mark.parametrize(("function", "values"), FIT, ids=lambda found: getattr(found, "__name__", ""))
def test_values_where_slices_fit(function, values):
    sdfg = lowered(function, values)
    names = function.__code__.co_varnames
    assert outcome(lambda *given: run(sdfg, dict(zip(names, given, strict=False))), values) == outcome(function, values)


def test_any_bounds_mean_what_numpy_means():
    """S-2: negative, zero, far too large, empty, stretching and raising: values and exceptions are NumPy's."""
    rng = np.random.default_rng(7)
    programs = {
        knapsack: lambda n, k: (ints(*k), rng.random(len(k)), n),
        correlation: lambda n, k: (rng.random(n), ints(*k)),
        between: lambda n, k: (rng.random(n), rng.random(n), ints(*k), ints(*k[::-1])),
        moved: lambda n, k: (rng.random(n), ints(*k), ints(*k[::-1])),
        windows: lambda n, k: (rng.random(n), ints(*k), ints(*k[::-1])),
    }
    for function, arguments in programs.items():
        sdfg = lowered(function, arguments(9, [1, 2, 3]))
        names, met = function.__code__.co_varnames, set()
        for _ in range(60):
            n, few = int(rng.integers(2, 12)), int(rng.integers(2, 4))
            values = arguments(n, [int(k) for k in rng.integers(-14, 15, few)])
            wanted = outcome(function, values)
            met.add(wanted if isinstance(wanted, str) else "values")
            found = outcome(lambda *given, sdfg=sdfg: run(sdfg, dict(zip(names, given, strict=False))), values)
            assert found == wanted, (function.__name__, values)
        assert "values" in met


def test_lists_take_slices_as_before():
    """A store to a list binds what the list holds from then on: it has one version."""

    def head(x, k):
        items = [1.0, 2.0, 3.0]
        items[0:1] = [x[0]]
        x[k:] = x[k:] * items[0]
        return items[0]

    values = (np.arange(2.0, 6.0), 1)
    sdfg = lowered(head, values)
    assert outcome(lambda x, k: run(sdfg, {"x": x, "k": k}), values) == outcome(head, values)


def test_bounds_are_numbered_by_value():
    """S-2: in the general version, too, a bound that occurs twice is computed once."""
    text = str(dcpy.SDFG.of(lowered(*FIT[1])))
    assert text.count("let bound") == 2  # of d and of n - d, each mentioned twice


@pytest.mark.cc
@pytest.mark.parametrize(("function", "values"), FIT, ids=lambda found: getattr(found, "__name__", ""))
def test_compiled(function, values):
    assert outcome(dcpy.program(function), values) == outcome(function, values)

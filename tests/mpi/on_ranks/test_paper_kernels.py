"""Kernels of the paper's figure on real ranks, with vectors in blocks, too: values are those of one rank."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.mpi
N, M = 23, 17


def atax(A, x):
    return (A @ x) @ A


def bicg(A, p, r):
    return r @ A, A @ p


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


def arguments(name):
    """By kernel: the shapes of its arguments, or their values."""
    return {
        "atax": [(N, M), (M,)],
        "bicg": [(N, M), (M,), (N,)],
        "gemver": [1.5, 1.25, (N, N), *[(N,)] * 8],
        "gesummv": [1.5, 1.25, (N, N), (N, N), (N,)],
        "mvt": [(N,), (N,), (N,), (N,), (N, N)],
    }[name]


KERNELS = {f.__name__: f for f in (atax, bicg, gemver, gesummv, mvt)}
PROGRAMS = {name: dcpy.program(distributed=True, auto_optimize=True)(f) for name, f in KERNELS.items()}


def whole(value):
    return value.allgather() if isinstance(value, dcpy.DistArray) else value


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_of_the_paper(name):
    draw, grid = np.random.default_rng(0), dcpy.grid()
    ours, its = [], []
    for value in arguments(name):
        if not isinstance(value, tuple):
            ours.append(value)
            its.append(value)
            continue
        array = draw.random(value)
        its.append(array.copy())
        ours.append(dcpy.distribute(array, grid, ("block",) * len(value)))
    found, expected = PROGRAMS[name](*ours), KERNELS[name](*its)
    for mine, wanted in zip([*ours, *_results(found)], [*its, *_results(expected)], strict=True):
        np.testing.assert_allclose(whole(mine), wanted, rtol=1e-12, atol=1e-12)


def _results(value):
    return value if isinstance(value, tuple) else () if value is None else (value,)

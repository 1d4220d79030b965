"""The kernels of the paper's figure on real ranks, with matrices in blocks: values are those of one rank."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.mpi
N, M, K = 23, 17, 11


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


def jacobi_1d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


def k3mm(A, B, C, D):
    return A @ B @ C @ D


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
        "jacobi_1d": [5, (N,), (N,)],
        "k2mm": [1.5, 1.25, (N, K), (K, M), (M, N), (N, N)],
        "k3mm": [(N, K), (K, M), (M, N), (N, K)],
        "mvt": [(N,), (N,), (N,), (N,), (N, N)],
    }[name]


KERNELS = {f.__name__: f for f in (atax, bicg, gemver, gesummv, jacobi_1d, k2mm, k3mm, mvt)}
PROGRAMS = {name: dcpy.program(distributed=True, auto_optimize=True)(f) for name, f in KERNELS.items()}


def whole(value):
    return value.allgather() if isinstance(value, dcpy.DistArray) else value


@pytest.mark.parametrize(("name", "vectors"), [*((name, "dealt") for name in KERNELS), ("mvt", "whole")])
def test_a_kernel_of_the_paper(name, vectors):
    draw, grid = np.random.default_rng(0), dcpy.grid()
    ours, its = [], []
    for value in arguments(name):
        if not isinstance(value, tuple):
            ours.append(value)
            its.append(value)
            continue
        array = draw.random(value)
        its.append(array.copy())
        dealt = len(value) == 2 or vectors == "dealt"
        ours.append(dcpy.distribute(array, grid, ("block",) * len(value)) if dealt else array)
    found, expected = PROGRAMS[name](*ours), KERNELS[name](*its)
    for mine, wanted in zip([*ours, *_results(found)], [*its, *_results(expected)], strict=True):
        np.testing.assert_allclose(whole(mine), wanted, rtol=1e-12, atol=1e-12)


def _results(value):
    return value if isinstance(value, tuple) else () if value is None else (value,)

"""Kernels of the paper's figure 12 as plain NumPy, and the sizes of their arguments for so many ranks.

Nothing here needs a compiler: what is compared imports it, each in an environment of its own. `x[:] += y` changes the
caller's array also where arrays are values (Dask).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def atax(A, x):
    """A matrix twice."""
    return (A @ x) @ A


def bicg(A, p, r):
    """A matrix, and its transpose."""
    return r @ A, A @ p


def doitgen(A, C4):
    """One small matrix for each row of planes."""
    A[:] = A @ C4


def gemm(alpha, beta, C, A, B):
    """A product."""
    C[:] = alpha * A @ B + beta * C


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """A matrix that is changed, and read twice."""
    A[:] += np.outer(u1, v1) + np.outer(u2, v2)
    x[:] += beta * y @ A + z
    w[:] += alpha * A @ x


def gesummv(alpha, beta, A, B, x):
    """Two matrices."""
    return alpha * A @ x + beta * B @ x


def jacobi_1d(steps, A, B):
    """A stencil on a line: hardly any work between messages."""
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(steps, A, B):
    """A stencil in the plane."""
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def k2mm(alpha, beta, A, B, C, D):
    """Two products."""
    D[:] = alpha * A @ B @ C + beta * D


def k3mm(A, B, C, D):
    """Three products."""
    return A @ B @ C @ D


def mvt(x1, x2, y1, y2, A):
    """A matrix and its transpose, added to what is there."""
    x1[:] += A @ y1
    x2[:] += y2 @ A


#: kernel -> numbers and shapes of its arguments, with the work of so many ranks
ARGUMENTS: dict[Callable[..., Any], Callable[[int], list[Any]]] = {
    atax: lambda p: [(_root(2000, p, 2), _root(2500, p, 2)), (_root(2500, p, 2),)],
    bicg: lambda p: [(_root(2500, p, 2), _root(2000, p, 2)), (_root(2000, p, 2),), (_root(2500, p, 2),)],
    doitgen: lambda p: [(16 * p, 128, 128), (128, 128)],
    gemm: lambda p: [1.5, 1.25, *_shapes(p, (800, 920), (800, 520), (520, 920))],
    gemver: lambda p: [1.5, 1.25, (_root(2300, p, 2),) * 2, *[(_root(2300, p, 2),)] * 8],
    gesummv: lambda p: [1.5, 1.25, *[(_root(2240, p, 2),) * 2] * 2, (_root(2240, p, 2),)],
    jacobi_1d: lambda p: [501, (24000 * p,), (24000 * p,)],
    jacobi_2d: lambda p: [21, *[(_root(1300, p, 2),) * 2] * 2],
    k2mm: lambda p: [1.5, 1.25, *_shapes(p, (640, 720), (720, 440), (440, 480), (640, 480))],
    k3mm: lambda p: _shapes(p, (640, 720), (720, 400), (400, 440), (440, 480)),
    mvt: lambda p: [*[(_root(2200, p, 2),)] * 4, (_root(2200, p, 2),) * 2],
}
GRID_OF_ONE_AXIS = ("doitgen", "jacobi_1d")  # first dimensions alone are cut
KERNELS = {kernel.__name__: kernel for kernel in ARGUMENTS}


def _shapes(ranks: int, *shapes: tuple[int, int]) -> list[Any]:
    """Of matrices of a product, whose work is the product of three sizes."""
    return [(_root(rows, ranks, 3), _root(columns, ranks, 3)) for rows, columns in shapes]


def _root(size: int, ranks: int, dims: int) -> int:
    return round(size * ranks ** (1 / dims))

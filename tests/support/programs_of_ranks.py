"""Programs that run on ranks in all layouts, and what they are called with: a table for virtual ranks and for MPI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = (13, 4, 2)
#: of each dimension in turn: dealt out in blocks, one by one, or two by two; those of two run on a grid of two axes
LAYOUTS: tuple[tuple[str, ...], ...] = (
    ("block 0",), ("cyclic 0",), ("cyclic 0 by 2",), ("block 0", "block 1"), ("cyclic 0", "block 1"),
    ("cyclic 0 by 2", "cyclic 1"),
)  # fmt: skip
GRIDS = {2: (2, 1), 3: (1, 3), 4: (2, 2)}


@dataclass(frozen=True)
class Program:
    """A function of arrays, and its arguments for a size."""

    function: Callable[..., Any]
    arguments: Callable[[int], list[Any]]

    def expected(self, size: int) -> tuple[list[Any], list[Any]]:
        """The results, and the arguments afterwards."""
        arguments = self.arguments(size)
        found = self.function(*arguments)
        return list(found) if isinstance(found, tuple) else [] if found is None else [found], arguments


PROGRAMS: dict[str, Program] = {}


def program(arguments: Callable[[int], list[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function in the table."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = Program(function, arguments)
        return function

    return enter


def cases(ranks: int, count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each program in so many of the layouts, others for other numbers of ranks."""
    for number, name in enumerate(PROGRAMS):
        for turn in range(count):
            yield name, LAYOUTS[(number + 2 * (ranks - 2) + turn) % len(LAYOUTS)]


def layout_of(value: Any, layout: tuple[str, ...]) -> tuple[str, ...] | None:
    """How an argument is dealt out: floats are; an array of fewer dimensions has the first ones of the layout."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return None
    return (*layout, *("whole",) * value.ndim)[: value.ndim]


def line(n: int) -> Any:
    return np.random.default_rng(n).random(n) - 0.5


def square(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(n + seed).random((n, n)) - 0.5


@program(lambda n: [line(n), np.zeros(n)])
def roll(x, y):
    a = np.roll(x, 1)
    y[:] = a * 2
    return a + np.roll(x, -3)


@program(lambda n: [square(n), np.arange(n) - 1])
def roll_rows(A, c):
    for i in range(A.shape[0]):
        A[i] = np.roll(A[i], c[i], 0)


@program(lambda n: [3, square(n)])
def roll_grid(steps, A):
    for _ in range(steps):
        A[:] = A + 0.1 * (np.roll(A, 1, 0) + np.roll(np.roll(A, -1, 0), 1, 1) - 2 * A)


@program(lambda n: [9, line(n)])
def stencil_in_place(steps, A):
    for _ in range(steps):
        A[1:-1] = 0.5 * (A[:-2] + A[2:])


@program(lambda n: [5, line(n), line(n) + 1])
def stencil_of_two(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = 0.5 * (B[:-2] + B[2:])


@program(lambda n: [5, square(n)])
def stencil_of_squares(steps, A):
    for _ in range(steps):
        A[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])


@program(lambda n: [3, np.round(square(n) + 0.6)])
def life_by_slices(steps, A):
    for _ in range(steps):
        near = (A[:-2, :-2] + A[:-2, 1:-1] + A[:-2, 2:] + A[1:-1, :-2] + A[1:-1, 2:]
                + A[2:, :-2] + A[2:, 1:-1] + A[2:, 2:])  # fmt: skip
        A[1:-1, 1:-1] = np.where((near == 3) | ((near == 2) & (A[1:-1, 1:-1] == 1)), 1.0, 0.0)


@program(lambda n: [3, line(n)])
def reflecting_edges(steps, A):
    for _ in range(steps):
        A[1:-1] = A[1:-1] + 0.1 * (A[:-2] - 2 * A[1:-1] + A[2:])
        A[0] = A[1]
        A[-1] = A[-2]


@program(lambda n: [square(n)])
def reductions(A):
    return A.sum(axis=0), A.max(axis=1), A.mean(), A.min(), np.argmax(A)


@program(lambda n: [square(n), square(n, 1), line(n)])
def products(A, B, x):
    A += B * 0.5
    return A @ B, A @ x, x @ B, np.outer(x, x)


@program(lambda n: [line(n), np.zeros(n)])
def strided(x, y):
    y[::2] = x[::2] * 2
    y[1::2] = y[1::2] - x[:-1:2]
    return x[::-1] + y


@program(lambda n: [line(n), np.zeros(n)])
def cumulative(x, y):
    y[:] = np.cumsum(x)
    return np.cumsum(x[::-1])


@program(lambda n: [line(n), np.zeros(n), np.random.default_rng(n).permutation(n)])
def indices(x, y, k):
    y[k] = x
    return x[k] * 2


@program(lambda n: [line(n)])
def masks(x):
    x[x < 0] = 0.0
    return np.where(x > 0.2, x, -x), np.count_nonzero(x > 0.1)


@program(lambda n: [square(n)])
def transposed(A):
    A[:] = A + A.T
    return A[:, 0] - A[-1]


@program(lambda n: [square(n)])
def diagonals(A):
    return np.trace(A), np.diag(A).copy(), np.triu(A)


@program(lambda n: [square(n)])
def joined(A):
    return np.concatenate((A, A[:1])), A.reshape(-1) * 2


@program(lambda n: [3, line(n), line(n) + 1])
def swapped(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    return A


@program(lambda n: [square(n)])
def parts_of_arguments(A):
    A += 1
    return A, A[1:-1], A[:, 1:]


@program(lambda n: [line(n)])
def wide_and_asymmetric(x):
    y = np.zeros_like(x)
    y[5:-3] = x[:-8] + 2 * x[2:-6] - x[8:]
    return y


@program(lambda n: [2, square(n)])
def red_black(steps, A):
    for _ in range(steps):
        for c in range(2):
            A[1:-1:2, 1 + c : -1 : 2] = 0.5 * (A[:-2:2, 1 + c : -1 : 2] + A[2::2, 1 + c : -1 : 2])


@program(lambda n: [line(2 * n + 1)])
def coarser_and_finer(x):
    coarse = 0.25 * x[:-2:2] + 0.5 * x[1:-1:2] + 0.25 * x[2::2]
    fine = np.zeros_like(x)
    fine[1:-1:2] = coarse
    fine[2:-2:2] = 0.5 * (coarse[1:] + coarse[:-1])
    return fine


@program(lambda n: [square(n)])
def softmax_of_rows(A):
    e = np.exp(A - np.max(A, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True), np.argmin(A, axis=1), np.argmax(A, axis=0)


@program(lambda n: [square(n), 2])
def conjugate_gradients(b, steps):
    x, r, p = np.zeros_like(b), b.copy(), b.copy()
    rs = np.sum(r * r)
    for _ in range(steps):
        q = 4 * p
        q[1:, :] -= p[:-1, :]
        q[:-1, :] -= p[1:, :]
        q[:, 1:] -= p[:, :-1]
        q[:, :-1] -= p[:, 1:]
        alpha = rs / np.sum(p * q)
        x += alpha * p
        r -= alpha * q
        new = np.sum(r * r)
        p = r + (new / rs) * p
        rs = new
    return x


@program(lambda n: [square(n) + n * np.eye(n)])
def elimination(A):
    for k in range(A.shape[0] - 1):
        A[k + 1 :, k] = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k + 1 :] -= A[k + 1 :, k : k + 1] * A[k, k + 1 :]


@program(lambda n: [square(n + 2), square(3)])
def convolution(image, kernel):
    n, m = image.shape
    out = np.zeros((n - 2, m - 2))
    for i in range(3):
        for j in range(3):
            out += kernel[i, j] * image[i : n - 2 + i, j : m - 2 + j]
    return out


@program(lambda n: [np.stack([square(n), square(n, 1), square(n, 2)]), 2])
def fields_of_one_array(fields, steps):
    e, x, y = fields[0], fields[1], fields[2]
    for _ in range(steps):
        x[:, :-1] -= 0.5 * (e[:, 1:] - e[:, :-1])
        y[:-1, :] += 0.5 * (e[1:, :] - e[:-1, :])
        e[1:, 1:] += 0.5 * (y[1:, 1:] - y[:-1, 1:] - x[1:, 1:] + x[1:, :-1])


@program(lambda n: [line(n), np.random.default_rng(n).integers(0, 4, n), np.sort(line(5))])
def counts_and_places(x, k, edges):
    counts, _ = np.histogram(x, bins=3, range=(-0.5, 0.5))
    return np.bincount(k, weights=x, minlength=4), np.searchsorted(edges, x), counts


def points(n: int, seed: int = 0) -> Any:
    """Places in space whose distances are the same in any order of sums: copies on several ranks are compared."""
    return np.round(8 * square(n, seed)[:, :3]) / 8


@program(lambda n: [points(n), points(n, 1)])
def nearest(A, B):
    D = np.sqrt(np.sum((A[:, None, :] - B[None, :, :]) ** 2, axis=-1))
    return np.argmin(D, axis=1), D.min(axis=0)


@program(lambda n: [square(n), 1])
def both_directions(A, steps):
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n):
            A[i, :] = 0.5 * (A[i, :] + A[i - 1, :])
        for j in range(1, m):
            A[:, j] = 0.5 * (A[:, j] + A[:, j - 1])

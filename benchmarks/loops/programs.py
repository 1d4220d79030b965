"""The programs: plain NumPy and Python, and their arguments. Nothing of dcpy is imported here: peers read it, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

N = 1_000_000
Arguments = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """`row` is the finding that the program stands for, `peer` whom it is compared with."""

    row: str
    peer: str
    function: Callable[..., Any]
    arguments: Arguments


def norm(x):
    return np.linalg.norm(x)


def sum_of_products(x, y):
    return np.sum((x - y) * (x - y))


def periodic_dist(x):
    n = len(x)
    out = np.zeros((n, n))
    for k in range(3):
        d = x[:, k : k + 1] - x[:, k]
        d = np.abs(d - np.round(d))
        out += d * d
    return np.sqrt(out)


def create_grid(n):
    g = np.zeros((n, n, 3))
    g[:, :, 0] = np.arange(n)[:, None]
    g[:, :, 1] = np.arange(n)[None, :]
    return g.reshape((n * n, 3))


def square(x):
    return x**2


def cube(x):
    return x**3


def chosen(m, x, y):
    return np.where(m, x, y)


def masked_assignment(m, x):
    x[m] = 0.0


def table_of_bytes(x, i):
    return x[i] * 2.0


def extrema(x):
    return np.max(x), np.min(x)


def any_larger(x):
    return np.any(x > 2)


def in_place(x, y, z, out):
    np.multiply(x, y, out=out)
    out += z
    np.sqrt(out, out=out)


def nbody_step(pos, vel, mass, dt):
    n = len(mass)
    for i in range(n):
        for j in range(n):
            if i != j:
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                d2 = dx * dx + dy * dy + dz * dz + 0.01
                f = mass[j] / (d2 * np.sqrt(d2))
                vel[i, 0] += dt * f * dx
                vel[i, 1] += dt * f * dy
                vel[i, 2] += dt * f * dz
    for i in range(n):
        for k in range(3):
            pos[i, k] += dt * vel[i, k]


def halves(x):
    while len(x) > 1:
        x = x[::2] + x[1::2]
    return x[0]


def gather(a, b, ip):
    for i in range(len(ip)):
        a[i] = b[ip[i]]


def gather_sum(b, ip):
    total = 0.0
    for i in range(len(ip)):
        total += b[ip[i]]
    return total


def largest(a):
    found = a[0]
    for i in range(len(a)):
        if a[i] > found:
            found = a[i]
    return found


def sum_of_positive(a):
    total = 0.0
    for i in range(len(a)):
        if a[i] > 0.0:
            total += a[i]
    return total


def sums_of_rows(A, B, n, m):
    for i in range(n):
        for j in range(m):
            B[i] += A[i * m + j] * 2.0


def convolve(w, A, B):
    n, m = B.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(3):
                for l in range(3):  # noqa: E741
                    B[i, j] += w[k, l] * A[i + k - 1, j + l - 1]


def triad(a, b, c, s):
    for i in range(len(a)):
        a[i] = b[i] + s * c[i]


def escape_time(x, y, most):
    out = np.zeros((len(y), len(x)), dtype=np.int64)
    for i in range(len(y)):
        for j in range(len(x)):
            c = x[j] + 1j * y[i]
            z = 0j
            n = 0
            while n < most and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


def newton_roots(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        x = a[i]
        for _ in range(50):
            y = 0.5 * (x + a[i] / x)
            if abs(y - x) < 1e-12 * y:
                x = y
                break
            x = y
        out[i] = x
    return out


def collatz(a):
    steps = np.zeros(len(a), dtype=np.int64)
    for i in range(len(a)):
        n = a[i]
        while n != 1:
            n = 3 * n + 1 if n & 1 else n >> 1
            steps[i] += 1
    return steps


def clamped_lookups(a, ip):
    out = np.empty(len(ip))
    for i in range(len(ip)):
        out[i] = a[min(max(ip[i], 0), len(a) - 1)] * 2.0
    return out


def wrapped_lookups(a, ip):
    out = np.empty(len(ip))
    for i in range(len(ip)):
        out[i] = a[ip[i] % len(a)]
    return out


def interpolated(x, table):
    out = np.empty(len(x))
    last = len(table) - 1
    for i in range(len(x)):
        place = x[i] * last
        k = min(int(place), last - 1)
        out[i] = table[k] + (place - k) * (table[k + 1] - table[k])
    return out


def coordinates(places, width):
    total = 0
    for i in range(len(places)):
        total += places[i] // width * 3 + places[i] % width
    return total


def lengths_of_edges(points, edges):
    out = np.empty(len(edges))
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        dx, dy = points[a, 0] - points[b, 0], points[a, 1] - points[b, 1]
        out[e] = np.sqrt(dx * dx + dy * dy)
    return out


def diffused(u, steps):
    for _ in range(steps):
        new = u.copy()
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4 * u[1:-1, 1:-1])
        u = new
    return u


def relaxed_by_rolls(u, steps):
    for _ in range(steps):
        u = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
    return u


def cells_by_rolls(alive, steps):
    for _ in range(steps):
        near = np.zeros(alive.shape, np.int64)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    near += np.roll(alive, (dy, dx), axis=(0, 1))
        alive = (near == 3) | (alive & (near == 2))
    return alive


def cells_by_slices(alive):
    near = alive[:-2, :-2].astype(np.int64) + alive[:-2, 1:-1] + alive[:-2, 2:] + alive[1:-1, :-2]
    near = near + alive[1:-1, 2:] + alive[2:, :-2] + alive[2:, 1:-1] + alive[2:, 2:]
    after = alive.copy()
    after[1:-1, 1:-1] = (near == 3) | (alive[1:-1, 1:-1] & (near == 2))
    return after


def edges_of_image(image):
    a = image.astype(np.int64)
    across = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
    along = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
    return np.abs(across) + np.abs(along) > 128


def votes_of_four(votes):
    return votes[:, 0].astype(np.int64) + votes[:, 1] + votes[:, 2] + votes[:, 3] >= 3


def great_circles(lat, lon, first, second):
    out = np.empty(len(first))
    for k in range(len(first)):
        p, q = lat[first[k]], lat[second[k]]
        apart = np.sin((q - p) / 2) ** 2 + np.cos(p) * np.cos(q) * np.sin((lon[second[k]] - lon[first[k]]) / 2) ** 2
        out[k] = 2 * np.arcsin(np.sqrt(apart))
    return out


def sparse_rows(values, columns, x):
    out = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        total = 0.0
        for k in range(values.shape[1]):
            total += values[i, k] * x[columns[i, k]]
        out[i] = total
    return out


def rotated_points(x, y, angle):
    a, b = np.empty_like(x), np.empty_like(y)
    for i in range(len(x)):
        c, s = np.cos(angle[i]), np.sin(angle[i])
        a[i] = c * x[i] - s * y[i]
        b[i] = s * x[i] + c * y[i]
    return a, b


def neighbours_inside(grid, steps):
    out = np.zeros_like(grid)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            for k in range(len(steps)):
                y, x = i + steps[k, 0], j + steps[k, 1]
                if 0 <= y < grid.shape[0] and 0 <= x < grid.shape[1]:
                    out[i, j] += grid[y, x]
    return out


def taken_inside(a, ip):
    return np.take(a, ip, mode="clip") * 2.0


def clipped_lookups(a, ip):
    return a[np.clip(ip, 0, len(a) - 1)] + 1.0


def _vectors(count: int) -> Arguments:
    return lambda rng: tuple(rng.random(N) for _ in range(count))


PROGRAMS: dict[str, Program] = {
    program.function.__name__: program
    for program in (
        Program("S-4b", "numpy", norm, _vectors(1)),
        Program("S-4b", "numpy", sum_of_products, _vectors(2)),
        Program("S-4b", "numpy", periodic_dist, lambda rng: (rng.random((600, 3)),)),
        Program("S-4b", "numpy", create_grid, lambda rng: (600,)),
        Program("S-4b", "numpy", square, _vectors(1)),
        Program("S-4b", "numpy", cube, _vectors(1)),
        Program("S-4b", "numpy", chosen, lambda rng: (rng.random(N) > 0.5, *rng.random((2, N)))),
        Program("S-4b", "numpy", masked_assignment, lambda rng: (rng.random(N) > 0.5, rng.random(N))),
        Program("S-4b", "numpy", table_of_bytes, lambda rng: (rng.random(256), rng.integers(0, 256, N, np.uint8))),
        Program("S-4b", "numpy", extrema, lambda rng: (rng.random(30_000),)),
        Program("S-4b", "numpy", any_larger, lambda rng: (rng.random(30_000),)),
        Program("S-4b", "numpy", in_place, _vectors(4)),
        Program("S-2", "numpy", halves, lambda rng: (rng.random(1 << 20),)),
        Program("S-4b", "numba", nbody_step, lambda rng: (*rng.random((2, 300, 3)), rng.random(300), 0.01)),
        Program("S-5", "numba", gather, lambda rng: (np.zeros(N), rng.random(N), rng.integers(0, N, N))),
        Program("S-5", "numba", gather_sum, lambda rng: (rng.random(N), rng.integers(0, N, N))),
        Program("S-5", "numba", largest, _vectors(1)),
        Program("S-5", "numba", sum_of_positive, lambda rng: (rng.random(N) - 0.5,)),
        Program("S-6", "numba", sums_of_rows, lambda rng: (rng.random(N), np.zeros(1000), 1000, 1000)),
        Program("S-6", "numba", convolve, lambda rng: (rng.random((3, 3)), *rng.random((2, 600, 600)))),
        Program("R-1", "numba", escape_time, lambda rng: (np.linspace(-2, 0.5, 300), np.linspace(-1.2, 1.2, 300), 100)),
        Program("R-1", "numba", newton_roots, lambda rng: (rng.random(100_000) * 100,)),
        Program("R-1", "numba", collatz, lambda rng: (rng.integers(1, 1_000_000, 10_000),)),
        Program("F", "numba", clamped_lookups, lambda rng: (rng.random(1000), rng.integers(-5, 1005, N))),
        Program("F", "numba", wrapped_lookups, lambda rng: (rng.random(1000), rng.integers(-5, 1005, N))),
        Program("F", "numba", interpolated, lambda rng: (rng.random(N), rng.random(1000))),
        Program("F", "numba", coordinates, lambda rng: (rng.integers(0, N, N), 1000)),
        Program("F", "numba", neighbours_inside, lambda rng: (rng.random((300, 300)), rng.integers(-1, 2, (8, 2)))),
        Program("F", "numba", lengths_of_edges, lambda rng: (rng.random((1000, 2)), rng.integers(0, 1000, (N, 2)))),
        Program("F", "numba", great_circles, lambda rng: (*rng.random((2, 1000)), *rng.integers(0, 1000, (2, N)))),
        Program("F", "numba", sparse_rows, lambda rng: (rng.random((N, 7)), rng.integers(0, N, (N, 7)), rng.random(N))),
        Program("S-5", "numba", rotated_points, lambda rng: tuple(rng.random((3, N)))),
        Program("E", "numpy", diffused, lambda rng: (rng.random((300, 300)), 50)),
        Program("E", "numpy", relaxed_by_rolls, lambda rng: (rng.random((300, 300)), 50)),
        Program("E", "numpy", cells_by_rolls, lambda rng: (rng.random((300, 300)) > 0.5, 50)),
        Program("F", "numpy", cells_by_slices, lambda rng: (rng.random((500, 500)) > 0.5,)),
        Program("F", "numpy", edges_of_image, lambda rng: (rng.integers(0, 256, (500, 500), np.uint8),)),
        Program("F", "numpy", votes_of_four, lambda rng: (rng.random((100_000, 4)) > 0.5,)),
        Program("F", "numpy", taken_inside, lambda rng: (rng.random(1000), rng.integers(-5, 1005, N))),
        Program("F", "numpy", clipped_lookups, lambda rng: (rng.random(1000), rng.integers(-5, 1005, N))),
        Program("S-6", "numba", triad, lambda rng: (*rng.random((3, N)), 2.0)),
    )
}

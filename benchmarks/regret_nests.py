"""Nests of which all schedules are timed: what the optimizer chooses among them is held against the best one.

They are ordinary array code: copies, stencils, sums along each axis, products, and axes of a few elements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

SHORT = 8  #: iterations of an axis that may be written out


@dataclass(frozen=True)
class Nest:
    """A map over `axes` with one tasklet, over arguments such as ``A[N, 3]; w: f32[3]``."""

    name: str
    arguments: str
    axes: Mapping[str, str]
    body: str
    sizes: tuple[Mapping[str, int], ...]

    @cached_property
    def shapes(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The dtype and the extents of each argument."""
        found = {}
        for part in self.arguments.split("; "):
            name, dtype, extents = re.fullmatch(r"(\w+)(?:: (\w+))?\[(.*)\]", part).groups()  # type: ignore[union-attr]
            found[name] = (dtype or "f64", tuple(extents.split(", ")))
        return found

    @property
    def counts(self) -> dict[str, int]:
        """The iterations of axes whose number is known."""
        return {name: int(values[2:]) for name, values in self.axes.items() if re.fullmatch(r"0:\d+", values)}

    def text(self, axes: str) -> str:
        """The program, with maps in each other: ``i = 0:N @sequential / j = 0:M @vector``."""
        body = self.body
        for axis in reversed(axes.split(" / ")):
            body = f"map {axis} {{ {body} }}"
        given = ", ".join(f"{name}: {dtype}[{', '.join(extents)}]" for name, (dtype, extents) in self.shapes.items())
        words = {word for _, extents in self.shapes.values() for each in extents for word in re.findall(r"[A-Z]", each)}
        symbols = ", ".join(f"{name}: size" for name in sorted(words))
        return f"sdfg @f({given}) symbols({symbols}) {{ state {{ {body} }} }}"

    def made(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Arguments of these sizes."""
        rng = np.random.default_rng(3)
        dtypes = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "u8": np.uint8, "c128": np.complex128}
        numbers = {name: str(size) for name, size in sizes.items()}
        return {
            name: (rng.random([_size(each, numbers) for each in extents]) * 9 + 1).astype(dtypes[dtype])
            for name, (dtype, extents) in self.shapes.items()
        }


def _size(extent: str, numbers: Mapping[str, str]) -> int:
    """An extent such as ``N + 1``."""
    return sum(int(numbers.get(term, term)) for term in extent.split(" + "))


def tasklet(reads: str, target: str, code: str) -> str:
    return f"tasklet ({reads}) -> (o -> {target}) {{ o = {code} }}"


def _axes(text: str) -> dict[str, str]:
    return dict(part.split(" = ") for part in text.split(", "))  # type: ignore[arg-type]


SQUARES = ({"N": 40, "M": 40}, {"N": 900, "M": 900})
HALVES = ({"N": 40, "M": 40, "H": 80}, {"N": 900, "M": 900, "H": 1800})
ROWS = ({"N": 50}, {"N": 200_000})
CUBES = ({"N": 12, "M": 12, "K": 12}, {"N": 100, "M": 100, "K": 100})
IJ, IJK = "i = 0:N, j = 0:M", "i = 0:N, j = 0:M, k = 0:K"


def _nest(name: str, arguments: str, axes: str, body: str, sizes: tuple[dict[str, int], ...]) -> Nest:
    return Nest(name, arguments, _axes(axes), body, sizes)


NESTS = (
    _nest("row by row", "A[N, M]; B[N, M]", IJ, tasklet("a <- A[i, j]", "B[i, j]", "a * 2.0"), SQUARES),
    _nest("column by column", "A[M, N]; B[M, N]", IJ, tasklet("a <- A[j, i]", "B[j, i]", "a * 2.0"), SQUARES),
    _nest("transposition", "A[M, N]; B[N, M]", IJ, tasklet("a <- A[j, i]", "B[i, j]", "a"), SQUARES),
    _nest(
        "sum with transposed",
        "A[N, N]; B[N, N]",
        "i = 0:N, j = 0:N",
        tasklet("a <- A[i, j], b <- A[j, i]", "B[i, j]", "a + b"),
        ({"N": 40}, {"N": 900}),
    ),
    _nest(
        "product of halves",
        "A[H, M]; B[N, M]",
        IJ,
        tasklet("a <- A[2*i, j], b <- A[2*i + 1, j]", "B[i, j]", "a * b"),
        HALVES,
    ),
    _nest(
        "pairs along rows",
        "A[N, H]; B[N, M]",
        IJ,
        tasklet("a <- A[i, 2*j], b <- A[i, 2*j + 1]", "B[i, j]", "a + b"),
        HALVES,
    ),
    _nest("mirrored rows", "A[N, M]; B[N, M]", IJ, tasklet("a <- A[i, M - 1 - j]", "B[i, j]", "a + 1.0"), SQUARES),
    _nest("outer product", "x[N]; y[M]; A[N, M]", IJ, tasklet("a <- x[i], b <- y[j]", "A[i, j]", "a * b"), SQUARES),
    _nest(
        "rows over a vector",
        "A[N, M]; x[N]; B[N, M]",
        IJ,
        tasklet("a <- A[i, j], b <- x[i]", "B[i, j]", "a / b"),
        SQUARES,
    ),
    _nest("exponentials", "A[N, M]; B[N, M]", IJ, tasklet("a <- A[i, j]", "B[i, j]", "exp(a)"), SQUARES),
    _nest(
        "single precision", "A: f32[N, M]; B: f32[N, M]", IJ, tasklet("a <- A[i, j]", "B[i, j]", "a * a + a"), SQUARES
    ),
    _nest("complex squares", "A: c128[N, M]; B: c128[N, M]", IJ, tasklet("a <- A[i, j]", "B[i, j]", "a * a"), SQUARES),
    _nest("sums of rows", "A[N, M]; s[N]", IJ, tasklet("a <- A[i, j]", "s[i] (add)", "a"), SQUARES),
    _nest("sums of columns", "A[N, M]; s[M]", IJ, tasklet("a <- A[i, j]", "s[j] (add)", "a"), SQUARES),
    _nest("least of rows", "A[N, M]; s[N]", IJ, tasklet("a <- A[i, j]", "s[i] (min)", "a"), SQUARES),
    _nest("greatest of columns", "A[N, M]; s[M]", IJ, tasklet("a <- A[i, j]", "s[j] (max)", "a"), SQUARES),
    _nest("sum of all", "A[N, M]; s[1]", IJ, tasklet("a <- A[i, j]", "s[0] (add)", "a"), SQUARES),
    _nest(
        "matrix times vector",
        "A[N, M]; x[M]; y[N]",
        IJ,
        tasklet("a <- A[i, j], b <- x[j]", "y[i] (add)", "a * b"),
        SQUARES,
    ),
    _nest(
        "vector times matrix",
        "A[N, M]; x[N]; y[M]",
        IJ,
        tasklet("a <- A[i, j], b <- x[i]", "y[j] (add)", "a * b"),
        SQUARES,
    ),
    _nest("sums over the middle", "A[N, M, K]; B[N, K]", IJK, tasklet("a <- A[i, j, k]", "B[i, k] (add)", "a"), CUBES),
    _nest("sums over the first", "A[N, M, K]; B[M, K]", IJK, tasklet("a <- A[i, j, k]", "B[j, k] (add)", "a"), CUBES),
    _nest(
        "product",
        "A[N, K]; B[K, M]; C[N, M]",
        IJK,
        tasklet("a <- A[i, k], b <- B[k, j]", "C[i, j] (add)", "a * b"),
        CUBES,
    ),
    _nest(
        "product with transposed",
        "A[N, K]; B[M, K]; C[N, M]",
        IJK,
        tasklet("a <- A[i, k], b <- B[j, k]", "C[i, j] (add)", "a * b"),
        CUBES,
    ),
    _nest("axes turned around", "A[N, M, K]; B[K, M, N]", IJK, tasklet("a <- A[i, j, k]", "B[k, j, i]", "a"), CUBES),
    _nest(
        "last two axes exchanged",
        "A[N, M, K]; B[N, K, M]",
        IJK,
        tasklet("a <- A[i, j, k]", "B[i, k, j]", "a * 2.0"),
        CUBES,
    ),
    _nest(
        "points of 3 coordinates",
        "A[N, 3]; w[3]; B[N, 3]",
        "i = 0:N, k = 0:3",
        tasklet("a <- A[i, k], b <- w[k]", "B[i, k]", "a * b"),
        ROWS,
    ),
    _nest(
        "lengths of points", "A[N, 3]; s[N]", "i = 0:N, k = 0:3", tasklet("a <- A[i, k]", "s[i] (add)", "a * a"), ROWS
    ),
    _nest(
        "coordinates apart", "A[3, N]; s[N]", "k = 0:3, i = 0:N", tasklet("a <- A[k, i]", "s[i] (add)", "a * a"), ROWS
    ),
    _nest("sum of points", "A[N, 3]; s[3]", "i = 0:N, k = 0:3", tasklet("a <- A[i, k]", "s[k] (add)", "a"), ROWS),
    _nest(
        "grey values",
        "A: f32[N, 3]; w: f32[3]; s: f32[N]",
        "i = 0:N, k = 0:3",
        tasklet("a <- A[i, k], b <- w[k]", "s[i] (add)", "a * b"),
        ROWS,
    ),
    _nest(
        "pairs of points",
        "X[N, 3]; D[N, N]",
        "i = 0:N, j = 0:N, k = 0:3",
        tasklet("a <- X[i, k], b <- X[j, k]", "D[i, j] (add)", "(a - b) * (a - b)"),
        ({"N": 20}, {"N": 400}),
    ),
    _nest(
        "filter of 5 weights",
        "A[N + 4]; w[5]; B[N]",
        "i = 0:N, k = 0:5",
        tasklet("a <- A[i + k], b <- w[k]", "B[i] (add)", "a * b"),
        ROWS,
    ),
    _nest(
        "filter of 3 by 3",
        "A[N + 2, M + 2]; w[3, 3]; B[N, M]",
        "i = 0:N, j = 0:M, p = 0:3, q = 0:3",
        tasklet("a <- A[i + p, j + q], b <- w[p, q]", "B[i, j] (add)", "a * b"),
        ({"N": 30, "M": 30}, {"N": 600, "M": 600}),
    ),
    _nest(
        "products of 4 by 4",
        "A[N, 4, 4]; B[N, 4, 4]; C[N, 4, 4]",
        "n = 0:N, i = 0:4, j = 0:4, k = 0:4",
        tasklet("a <- A[n, i, k], b <- B[n, k, j]", "C[n, i, j] (add)", "a * b"),
        ({"N": 20}, {"N": 20_000}),
    ),
    _nest(
        "vectors turned",
        "R[3, 3]; X[N, 3]; Y[N, 3]",
        "n = 0:N, i = 0:3, j = 0:3",
        tasklet("r <- R[i, j], x <- X[n, j]", "Y[n, i] (add)", "r * x"),
        ROWS,
    ),
    _nest(
        "channels last",
        "A[N, M, 4]; w[4]; B[N, M, 4]",
        "i = 0:N, j = 0:M, k = 0:4",
        tasklet("a <- A[i, j, k], b <- w[k]", "B[i, j, k]", "a * b"),
        ({"N": 20, "M": 20}, {"N": 300, "M": 300}),
    ),
    _nest(
        "channels to planes",
        "A[N, M, 4]; B[4, N, M]",
        "k = 0:4, i = 0:N, j = 0:M",
        tasklet("a <- A[i, j, k]", "B[k, i, j]", "a"),
        ({"N": 20, "M": 20}, {"N": 300, "M": 300}),
    ),
    _nest("bytes to floats", "A: u8[N, M]; B[N, M]", IJ, tasklet("a <- A[i, j]", "B[i, j]", "f64(a) * 0.5"), SQUARES),
    _nest(
        "triangle",
        "A[N, N]; B[N, N]",
        "i = 0:N, j = 0:i + 1",
        tasklet("a <- A[i, j]", "B[i, j]", "a * 2.0"),
        ({"N": 40}, {"N": 900}),
    ),
    _nest(
        "few long rows",
        "A[3, N]; s[3]; B[3, N]",
        "i = 0:3, j = 0:N",
        tasklet("a <- A[i, j], b <- s[i]", "B[i, j]", "a * b + 1.0"),
        ROWS,
    ),
    _nest("cross sections", "A[N, M, K]; B[N, M]", IJK, tasklet("a <- A[i, j, k]", "B[i, j] (max)", "a"), CUBES),
)

"""Nests in two versions, as transformations leave them: which one is the faster is what a model of time has to tell.

Each is a program in textual form with its schedules written down, so that lowering leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """`before` and `after` a transformation; `sizes` are the values of N and M (and K) that are measured."""

    name: str
    before: str
    after: str
    sizes: tuple[tuple[int, ...], ...]
    threads: bool = False

    def texts(self) -> Iterator[tuple[str, str]]:
        yield "before", self.before
        yield "after", self.after


def program(arguments: str, body: str, containers: str = "") -> str:
    """A program over arrays of float64: ``A[N, M] B[N]``."""
    given = ", ".join(f"{name.partition('[')[0]}: f64[{name.partition('[')[2]}" for name in arguments.split("; "))
    inside = "\n".join(f"data {part}" for part in containers.split("; ") if part)
    used = [name for name in ("N", "M", "K") if any(name in part.partition("[")[2] for part in arguments.split("; "))]
    return f"sdfg @f({given}) symbols({', '.join(f'{name}: size' for name in used)}) {{\n{inside}\n{body}\n}}"


def state(*nodes: str) -> str:
    return f"state {{ {' '.join(nodes)} }}"


def nest(axes: str, body: str) -> str:
    """Maps in each other: ``i = 0:N @sequential / j = 0:M @vector``."""
    for axis in reversed(axes.split(" / ")):
        body = f"map {axis} {{ {body} }}"
    return body


def tasklet(reads: str, target: str, code: str) -> str:
    return f"tasklet ({reads}) -> (o -> {target}) {{ o = {code} }}"


ROWS, COLUMNS = "i = 0:N @sequential / j = 0:M @vector", "j = 0:M @sequential / i = 0:N @vector"
LINE = "i = 0:N @vector"
SQUARES = ((60, 60), (500, 500), (1500, 1500))
LENGTHS = ((1_000,), (30_000,), (3_000_000,))
AXPY = tasklet("a <- A[i, j], b <- B[i, j]", "B[i, j]", "a * 2.0 + b")
TILES = (
    "t = 0:N:32 @sequential / u = 0:M:32 @sequential / i = t:min(N, t + 32) @sequential / j = u:min(M, u + 32) @vector"
)
IJK = "i = 0:N @sequential / j = 0:M @sequential / k = 0:K @vector"
IKJ = "i = 0:N @sequential / k = 0:K @sequential / j = 0:M @vector"
KIJ = "k = 0:K @sequential / i = 0:N @sequential / j = 0:M @vector"
PRODUCT = tasklet("a <- A[i, k], b <- B[k, j]", "C[i, j] (add)", "a * b")
STORED = "T: f64[N] transient @heap lifetime persistent"


def line(reads: str, target: str, code: str, schedule: str = "@vector") -> str:
    return nest(f"i = 0:N {schedule}", tasklet(reads, target, code))


def _two(first: str, second: str) -> str:
    """A program with a temporary between two maps."""
    use = nest("p = 0:N @vector", tasklet("t <- T[p], a <- A[p]", "B[p]", second))
    return program("A[N]; B[N]", state(line("a <- A[i]", "T[i]", first), use), STORED)


def _one(code: str) -> str:
    return program("A[N]; B[N]", state(line("a <- A[i]", "B[i]", code)))


def _neighbours(code: str, read: str) -> str:
    """A field that a stencil of three points reads, stored first."""
    fill = nest("i = 0:N @vector", tasklet("a <- A[i]", "T[i]", code))
    use = nest("p = 1:N - 1 @vector", tasklet("l <- T[p - 1], m <- T[p], r <- T[p + 1]", "B[p]", read))
    return program("A[N]; B[N]", state(fill, use), STORED)


def _again(code: str) -> str:
    use = nest("i = 1:N - 1 @vector", tasklet("l <- A[i - 1], m <- A[i], r <- A[i + 1]", "B[i]", code))
    return program("A[N]; B[N]", state(use))


def _recurrence(loops: str, element: str) -> str:
    """Along j, in rows or across them; `element` is that of ``i, j`` in memory."""
    before = element.replace("j", "j - 1")
    step = tasklet(f"y <- Y[{before}], x <- X[{element}]", f"Y[{element}]", "y * 0.5 + x")
    outer, inner = loops.split(" / ")
    if outer.startswith("i"):
        body = state(f"map {outer} {{ loop {inner} {{ {state(step)} }} }}")
    else:
        body = f"loop {outer} {{ {state(f'map {inner} {{ {step} }}')} }}"
    return program("X[N, M]; Y[N, M]", body)


PAIRS = (
    Pair(
        "interchange",
        program("A[N, M]; B[N, M]", state(nest(COLUMNS, AXPY))),
        program("A[N, M]; B[N, M]", state(nest(ROWS, AXPY))),
        SQUARES,
    ),
    Pair(
        "vectors along a column",
        program("A[N, M]; B[N, M]", state(nest(COLUMNS, tasklet("a <- A[i, j]", "B[i, j]", "a * 3.0")))),
        program("A[N, M]; B[N, M]", state(nest(ROWS, tasklet("a <- A[i, j]", "B[i, j]", "a * 3.0")))),
        SQUARES,
    ),
    Pair(
        "tiles of a transposition",
        program("A[N, M]; B[M, N]", state(nest(ROWS, tasklet("a <- B[j, i]", "A[i, j]", "a")))),
        program("A[N, M]; B[M, N]", state(nest(TILES, tasklet("a <- B[j, i]", "A[i, j]", "a")))),
        ((2048, 2048), (3000, 3000)),
    ),
    Pair(
        "product, order of loops",
        program("A[N, K]; B[K, M]; C[N, M]", state(nest(IJK, PRODUCT))),
        program("A[N, K]; B[K, M]; C[N, M]", state(nest(IKJ, PRODUCT))),
        ((40, 40, 40), (200, 200, 200), (400, 400, 400)),
    ),
    Pair(
        "product, k outside",
        program("A[N, K]; B[K, M]; C[N, M]", state(nest(KIJ, PRODUCT))),
        program("A[N, K]; B[K, M]; C[N, M]", state(nest(IKJ, PRODUCT))),
        ((100, 100, 100), (600, 600, 100), (2000, 2000, 8)),
    ),
    Pair(
        "sums of rows or along them",
        program(
            "A[N, M]; s[N]",
            state(nest("i = 0:N @sequential / j = 0:M @vector", tasklet("a <- A[i, j]", "s[i] (add)", "a"))),
        ),
        program(
            "A[M, N]; s[N]",
            state(nest("j = 0:M @sequential / i = 0:N @vector", tasklet("a <- A[j, i]", "s[i] (add)", "a"))),
        ),
        ((100, 100), (1000, 1000)),
    ),
    Pair("fusion of cheap maps", _two("a * 2.0", "t + a"), _one("a * 2.0 + a"), LENGTHS),
    Pair("fusion of costly maps", _two("exp(a)", "t / (a + 2.0)"), _one("exp(a) / (a + 2.0)"), LENGTHS),
    Pair("recompute a product", _neighbours("a * a", "l + m + r"), _again("l * l + m * m + r * r"), LENGTHS),
    Pair("recompute an exp", _neighbours("exp(a)", "l + m + r"), _again("exp(l) + exp(m) + exp(r)"), LENGTHS),
    Pair(
        "recompute a power",
        _neighbours("pow(a, 1.7)", "l + m + r"),
        _again("pow(l, 1.7) + pow(m, 1.7) + pow(r, 1.7)"),
        LENGTHS,
    ),
    Pair("common division", _one("1.0 / (a + 2.0) + exp(1.0 / (a + 2.0))"), _one("exp(a + 2.0)"), LENGTHS),
    Pair("division or product", _one("a / 3.7 / (a + 1.0)"), _one("a * 3.7 * (a + 1.0)"), LENGTHS),
    Pair(
        "chain along rows",
        _recurrence("i = 0:N @sequential / j = 1:M", "i, j"),
        _recurrence("j = 1:M / i = 0:N @vector", "i, j"),
        ((200, 200), (1500, 1500)),
    ),
    Pair(
        "chain across rows",
        _recurrence("i = 0:N @sequential / j = 1:M", "i, j"),
        _recurrence("j = 1:M / i = 0:N @vector", "j, i"),
        ((100, 100), (1000, 1000)),
    ),
    Pair(
        "layout of a chain",
        _recurrence("j = 1:M / i = 0:N @vector", "i, j"),
        _recurrence("j = 1:M / i = 0:N @vector", "j, i"),
        ((100, 100), (1000, 1000)),
    ),
    Pair(
        "two products in one pass",
        program(
            "A[N, M]; x[M]; y[N]; r[N]; s[M]",
            state(
                nest(ROWS, tasklet("a <- A[i, j], b <- x[j]", "y[i] (add)", "a * b")),
                nest(
                    "p = 0:N @sequential / q = 0:M @vector", tasklet("a <- A[p, q], b <- r[p]", "s[q] (add)", "a * b")
                ),
            ),
        ),
        program(
            "A[N, M]; x[M]; y[N]; r[N]; s[M]",
            state(
                nest(
                    ROWS,
                    tasklet("a <- A[i, j], b <- x[j]", "y[i] (add)", "a * b")
                    + " "
                    + tasklet("a <- A[i, j], b <- r[i]", "s[j] (add)", "a * b"),
                )
            ),
        ),
        ((200, 200), (2500, 2500)),
    ),
    Pair(
        "threads",
        program("A[N]; B[N]", state(line("a <- A[i]", "B[i]", "exp(a)"))),
        program("A[N]; B[N]", state(line("a <- A[i]", "B[i]", "exp(a)", "@parallel{width = 0}"))),
        ((200,), (100_000,), (3_000_000,)),
        threads=True,
    ),
    Pair(
        "threads on a stream",
        program("A[N]; B[N]", state(line("a <- A[i]", "B[i]", "a * 2.0"))),
        program("A[N]; B[N]", state(line("a <- A[i]", "B[i]", "a * 2.0", "@parallel{width = 0}"))),
        ((1_000,), (200_000,)),
        threads=True,
    ),
)

"""Two products that read one matrix become one pass over it: shape, value, refusal; and bytes, in the simulator."""

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.libraries.blas.passes.fused_products import SinglePassProducts
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.expand import expand_library_nodes
from tests.support.expect import assert_same_values, expect, parse

SIZES = {"N": [1, 3, 70], "M": [1, 2, 65]}
ROWS = "blas.gemv (a <- A[0:N, 0:M], x <- p[0:M]) -> (y -> q[0:N])"
COLUMNS = "blas.gemv (a <- A[0:N, 0:M], x <- r[0:N]) -> (y -> s[0:M]) {trans_a = true}"
PAIR = "blas.gemv_pair (a <- A[0:N, 0:M], x <- p[0:M], w <- r[0:N]) -> (y -> q[0:N], z -> s[0:M])"
UPDATED = "blas.gemv (a <- A[0:N, 0:M], x <- p[0:M], y <- q[0:N], alpha <- c) -> (y -> q[0:N]) {beta = 2.0}"
BOTH = (
    "blas.gemv_pair (a <- A[0:N, 0:M], x <- p[0:M], w <- r[0:N], y <- q[0:N], alpha_y <- c) "
    "-> (y -> q[0:N], z -> s[0:M]) {beta_y = 2.0}"
)
FIRST = ROWS.replace("q[", "t[")
SECOND = "blas.gemv (a <- A[0:N, 0:M], x <- t[0:N]) -> (y -> s[0:M]) {trans_a = true}"
CHAIN = "blas.gemv_pair (a <- A[0:N, 0:M], x <- p[0:M]) -> (y -> t[0:N], z -> s[0:M])"


def program(*nodes):
    plugins.load()
    return parse(
        "sdfg @f(A: f64[N, M], p: f64[M], q: f64[N], r: f64[N], s: f64[M], c: f64) symbols(N: size, M: size) "
        f"{{ data t: f64[N] transient state {{ {' '.join(nodes)} }} }}"
    )


def text(*nodes):
    from dcpy.ir.text import print_sdfg

    return print_sdfg(program(*nodes))


@pytest.mark.parametrize(
    ("before", "after"),
    [((COLUMNS, ROWS), PAIR), ((ROWS, COLUMNS), PAIR), ((UPDATED, COLUMNS), BOTH), ((FIRST, SECOND), CHAIN)],
    ids=["columns first", "rows first", "with factors and a summand", "of a product"],
)
def test_two_products_become_one(before, after):
    sizes = {"N": [1, 3], "M": [1, 2]}
    expect(SinglePassProducts(), on=program(*before)).becomes(text(after)).same_values(**sizes)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ((ROWS,), "no other product behind it in the state reads A[0:N, 0:M]"),
        ((ROWS, COLUMNS.replace("0:N, 0:M", "0:N - 1, 0:M").replace("r[0:N]", "r[0:N - 1]")), "no other product"),
        ((ROWS, ROWS.replace("q[", "r[")), "both products of A[0:N, 0:M] go along its rows"),
        ((ROWS, COLUMNS.replace("r[", "q[").replace("s[0:M]", "q[0:M]")), "'q', which it writes, is touched by"),
        ((COLUMNS, ROWS.replace("p[", "s[")), "what a row contributes to the second product needs all rows'"),
        ((FIRST, SECOND.replace("s[", "p[")), "'p', which it reads, is written by what is behind it"),
        ((FIRST, SECOND.replace(") ->", ", alpha <- t[0]) ->")), "'t', which it writes, is touched by what is behind"),
        ((FIRST, "copy r[0:N] -> t[0:N]", SECOND), "'t', which it writes, is touched by what is behind it"),
        ((ROWS, "copy r[0:M] -> p[0:M]", COLUMNS), "'p', which it reads, is written by what is behind it"),
        ((ROWS, "map i = 0:M { tasklet () -> (o -> p[i]) { o = 0.0 } }", COLUMNS), "'p', which it reads, is written"),
        ((ROWS, "map i = 0:N { tasklet (a <- q[i]) -> (o -> r[i]) { o = a } }", COLUMNS), "'q', which it writes, is"),
        ((ROWS, "copy p[0:M] -> A[0, 0:M]", COLUMNS), "'A', which it reads, is written by what is behind it"),
    ],
)
def test_refusals(nodes, reason):
    expect(SinglePassProducts(), on=program(*nodes)).is_refused(reason)


@pytest.mark.parametrize(("expansion", "target"), [("device", "gpu"), ("maps", "gpu"), ("cpu", "cpu")])
@pytest.mark.parametrize("pair", [PAIR, BOTH, CHAIN])
def test_expansions_mean_the_same(pair, expansion, target):
    """Tiles, or groups of rows, that are not full, along both directions; those of the second are summed in order."""
    before, after = program(pair), program(pair)
    chosen = expand_library_nodes(after, [expansion], target=target)
    assert chosen[0].expansion == expansion
    assert_same_values(before, after, SIZES)


@pytest.mark.parametrize("declared", ["f64[N, M] strides(1, N)", "c128[N, M]"], ids=["by columns", "complex"])
def test_what_cpus_do_apart(declared):
    """Vectors run along rows, and there are none of complex numbers."""
    described = text(PAIR).replace("A: f64[N, M]", f"A: {declared}")
    if declared.startswith("c"):
        described = described.replace("f64[", "c128[")
    assert expand_library_nodes(parse(described), ["cpu", "maps"])[0].expansion == "maps"


def bicg(A, p, r):
    return r @ A, A @ p


def mvt(x1, x2, y1, y2, A):
    x1 += A @ y1
    x2 += y2 @ A


def atax(A, x):
    return ((A @ x) @ A,)


SAMPLES = [(bicg, np.float64), (mvt, np.float32), (atax, np.float64)]


@pytest.mark.cc
@pytest.mark.parametrize(("function", "dtype"), SAMPLES)
def test_pairs_on_cpus(function, dtype):
    """Groups and parts that are not full; columns in more than one chunk."""
    program, rng = dcpy.program(function, auto_optimize=True), np.random.default_rng(0)
    for n, m in ((3, 2), (7, 1030), (1030, 7), (202, 190)):
        n = m if function is mvt else n
        a, x, y, u, v = (rng.random(shape).astype(dtype) for shape in ((n, m), m, n, m, n))
        given = {bicg: (a, x, y), mvt: (y, x, u, v, a), atax: (a, x)}[function]
        here, there = ([np.copy(arg) for arg in given] for _ in range(2))
        expected, found = function(*here), program(*there)
        for one, other in zip((*(expected or ()), *here), (*(found or ()), *there), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12 if dtype is np.float64 else 1e-5)
    assert "column_sums" in program.to_sdfg(*given).code()


@pytest.mark.cc
@pytest.mark.parametrize(("function", "dtype"), SAMPLES)
def test_the_matrix_is_read_once(function, dtype):
    """Its bytes, those of vectors, and parts of sums: as many as the tiles have edges."""
    n, m = 200, 200
    rng = np.random.default_rng(0)
    a, *vectors = (rng.random(shape).astype(dtype) for shape in ((n, m), n, n, n, n))
    given = {bicg: (a, *vectors[:2]), mvt: (*vectors, a), atax: (a, vectors[0])}[function]
    options = {"gpu_backend": "simulator", "gpu_hooks": True, "auto_optimize": True}
    program = dcpy.program(function, device=dcpy.DeviceType.GPU, **options)
    here, there, again = ([np.copy(arg) for arg in given] for _ in range(3))
    with watching() as seen:
        found = program(*there)
    expected = function(*here)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    for one, other in zip((*(expected or ()), *here), (*(found or ()), *there), strict=True):
        np.testing.assert_allclose(other, one, rtol=tolerance)
    assert seen.report.races == ()
    assert seen.report.unwritten == ()
    parts = 2 * 8 * 4 * (n + m)  # written and read
    moved = seen.report.moved_bytes  # of each kernel, what has to move if nothing moves twice
    assert a.nbytes < moved <= a.nbytes + 1.1 * (parts + 6 * n * a.itemsize) < 2 * a.nbytes
    second = program(*again)
    for one, other in zip((*(found or ()), *there), (*(second or ()), *again), strict=True):
        assert one.tobytes() == other.tobytes()

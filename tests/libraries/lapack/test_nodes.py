"""Solvers and decompositions: every expansion against the node's meaning, interpreted and as machine code."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError
from dcpy.ir import types
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.oracles import assert_compiles, assert_expands, values_of
from tests.support.tiers import some

DTYPES = ("float32", "float64", "complex64", "complex128")
SIZES = (0, 1, 3, 8)
SQUARE = "a <- A[0:N, 0:N]"
PROGRAMS = {
    "cholesky": f"lapack.cholesky ({SQUARE}) -> (l -> X[0:N, 0:N], info -> info[])",
    "cholesky upper": f"lapack.cholesky ({SQUARE}) -> (l -> X[0:N, 0:N], info -> info[]) {{upper = true}}",
    "lu": f"lapack.lu ({SQUARE}) -> (lu -> X[0:N, 0:N], pivots -> P[0:N], info -> info[])",
    "solve": f"lapack.solve ({SQUARE}, b <- B[0:N, 0:K]) -> (x -> Y[0:N, 0:K], info -> info[])",
    "solve one": f"lapack.solve ({SQUARE}, b <- B[0:N, 0]) -> (x -> Y[0:N, 0], info -> info[])",
    "factors and right sides": f"lapack.lu ({SQUARE}) -> (lu -> X[0:N, 0:N], pivots -> P[0:N], info -> info[]) "
    "lapack.lu_solve (lu <- X[0:N, 0:N], pivots <- P[0:N], b <- B[0:N, 0:K]) -> (x -> Y[0:N, 0:K]) "
    "lapack.lu_solve (lu <- X[0:N, 0:N], pivots <- P[0:N], b <- B[0:N, 1]) -> (x -> v[0:N])",
    "scattered pivots": f"lapack.lu ({SQUARE}) -> (lu -> X[0:N, 0:N], pivots -> P[0:N], info -> info[]) "
    "copy P[0:N] -> PP[0:N, 1] "
    "lapack.lu_solve (lu <- X[0:N, 0:N], pivots <- PP[0:N, 1], b <- B[0:N, 1]) -> (x -> v[0:N])",
    "inverse": f"lapack.inverse ({SQUARE}) -> (inverse -> X[0:N, 0:N], info -> info[])",
    "slogdet": f"lapack.slogdet ({SQUARE}) -> (sign -> sign[], logdet -> logdet[])",
    "lower": f"lapack.solve_triangular ({SQUARE}, b <- B[0:N, 0:K]) -> (x -> Y[0:N, 0:K]) {{lower = true}}",
    "upper": f"lapack.solve_triangular ({SQUARE}, b <- B[0:N, 1]) -> (x -> Y[0:N, 1])",
    "unit": f"lapack.solve_triangular ({SQUARE}, b <- B[0:N, 0:K]) -> (x -> Y[0:N, 0:K]) {{unit = true}}",
    "qr": "lapack.qr (a <- B[0:N, 0:K]) -> (q -> Y[0:N, 0:min(N, K)], r -> Z[0:min(N, K), 0:K])",
    "qr wide": "lapack.qr (a <- BT[0:K, 0:N]) -> (q -> Z[0:K, 0:min(K, N)], r -> YT[0:min(K, N), 0:N])",
    "qr complete": "lapack.qr (a <- B[0:N, 0:K]) -> (q -> X[0:N, 0:N], r -> Y[0:N, 0:K]) {complete = true}",
    "qr without q": "lapack.qr (a <- B[0:N, 0:K]) -> (r -> Z[0:min(N, K), 0:K])",
}
VECTORS = {
    "svd": "lapack.svd (a <- B[0:N, 0:K]) -> (u -> X[0:N, 0:N], s -> s[0:min(N, K)], vt -> Z[0:K, 0:K], info -> info[])"
    " {full = true}",
    "thin svd": "lapack.svd (a <- B[0:N, 0:K])"
    " -> (u -> Y[0:N, 0:min(N, K)], s -> s[0:min(N, K)], vt -> Z[0:min(N, K), 0:K], info -> info[])",
    "eigh": f"lapack.eigh ({SQUARE}) -> (w -> w[0:N], v -> X[0:N, 0:N], info -> info[])",
    "eig": f"lapack.eig ({SQUARE}) -> (w -> v[0:N], v -> X[0:N, 0:N], info -> info[])",
}
LIBRARY_ONLY = {
    "singular values": "lapack.svd (a <- B[0:N, 0:K]) -> (s -> s[0:min(N, K)], info -> info[])",
    "eigvalsh": f"lapack.eigh ({SQUARE}) -> (w -> w[0:N], info -> info[]) {{upper = true}}",
    "lstsq": "lapack.lstsq (a <- B[0:N, 0:K], b <- A[0:N, 0:N], rcond <- rcond)"
    " -> (x -> YT[0:K, 0:N], residuals -> w[0:N], rank -> info[], s -> s[0:min(N, K)], info -> failed[])",
}
K = 2


def program(statement, dtype):
    element = types.from_numpy(dtype)
    real = types.from_numpy(np.zeros(0, dtype).real.dtype)
    arguments = (
        f"A: {element}[N, N], X: {element}[N, N], B: {element}[N, K], BT: {element}[K, N], Y: {element}[N, K],"
        f"YT: {element}[K, N], Z: {element}[K, K], P: i32[N], PP: i32[N, K], s: {real}[K], w: {real}[N],"
        f"v: {element}[N], sign: {element}[], logdet: {real}[], rcond: {real}, info: i32[], failed: i32[]"
    )
    return f"sdfg @f({arguments}) symbols(N: size, K: size) {{ state {{ {statement} }} }}"


def arguments(dtype, n):
    rng = np.random.default_rng(5)
    real = np.zeros(0, dtype).real.dtype

    def numbers(*shape):
        values = rng.random(shape) + (1j * rng.random(shape) if np.dtype(dtype).kind == "c" else 0)
        return values.astype(dtype)

    a = numbers(n, n)
    made = {"A": a @ a.conj().T + np.eye(n, dtype=dtype), "B": numbers(n, K)}
    blank = {"X": (n, n), "Y": (n, K), "YT": (K, n), "Z": (K, K), "v": (n,), "sign": ()}
    made |= {name: np.zeros(shape, dtype) for name, shape in blank.items()}
    made |= {"BT": numbers(K, n), "s": np.zeros(K, real), "w": np.zeros(n, real), "logdet": np.zeros((), real)}
    made |= {"P": np.zeros(n, np.int32), "PP": np.ones((n, K), np.int32)}
    made |= {"info": np.zeros((), np.int32), "failed": np.zeros((), np.int32)}
    return made | {"rcond": real.type(1e-6)}


CASES = [(name, prefer) for name in PROGRAMS for prefer in ("pure", "openblas")]
CASES += [(name, "openblas") for name in LIBRARY_ONLY]
ALL = PROGRAMS | LIBRARY_ONLY


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_compute_the_meaning(name, dtype, loose):
    for n in SIZES:
        assert_expands(program(PROGRAMS[name], dtype), arguments(dtype, n))


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(DTYPES, "float64", "complex64"))
@pytest.mark.parametrize(("name", "prefer"), CASES)
def test_compiled_expansions_compute_the_meaning(name, prefer, dtype, loose):
    for n in SIZES:
        assert_compiles(program(ALL[name], dtype), arguments(dtype, n), prefer)


def reconstructed(name, made, n):
    """Pairs that agree where the vectors are right; their signs are free."""
    x, y, z, s, w = (made[key] for key in "XYZsw")
    least = min(n, K)
    rank = slice(least)
    match name:
        case "svd":
            yield (x[:, rank] * s[rank]) @ z[rank], made["B"]
            yield x.conj().T @ x, np.eye(n)
            yield z @ z.conj().T, np.eye(K)
        case "thin svd":
            yield (y[:, rank] * s[rank]) @ z[rank], made["B"]
            yield y[:, rank].conj().T @ y[:, rank], np.eye(least)
        case "eigh":
            yield (x * w) @ x.conj().T, made["A"]
            yield x.conj().T @ x, np.eye(n)
        case "eig":
            yield made["A"] @ x, x * made["v"]


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(DTYPES, "float64", "complex64"))
@pytest.mark.parametrize("name", VECTORS)
def test_compiled_decompositions_give_back_the_matrix(name, dtype):
    if name == "eig" and not dtype.startswith("complex"):
        return
    compiled = dcpy.parse(program(VECTORS[name], dtype)).expand_library_nodes("openblas").compile()
    for n in SIZES:
        made = arguments(dtype, n)
        meant = values_of(parse_sdfg(program(VECTORS[name], dtype)), made)
        compiled(**made)
        tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-11
        for values in ("s", "w"):
            np.testing.assert_allclose(made[values], meant[values], rtol=tolerance, atol=tolerance)
        for got, expected in reconstructed(name, made, n):
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


SINGULAR = {"cholesky": -np.eye(3), "lu": np.ones((3, 3)), "inverse": np.zeros((3, 3)), "solve": np.ones((3, 3))}


@pytest.mark.cc
@pytest.mark.parametrize("prefer", ["pure", "openblas"])
@pytest.mark.parametrize("name", SINGULAR)
def test_what_has_no_result_is_reported(name, prefer):
    made = arguments("float64", 3) | {"A": SINGULAR[name]}
    text = program(PROGRAMS[name], "float64")
    assert values_of(parse_sdfg(text), made)["info"] > 0
    dcpy.parse(text).expand_library_nodes(prefer).compile()(**made)
    assert made["info"] > 0


@pytest.mark.cc
@pytest.mark.parametrize("prefer", ["pure", "openblas"])
def test_nan_is_a_number_like_others(prefer):
    made = arguments("float64", 3) | {"A": np.full((3, 3), np.nan)}
    dcpy.parse(program(PROGRAMS["solve"], "float64")).expand_library_nodes(prefer).compile()(**made)
    assert np.isnan(made["Y"]).all()
    assert made["info"] == 0


@pytest.mark.cc
@pytest.mark.parametrize("name", ["solve", "qr", "cholesky", "singular values", "lstsq"])
def test_matrices_stored_by_columns(name, loose):
    text = program(ALL[name], "float64")
    for container, rows in (("A", "N"), ("B", "N"), ("X", "N"), ("Y", "N")):
        text = text.replace(f"{container}: f64[N, N],", f"{container}: f64[N, N] strides(1, {rows}),")
        text = text.replace(f"{container}: f64[N, K],", f"{container}: f64[N, K] strides(1, {rows}),")
    made = arguments("float64", 4)
    made |= {container: np.asfortranarray(made[container]) for container in "ABXY"}
    assert_compiles(text, made, "openblas")


@pytest.mark.parametrize(
    ("strides", "upper", "option"),
    [("", "false", "U"), ("", "true", "L"), ("strides(1, N)", "false", "L"), ("strides(2*N, 2)", "false", "L")],
)
def test_a_triangle_by_rows_is_the_other_one_by_columns(strides, upper, option):
    """Factored where it is; where neither rows nor columns are packed, in a matrix of its own."""
    statement = f"lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> X[0:N, 0:N], info -> info[]) {{upper = {upper}}}"
    sdfg = parse_sdfg(program(statement, "float64").replace("X: f64[N, N],", f"X: f64[N, N] {strides},"))
    expand_library_nodes(sdfg, prefer=("openblas",))
    text = print_sdfg(sdfg)
    assert f"scipy_LAPACKE_dpotrf(i32(102), i8({ord(option)}), " in text
    assert ("data work" in text) == (strides == "strides(2*N, 2)")


PROBLEMS = {
    "lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> X[0:N, 0:N])": "has the connectors a, l, info",
    "lapack.slogdet (a <- A[0:4, 0:3]) -> (sign -> sign[], logdet -> logdet[])": "sizes do not agree: a has 3",
    "lapack.eigh (a <- A[0:N, 0]) -> (w -> w[0:N], info -> info[])": "wants 2 dimensions for a, not 1",
}


@pytest.mark.parametrize("statement", PROBLEMS)
def test_what_does_not_fit_is_a_problem(statement):
    with pytest.raises(DcpyError, match=PROBLEMS[statement]):
        verify(parse_sdfg(program(statement, "float64")))


def test_singular_values_need_a_library():
    with pytest.raises(DcpyError, match=r"no expansion of lapack\.svd fits the target 'elsewhere'"):
        expand_library_nodes(parse_sdfg(program(VECTORS["svd"], "float64")), target="elsewhere")


def test_other_dtypes_are_declined():
    statement = PROGRAMS["inverse"].replace("A[", "Q[").replace("X[", "Q[")
    text = program(statement, "float64").replace("A: f64[N, N]", "A: f64[N, N], Q: f16[N, N]")
    with pytest.raises(DcpyError) as refusal:
        expand_library_nodes(parse_sdfg(text))
    assert any("not f16" in note for note in refusal.value.notes)


@pytest.fixture
def loose(monkeypatch):
    """Rounding differs with the order of operations, and errors grow with the condition of a matrix."""
    from tests.libraries import oracles

    monkeypatch.setattr(oracles, "RTOL", {"float32": 5e-4, "complex64": 5e-4, "float64": 1e-10, "complex128": 1e-10})

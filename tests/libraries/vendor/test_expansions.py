"""Which library nodes become calls of a vendor's library, in what words, and which do not, and why."""

import pytest

from dcpy import plugins
from dcpy.base.errors import InvalidSdfg
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import form_named
from dcpy.ir.verify.verifier import problems
from dcpy.transforms.expand import NOT_THERE, expand_library_nodes
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from dcpy.transforms.gpu.placement.place_copies import PlaceCopies
from dcpy.transforms.gpu.placement.place_data import PlaceData
from tests.support.passes import Passed

GEMM = "blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M])"


def program(node, dtype="f64", sizes="N: size, M: size, K: size"):
    return (
        f"sdfg @f(A: {dtype}[N, K], B: {dtype}[K, M], C: {dtype}[N, M], s: {dtype}) symbols({sizes}) "
        f"{{ state {{ {node} }} }}"
    )


def expanded(text, *prefer):
    plugins.load()
    sdfg = parse_sdfg(text)
    choices = expand_library_nodes(sdfg, prefer, target="gpu")
    return sdfg, choices[0]


def calls(sdfg):
    return [line.strip() for line in print_sdfg(sdfg).splitlines() if "from gpu." in line]


def test_a_product_by_rows_is_that_of_transposes_by_columns():
    """The first operand of the call is the second of the product; nothing is moved."""
    sdfg, choice = expanded(program(GEMM), "cublas")
    assert choice.expansion == "cublas"
    (call,) = calls(sdfg)
    arguments = "100, 0, 0, M, N, K, 1.0, 0.0, &b, max(1, M), &a, max(1, K), 0.0, 0.0, &c, max(1, M)"
    assert f"{{ dcpy_gemm({arguments}) }}" in call


@pytest.mark.parametrize(
    ("properties", "flags"),
    [("{trans_a = true}", "0, 1"), ("{trans_b = true}", "1, 0"), ("{trans_a = true, trans_b = true}", "1, 1")],
)
def test_transposed_operands_are_read_where_they_lie(properties, flags):
    square = GEMM.replace("K]", "N]").replace("0:K", "0:N").replace("M]", "N]").replace("0:M", "0:N")
    text = program(square + " " + properties).replace("K]", "N]").replace("[K,", "[N,").replace("M]", "N]")
    sdfg, _ = expanded(text.replace("N: size, M: size, K: size", "N: size"), "cublas")
    (call,) = calls(sdfg)
    assert f"dcpy_gemm(100, {flags}, N, N, N" in call


def test_factors_that_may_be_zero_are_asked_for():
    """What is scaled by 0 may be NaN, and libraries do not look."""
    text = program(GEMM.replace("b <-", "alpha <- s, b <-"))
    sdfg, _ = expanded(text, "cublas")
    assert "if s[] != 0.0" in print_sdfg(sdfg)
    assert len(calls(sdfg)) == 1


REFUSED = {
    "zero": (program(GEMM + " {alpha = 0.0}"), "where NaN may be"),
    "integers": (program(GEMM, "i64"), "takes f32, f64, c64, c128, not i64"),
    "small": (
        program(GEMM.replace("N]", "9]"), sizes="").replace("N", "9").replace("M", "8").replace("K", "7"),
        "504 multiplications are work for a kernel",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_libraries_do_not_take_are_kernels(name):
    text, reason = REFUSED[name]
    sdfg, choice = expanded(text, "cublas")
    assert choice.expansion == "maps"
    assert any(reason in refused for refused in choice.refused)
    assert calls(sdfg) == []


def test_threads_call_no_library():
    text = (
        "sdfg @f(A: f64[4, N, N], B: f64[N, N], C: f64[4, N, N]) symbols(N: size) { state { map i = 0:4 { "
        "blas.gemm (a <- A[i, 0:N, 0:N], b <- B[0:N, 0:N]) -> (c -> C[i, 0:N, 0:N]) } } }"
    )
    _, choice = expanded(text, "cublas")
    assert choice.expansion == "maps"
    assert any("whose threads cannot call a library" in refused for refused in choice.refused)


def test_libraries_that_are_not_there_are_not_called():
    _, choice = expanded(program(GEMM))
    assert choice.expansion == "maps"
    assert f"cublas: {NOT_THERE}" in choice.refused


def test_matrices_and_vectors_are_kernels_unless_asked_for():
    node = "blas.gemv (a <- A[0:N, 0:K], x <- B[0:K, 0]) -> (y -> C[0:N, 0])"
    assert expanded(program(node), "cublas")[1].expansion == "maps"
    sdfg, choice = expanded(program(node), "cublas-vectors")
    assert choice.expansion == "cublas-vectors"
    assert "dcpy_gemv(100, 1, K, N, 1.0, 0.0, &a, max(1, K), &x, M, 0.0, 0.0, &y, M)" in calls(sdfg)[0]


DECOMPOSITIONS = {
    "qr": ("lapack.qr (a <- A[0:N, 0:K]) -> (q -> Q[0:N, 0:min(N, K)], r -> R[0:min(N, K), 0:K])", 2),
    "r alone": ("lapack.qr (a <- A[0:N, 0:K]) -> (r -> R[0:min(N, K), 0:K])", 1),
    "eigh": ("lapack.eigh (a <- H[0:N, 0:N]) -> (w -> W[0:N], v -> H[0:N, 0:N], info -> I[0])", 1),
    "svd": ("lapack.svd (a <- A[0:N, 0:K]) -> (s -> S[0:min(N, K)], info -> I[0])", 2),
}


def decomposed(node):
    text = (
        "sdfg @f(A: f64[N, K], Q: f64[N, min(N, K)], R: f64[min(N, K), K], H: f64[N, N], W: f64[N], S: f64[min(N, K)], "
        f"I: i32[1]) symbols(N: size, K: size) {{ state {{ {node} }} }}"
    )
    return expanded(text, "cusolver")


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_decompositions_are_calls(name):
    """Singular values have two: the library takes no more columns than rows, so a wide matrix is transposed."""
    node, count = DECOMPOSITIONS[name]
    sdfg, choice = decomposed(node)
    assert choice.expansion == "cusolver"
    assert len(calls(sdfg)) == count


def test_a_wide_matrix_is_taken_as_its_transpose():
    """Of what lies by rows, that is what a library sees which stores by columns; the vectors change their places."""
    node = "lapack.svd (a <- A[0:40, 0:50]) -> (u -> U[0:40, 0:40], s -> S[0:40], vt -> V[0:40, 0:50], info -> I[0])"
    text = (
        "sdfg @f(A: f64[40, 50], U: f64[40, 40], S: f64[40], V: f64[40, 50], I: i32[1]) "
        f"symbols() {{ state {{ {node} }} }}"
    )
    sdfg, _ = expanded(text, "cusolver")
    (call,) = calls(sdfg)
    assert "gesvd(100, 1, index(50), index(40), &a, index(50), &s, &vt, index(50), &u, index(40), &info)" in call


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("lapack.eigh (a <- H[0:9, 0:9]) -> (w -> W[0:9], info -> I[0])", "9 rows are work for the host, which has"),
        ("map i = 0:1 { lapack.eigh (a <- H[0:N, 0:N]) -> (w -> W[0:N], info -> I[0]) }", "whose threads cannot call"),
    ],
)
def test_other_decompositions_stay_with_lapack(node, reason):
    sdfg, choice = decomposed(node)
    assert choice.expansion == "openblas"
    assert any(reason in refused for refused in choice.refused)
    assert calls(sdfg) == []


CALL = """foreign (a <- {a}[0:N]) -> (r -> {r}) from gpu.blas {{ dcpy_dot(100, N, &a, 1, &a, 1, &r) }}"""


def test_a_call_has_its_operands_on_the_device():
    plugins.load()
    found = Passed(
        f"sdfg @f(A: f64[N], S: f64[1]) symbols(N: size) {{ state {{ {CALL.format(a='A', r='S[0]')} }} }}",
        PlaceComputation(),
        PlaceData(),
        PlaceCopies(),
    )
    assert [p for p in problems(found.after, form_named("codegen")) if "placement" in p.rule] == []
    text = print_sdfg(found.after)
    assert "copy A[0:N] -> gpu_A[0:N]" in text
    assert "(a <- gpu_A[0:N]) -> (r -> gpu_S[0])" in text
    assert "copy gpu_S[0:1] -> S[0:1]" in text


def test_the_verifier_finds_a_call_with_places_of_the_host():
    plugins.load()
    sdfg = parse_sdfg(
        "sdfg @f(A: f64[N], S: f64[1]) symbols(N: size) { data t: f64[N] transient @global @heap "
        f"state {{ copy A[0:N] -> t[0:N] {CALL.format(a='t', r='S[0]')} }} }}"
    )
    (problem,) = [p for p in problems(sdfg, form_named("codegen")) if p.rule == "placement.sides"]
    assert "works on 'S', but that is in the memory of the host" in str(problem)


def test_strides_that_a_call_was_told_are_those_of_the_twin():
    """The twin of an array with gaps has none: a call that was told the gaps would read something else."""
    plugins.load()
    text = (
        "sdfg @f(A: f64[N] strides(2), S: f64[1]) symbols(N: size) { state { "
        + CALL.format(a="A", r="S[0]").replace("&a, 1", "&a, 2")
        + " } }"
    )
    with pytest.raises(InvalidSdfg, match="was compiled for other strides of 'A'"):
        Passed(text, PlaceComputation(), PlaceData())

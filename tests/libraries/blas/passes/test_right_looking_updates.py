"""Forward substitutions push what they know along rows: shape, value, refusal; and factorizations from Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.libraries.blas.passes.right_looking_updates import RightLookingUpdates
from tests.support.expect import expect, parse
from tests.support.oracles import assert_equal

HEAD = "sdfg @f(A: f64[N, N], B: f64[N, N], X: f64[N], Y: f64[N]) symbols(N: size)"
STORE = "tasklet (y <- Y[j], t <- t) -> (o -> X[j]) { o = y - t/4.0 }"


def program(x="X[0:j]", y="A[0:j, j]", rest=STORE, j="0:N", declared="data t: f64 transient"):
    body = f"{declared} state {{ blas.dot (x <- {x}, y <- {y}) -> (result -> t) {rest} }}"
    return parse(f"{HEAD} {{ loop j = {j} {{ {body} }} }}")


def after(known="X[j]", factor="A[j, j_2]", store=STORE):
    return f"""{HEAD} {{ data sums: f64[N] transient
      state {{ map j_1 = 0:N @vector {{ tasklet () -> (out -> sums[j_1]) {{ out = 0.0 }} }} }}
      loop j = 0:N {{ data t: f64 transient state {{
        tasklet (sum <- sums[j]) -> (out -> t) {{ out = sum }}
        {store}
        map j_2 = j + 1:N @vector {{ tasklet (sum <- sums[j_2], known <- {known}, factor <- {factor})
          -> (out -> sums[j_2]) {{ out = sum + known*factor }} }} }} }} }}"""


SIZES = {"N": [0, 1, 2, 5]}


def test_a_vector_is_solved_by_rows():
    expect(RightLookingUpdates(), on=program()).becomes(after()).same_values(**SIZES)


def test_either_factor_may_be_the_solution():
    expect(RightLookingUpdates(), on=program("A[0:j, j]", "X[0:j]")).becomes(after()).same_values(**SIZES)


def test_a_row_of_another_matrix_is_solved_in_place():
    store = """tasklet (b <- B[N - 1, j], t <- t) -> (o -> B[N - 1, j]) { o = b - t/4.0 }
      tasklet (b <- B[N - 1, j], a <- A[j, j]) -> (o -> B[N - 1, j]) { o = b*a }"""
    before = program("B[N - 1, 0:j]", rest=store)
    expect(RightLookingUpdates(), on=before).becomes(after("B[N - 1, j]", store=store)).same_values(**SIZES)


def test_a_row_of_the_matrix_below_what_is_read():
    """As in a factorization in place: rows above are not written any more."""
    store = "tasklet (a <- A[i, j], t <- t) -> (o -> A[i, j]) { o = a - t/4.0 }"
    body = f"data t: f64 transient state {{ blas.dot (x <- A[i, 0:j], y <- A[0:j, j]) -> (result -> t) {store} }}"
    sdfg = parse(f"{HEAD} {{ loop i = 0:N {{ loop j = 0:i {{ {body} }} }} }}")
    found = expect(RightLookingUpdates(), on=sdfg).becomes(
        f"""{HEAD} {{ loop i = 0:N {{ data sums: f64[i] transient
          state {{ map j_1 = 0:i @vector {{ tasklet () -> (out -> sums[j_1]) {{ out = 0.0 }} }} }}
          loop j = 0:i {{ data t: f64 transient state {{
            tasklet (sum <- sums[j]) -> (out -> t) {{ out = sum }}
            {store}
            map j_2 = j + 1:i @vector {{ tasklet (sum <- sums[j_2], known <- A[i, j], factor <- A[j, j_2])
              -> (out -> sums[j_2]) {{ out = sum + known*factor }} }} }} }} }} }}"""
    )
    found.same_values(**SIZES)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"y": "A[j, 0:j]"}, "columns of a matrix stored by rows"),
        ({"x": "X[1:j + 1]"}, "what earlier iterations computed"),
        ({"y": "A[0:j, N - 1 - j]"}, "columns of a matrix"),
        ({"y": "A[0:j, 0]"}, "columns of a matrix"),
        ({"j": "0:N:2"}, "not one state that begins with a dot"),
        ({"j": "1:N", "x": "X[1:j]", "y": "A[1:j, j]"}, "may be inside out"),
        ({"rest": STORE.replace("X[j]", "X[0]")}, "writes X[0], not just X[j]"),
        ({"rest": f"{STORE} tasklet () -> (o -> X[N - 1]) {{ o = 1.0 }}"}, "not just X[j]"),
        ({"rest": f"{STORE} tasklet () -> (o -> A[0, j]) {{ o = 1.0 }}"}, "may be part of A"),
        ({"x": "A[0, 0:j]", "rest": STORE.replace("X[j]", "A[0, j]")}, "may be part of A"),
        ({"rest": f"{STORE} copy Y[0:N] -> B[0, 0:N]"}, "more than tasklets"),
        ({"rest": "tasklet (t <- t) -> (o -> X[j] (add)) { o = t }"}, "not just X[j]"),
    ],
)
def test_other_recurrences_stay(changes, reason):
    expect(RightLookingUpdates(), on=program(**changes)).is_refused(reason)


def factorized(A, L, b, x):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for j in range(n):
        x[j] = (b[j] - np.dot(x[:j], L[:j, j])) / L[j, j]


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("n", [1, 2, 70])
def test_from_python(n, dtype):
    rng = np.random.default_rng(n)
    matrices = [(rng.random((n, n)) + n * np.eye(n)).astype(dtype) for _ in range(2)]
    arguments = [*matrices, rng.random(n).astype(dtype), np.zeros(n, dtype)]
    mine, its = ([value.copy() for value in arguments] for _ in range(2))
    dcpy.program(auto_optimize=True)(factorized)(*mine)
    factorized(*its)
    for left, right in zip(mine, its, strict=True):
        assert_equal(left, right, rtol=1e-4 if dtype == np.float32 else 1e-11)

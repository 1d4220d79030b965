"""PartialDeadStoreElimination: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.maps.partial_dead_store_elimination import PartialDeadStoreElimination
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) { data t: f64[N, M] transient state { "
INNER = "map i = 1:N - 1, j = 2:M { tasklet (a <- A[i - 1, j - 2]) -> (o -> t[i, j]) { o = a + 1.0 } } "
END = "copy t[0:N, 0:M] -> B[0:N, 0:M] } }"
SIZES = {"N": [0, 1, 2, 3, 5], "M": [0, 1, 2, 3, 5]}


def test_zeros_around_what_is_stored_again():
    fill = "map i = 0:N, j = 0:M { tasklet () -> (o -> t[i, j]) { o = 0.0 } } "
    margin = " ".join(
        f"map i_{n} = {rows}, j_{n} = {columns} {{ tasklet () -> (o -> t[i_{n}, j_{n}]) {{ o = 0.0 }} }}"
        for n, rows, columns in (
            (1, "0:min(1, N)", "0:M"), (2, "max(0, N - 1):N", "0:M"), (3, "1:N - 1", "0:min(2, M)")
        )
    )
    expect(PartialDeadStoreElimination(), on=parse(HEAD + fill + INNER + END)).becomes(
        HEAD + margin + INNER + END
    ).same_values(**SIZES)


def test_copies_around_what_is_stored_again():
    copies = " ".join(
        f"copy A[{part}] -> t[{part}]"
        for part in ("0:min(1, N), 0:M", "max(0, N - 1):N, 0:M", "1:N - 1, 0:min(2, M)")
    )
    expect(
        PartialDeadStoreElimination(), on=parse(HEAD + "copy A[0:N, 0:M] -> t[0:N, 0:M] " + INNER + END)
    ).becomes(HEAD + copies + " " + INNER + END).same_values(**SIZES)


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        (INNER.replace("1:N - 1", "9:N"), "no box that leaves a margin of known width"),
        (INNER.replace("1:N - 1", "1:1"), "no box that leaves a margin of known width"),
        (INNER.replace("1:N - 1", "0:1"), "no box that leaves a margin of known width"),
        (INNER.replace("a <- A[i - 1, j - 2]", "a <- t[i - 1, j - 2]"), "'t' is read before"),
    ],
)
def test_refuses_wide_margins_and_reads(inner, reason):
    fill = "map i = 0:N, j = 0:M { tasklet () -> (o -> t[i, j]) { o = 0.0 } } "
    expect(PartialDeadStoreElimination(), on=parse(HEAD + fill + inner + END)).is_refused(reason)


def smoothed(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u = new
    return u


def bordered(u):
    out = np.zeros_like(u)
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            out[i, j] = u[i, j - 1] + u[i + 1, j]
    return out


@pytest.mark.parametrize(("function", "more"), [(smoothed, (3,)), (bordered, ())])
def test_stencils_of_all_small_sizes(function, more):
    sdfg = dcpy.program(function).to_sdfg(np.ones((9, 9)), *more)
    sdfg.auto_optimize()
    assert any("partial-dead-store-elimination" in str(step) for step in sdfg.history)
    for shape in np.ndindex(5, 5):
        u = np.random.default_rng(1).random(shape)
        np.testing.assert_array_equal(sdfg.interpret(u.copy(), *more), function(u.copy(), *more))


def test_arrays_of_which_nothing_is_stored_again_end():
    text = """sdfg @f(A: f64[2], B: f64[2]) { data t: f64[2] transient state {
        copy A[0:2] -> t[0:2]
        map i = 1:1 { tasklet () -> (o -> t[i]) { o = 1.0 } }
        copy t[0:2] -> B[0:2] } }"""
    expect(PartialDeadStoreElimination(), on=parse(text)).is_refused("no box that leaves a margin")

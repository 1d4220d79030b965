"""DeadStoreElimination: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.simplify.dataflow.dead_store_elimination import DeadStoreElimination
from tests.support.expect import expect, parse

FILL = "map i = 0:N { tasklet () -> (o -> t[i]) { o = 0.0 } } "
AGAIN = "map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a + 1.0 } } "


def sdfg(*blocks: str, name: str = "t") -> str:
    head = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) { data t: f64[N] transient "
    return f"{head}{' '.join(blocks)} }}".replace("-> t[", f"-> {name}[")


def state(*nodes: str) -> str:
    return "state { " + " ".join(nodes) + " } "


HALVES = "map i = 0:5 { tasklet () -> (o -> t[i]) { o = 1.0 } } map k = 5:N { tasklet () -> (o -> t[k]) { o = 3.0 } } "
USE = "copy t[0:N] -> B[0:N]"


def test_zeros_that_are_stored_again_go():
    expect(DeadStoreElimination(), on=parse(sdfg(state(FILL, AGAIN, USE)))).becomes(
        sdfg(state(AGAIN, USE))
    ).same_values(N=[0, 1, 4])


def test_copies_go_and_loops_store_again():
    loop = "loop i = 0:N { state { tasklet (a <- A[i]) -> (o -> t[i]) { o = a * 2.0 } } } "
    expect(DeadStoreElimination(), on=parse(sdfg(state("copy A[0:N] -> t[0:N]"), loop, state(USE)))).becomes(
        sdfg(state(), loop, state(USE))
    ).same_values(N=[0, 1, 4])


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ((state(FILL, USE, AGAIN),), "'t' is read before"),
        ((state(FILL, AGAIN.replace("0:N", "1:N"), USE),), "some of what it stores is not stored again"),
        ((state(FILL), f"if N > 3 {{ {state(AGAIN)} }}", state(USE)), "nothing behind it stores all of that again"),
        ((state(FILL), "if N > 3 { return }", state(AGAIN, USE)), "the region may be left before"),
        ((state(FILL, "map i = 0:N { tasklet () -> (o -> t[i] (add)) { o = 1.0 } }", AGAIN, USE),), "'t' is read"),
        ((state(FILL, HALVES, USE),), "some of what it stores is not stored again"),
        ((state(FILL, USE),), "nothing else stores to 't'"),
    ],
)
def test_refuses_what_may_be_read(blocks, reason):
    expect(DeadStoreElimination(), on=parse(sdfg(*blocks))).is_refused(reason)


def test_refuses_arguments_where_an_exception_shows_them():
    seen = (state(FILL), 'check N > 2 else ValueError "few"', state(AGAIN))
    expect(DeadStoreElimination(), on=parse(sdfg(*seen, name="B"))).is_refused("the caller sees 'B'")
    expect(DeadStoreElimination(), on=parse(sdfg(*seen, state(USE)))).becomes(
        sdfg(state(), *seen[1:], state(USE))
    ).same_values(N=[3, 5])


def test_arrays_of_zeros_that_loops_fill():
    @dcpy.program
    def doubled(x):
        out = np.zeros_like(x)
        for i in range(x.shape[0]):
            out[i] = 2 * x[i]
        return out

    assert "out = 0.0" not in str(doubled.to_sdfg(np.ones(3)))
    np.testing.assert_array_equal(doubled(np.arange(4.0)), 2 * np.arange(4.0))

"""CopySinking: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.memory.copy_sinking import CopySinking
from tests.support.expect import expect, parse
from tests.support.oracles import check_same

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size {least = 2})"


def program(copy="copy A[0:N, 1] -> c[0:N]", read="c[i]", target="A[i, j]", domain="i = 0:N, j = 0:M", more=""):
    return parse(f"""
        {HEAD} {{
          data c: f64[N] transient
          state {{
            {copy}
            {more}
            map {domain} {{ tasklet (a <- A[i, j], b <- {read}) -> (o -> {target}) {{ o = a + b }} }}
          }}
        }}""")


def test_each_row_takes_up_its_element():
    expect(CopySinking(), on=program()).becomes(f"""
        {HEAD} {{
          state {{
            map i = 0:N {{
              data taken: f64 transient
              tasklet (element <- A[i, 1]) -> (out -> taken) {{ out = element }}
              map j = 0:M {{ tasklet (a <- A[i, j], b <- taken) -> (o -> A[i, j]) {{ o = a + b }} }}
            }}
          }}
        }}""").same_values(N=[0, 1, 5], M=[2, 4])


def test_rows_that_do_not_begin_at_0():
    on = parse(f"""
        {HEAD} {{
          data c: f64[N - 1] transient
          state {{
            copy A[1:N, 0] -> c[0:N - 1]
            map i = 1:N, j = 0:M {{ tasklet (a <- A[i, j], b <- c[i - 1]) -> (o -> A[i, j]) {{ o = a * b }} }}
          }}
        }}""")
    expect(CopySinking(), on=on).applies().same_values(N=[1, 2, 5], M=[2, 3])


REFUSALS = {
    "is not in the row of A[i, 1]": program(target="A[N - 1 - i, j]"),
    "the map has one parameter, or a schedule": parse(f"""
        {HEAD} {{
          data c: f64[N] transient
          state {{ copy A[0:N, 1] -> c[0:N]
                   map i = 0:N {{ tasklet (b <- c[i]) -> (o -> A[i, 0]) {{ o = b }} }} }}
        }}"""),
    "'c' is touched at other elements than i": program(read="c[N - 1 - i]"),
    "is used elsewhere": program(more="map k = 0:N { tasklet (b <- c[k]) -> (o -> B[k, 0]) { o = b } }"),
    "another node between has to do with what is copied": program(
        more="map k = 0:N { tasklet () -> (o -> A[k, 1]) { o = 1.0 } }"
    ),
    "the line is a row": parse(f"""
        {HEAD} {{
          data c: f64[M] transient
          state {{ copy A[0, 0:M] -> c[0:M]
                   map j = 0:M, i = 0:N {{ tasklet (b <- c[j]) -> (o -> B[i, j]) {{ o = b }} }} }}
        }}"""),
}


@pytest.mark.parametrize(("reason", "on"), REFUSALS.items(), ids=list(REFUSALS))
def test_refusals(reason, on):
    expect(CopySinking(), on=on).is_refused(reason)


def closure(paths):
    for k in range(paths.shape[0]):
        paths[:] = np.minimum(paths, np.add.outer(paths[:, k], paths[k, :]))


@pytest.mark.cc
@pytest.mark.parametrize("size", [1, 7, 13])
def test_shortest_paths(size):
    check_same(closure, np.random.default_rng(0).integers(1, 1000, (size, size)), optimized=True)


@pytest.mark.cc
def test_shortest_paths_by_all_threads():
    paths = np.random.default_rng(0).integers(1, 1000, (300, 300))
    mine = paths.copy()
    closure(paths)
    dcpy.program(closure, auto_optimize=True)(mine)
    np.testing.assert_array_equal(mine, paths)

"""StencilTiling and BufferTiling: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_once
from dcpy.transforms.fusion.stencil_tiling import StencilTiling
from dcpy.transforms.history import replay
from dcpy.transforms.memory.buffer_tiling import BufferTiling
from tests.support.compiled import compile_sdfg
from tests.support.expect import assert_same_values, expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N, N]) symbols(N: size)"
SQUARES = "map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a*a } }"
STENCIL = "map j = 1:N - 1 { tasklet (l <- t[j - 1], r <- t[j + 1]) -> (o -> B[j]) { o = l - r } }"
SAME = "map j = 0:N { tasklet (a <- t[j]) -> (o -> B[j]) { o = a + 1 } }"


def program(nodes, data="data t: f64[N] transient"):
    return parse(f"{HEAD} {{ {data} state {{ {nodes} }} }}")


def test_each_tile_computes_its_halo():
    expect(StencilTiling(size=4), on=program(SQUARES + STENCIL)).becomes(f"""{HEAD} {{ state {{
        map j_tile = 1:N - 1:4 {{ data t_tile: f64[6] transient
            map i_1 = j_tile - 1:min(N - 1, j_tile + 4) + 1 {{
                tasklet (a <- A[i_1]) -> (o -> t_tile[i_1 - j_tile + 1]) {{ o = a*a }} }}
            map j = j_tile:min(N - 1, j_tile + 4) {{
                tasklet (l <- t_tile[j - j_tile], r <- t_tile[j - j_tile + 2]) -> (o -> B[j]) {{ o = l - r }}
        }} }} }} }}
    """).same_values(N=[0, 1, 2, 3, 5, 6, 11, 12])


JACOBI = """sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size) {
    data t: f64[N - 2, N - 2] transient data u: f64[N - 4, N - 4] transient state {
    map i = 0:N - 2, j = 0:N - 2 { tasklet (n <- A[i, j + 1], s <- A[i + 2, j + 1], w <- A[i + 1, j],
        e <- A[i + 1, j + 2]) -> (o -> t[i, j]) { o = (n + s + w + e)/4.0 } }
    map k = 0:N - 4, l = 0:N - 4 { tasklet (n <- t[k, l + 1], s <- t[k + 2, l + 1], w <- t[k + 1, l],
        e <- t[k + 1, l + 2]) -> (o -> u[k, l]) { o = (n + s + w + e)/4.0 } }
    map p = 0:N - 6, q = 0:N - 6 { tasklet (n <- u[p, q + 1], s <- u[p + 2, q + 1], w <- u[p + 1, q],
        e <- u[p + 1, q + 2]) -> (o -> B[p + 3, q + 3]) { o = (n + s + w + e)/4.0 } } } }"""


def in_time():
    before = parse(JACOBI)
    after = copy_sdfg(before)
    for name in ("u", "t"):
        apply_once(after, StencilTiling(size=3, axes=2), tmp=name, check=True)
    return before, after


def test_three_steps_in_one_tile():
    """The consumer is tiled; its producer, and then the producer of that one, are computed in each tile."""
    before, after = in_time()
    assert list(after.body.containers) == ["A", "B"]
    text = print_sdfg(after)
    assert text.count("_tile: f64[") == 2
    assert "u_tile: f64[5, 5]" in text
    assert_same_values(before, after, {"N": [6, 7, 9, 12]})
    assert print_sdfg(replay(copy_sdfg(before), after.history, check=True)) == text


@pytest.mark.cc
def test_three_steps_compiled():
    before, after = in_time()
    a = np.random.default_rng(0).random((23, 23))
    results = []
    for sdfg in (before, after):
        b = np.zeros_like(a)
        compile_sdfg(sdfg)(a, b)
        results.append(b)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (SQUARES + STENCIL.replace("-> B[j]", "-> A[j]"), "is written before its result is read"),
        (SQUARES + STENCIL + STENCIL.replace("j", "z").replace("B[z]", "C[0, z]"), "'t' is used by other"),
        (SQUARES.replace("0:N", "1:N") + STENCIL, "does not compute each element"),
        (SQUARES + STENCIL.replace("t[j + 1]", "t[2*j]"), "in steps of one"),
        (SQUARES + STENCIL.replace("t[j + 1]", "t[j*j]"), "is not a box"),
    ],
)
def test_refusals(nodes, reason):
    expect(StencilTiling(), on=program(nodes)).is_refused(reason)


def test_parameters():
    expect(StencilTiling(size=0), on=program(SQUARES + STENCIL)).is_refused("1 axes in tiles of 0 values")
    expect(StencilTiling(axes=2), on=program(SQUARES + STENCIL)).is_refused("first 2 parameters of the consumer")


def test_a_buffer_of_the_size_of_a_tile():
    expect(BufferTiling(size=4), on=program(SQUARES + SAME)).becomes(f"""{HEAD} {{ state {{
        map j_tile = 0:N:4 {{ data t_tile: f64[4] transient
            map i_1 = j_tile:min(N, j_tile + 4) {{
                tasklet (a <- A[i_1]) -> (o -> t_tile[i_1 - j_tile]) {{ o = a*a }} }}
            map j = j_tile:min(N, j_tile + 4) {{
                tasklet (a <- t_tile[j - j_tile]) -> (o -> B[j]) {{ o = a + 1 }} }} }} }} }}
    """).same_values(N=[0, 1, 4, 9])


def test_a_tile_of_rows():
    rows = "map i = 0:N, h = 0:N { tasklet (a <- C[i, h]) -> (o -> t[h, i]) { o = a*a } }"
    use = "map j = 0:N, g = 0:N { tasklet (a <- t[j, N - 1 - g]) -> (o -> B[j] (add)) { o = a } }"
    on = program(rows + use, "data t: f64[N, N] transient")
    found = expect(BufferTiling(size=2), on=on)
    assert found.reasons() == [""]
    apply_once(found.after, BufferTiling(size=2), check=True)
    assert "t_tile: f64[2, N]" in print_sdfg(found.after)
    found.same_values(N=[0, 1, 2, 5])


def test_overlaps_are_not_for_buffers():
    expect(BufferTiling(), on=program(SQUARES + STENCIL)).is_refused("tiles share elements of 't'")
    everything = "map j = 0:N, g = 0:N { tasklet (a <- t[g]) -> (o -> B[j] (add)) { o = a } }"
    expect(BufferTiling(), on=program(SQUARES + everything)).is_refused("tiles share elements of 't'")

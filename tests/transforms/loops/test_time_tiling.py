"""TimeTiling: shape, value, refusal; on stencils of all kinds, bit for bit."""

from __future__ import annotations

import itertools
from types import FunctionType

import numpy as np
import pytest

import dcpy
from benchmarks.npbench.fdtd_2d import fdtd_2d
from benchmarks.npbench.heat_3d import heat_3d
from benchmarks.npbench.jacobi_1d import jacobi_1d
from benchmarks.npbench.jacobi_2d import jacobi_2d
from benchmarks.npbench.seidel_2d import seidel_2d
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_once, apply_repeated
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.history import replay
from dcpy.transforms.loops.time_tiling import TimeTiling
from tests.support.compiled import compile_sdfg
from tests.support.expect import expect, parse

N = dcpy.symbol("N")
HEAD = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size, T: size)"
THERE = "map i = 1:N - 1 { tasklet (l <- A[i - 1], r <- A[i + 1]) -> (o -> B[i]) { o = 0.5*(l + r) } }"
BACK = "map j = 1:N - 1 { tasklet (b <- B[j]) -> (o -> A[j]) { o = b } }"


def program(*maps, head=HEAD):
    return parse(f"{head} {{ loop t = 0:T {{ state {{ {' '.join(maps)} }} }} }}")


def test_a_band_of_steps_in_tiles_with_halos():
    """The reach of a step is one element on each side: what the first sweep reads; three steps need three."""
    expect(TimeTiling(steps=3, sizes=(4,)), on=program(THERE, BACK)).becomes("""
      sdfg @f(A: f64[N], B: f64[N]) symbols(N: size, T: size) {
        data B_bands: f64[2, N] transient
        data A_bands: f64[2, N] transient
        state { copy B[0:N] -> B_bands[0, 0:N] copy A[0:N] -> A_bands[0, 0:N] }
        loop t_tile = 0:T:3 { state { map tile0 = 0:N:4 {
          data B_tile: f64[10] transient
          data A_tile: f64[10] transient
          state {
            copy B_bands[(t_tile // 3) % 2, max(0, tile0 - 3):min(N, tile0 + 7)]
              -> B_tile[max(0, tile0 - 3) - tile0 + 3:min(N, tile0 + 7) - tile0 + 3]
            copy A_bands[(t_tile // 3) % 2, max(0, tile0 - 3):min(N, tile0 + 7)]
              -> A_tile[max(0, tile0 - 3) - tile0 + 3:min(N, tile0 + 7) - tile0 + 3]
          }
          loop t = t_tile:min(T, t_tile + 3) { state {
            map i = max(1, t - min(T, t_tile + 3) + tile0 + 1):min(min(T, t_tile + 3) - t + tile0 + 3, N - 1) {
              tasklet (l <- A_tile[i - tile0 + 2], r <- A_tile[i - tile0 + 4]) -> (o -> B_tile[i - tile0 + 3]) {
                o = 0.5*(l + r) } }
            map j = max(1, t - min(T, t_tile + 3) + tile0 + 1):min(min(T, t_tile + 3) - t + tile0 + 3, N - 1) {
              tasklet (b <- B_tile[j - tile0 + 3]) -> (o -> A_tile[j - tile0 + 3]) { o = b } }
          } }
          state {
            copy B_tile[3:min(N, tile0 + 4) - tile0 + 3] -> B_bands[1 - ((t_tile // 3) % 2), tile0:min(N, tile0 + 4)]
            copy A_tile[3:min(N, tile0 + 4) - tile0 + 3] -> A_bands[1 - ((t_tile // 3) % 2), tile0:min(N, tile0 + 4)]
          }
        } } }
        state {
          copy B_bands[(-((-T) // 3)) % 2, 0:N] -> B[0:N]
          copy A_bands[(-((-T) // 3)) % 2, 0:N] -> A[0:N]
        }
      }""").same_values(N=[0, 1, 2, 3, 5, 9, 13], T=[0, 1, 3, 4, 7])


HEAD_2D = "sdfg @f(A: f64[N, M], B: f64[N, M], C: f64[N, M], w: f64[M]) symbols(N: size, M: size, T: size)"
STAR = """map i = 2:N - 1, j = 1:M - 3 { tasklet (a <- A[i - 2, j + 3], b <- A[i + 1, j - 1], c <- w[j], d <- A[i, j])
    -> (o -> B[i, j]) { o = a - b*c + d } }"""
ADD = "map p = 0:N, q = 0:M { tasklet (b <- B[p, q], a <- A[p, q]) -> (o -> A[p, q]) { o = 0.5*(a + b) } }"
KINDS = {
    "asymmetric": [STAR, ADD],
    "parameters in another order": [
        "map j = 1:M, i = 0:N { tasklet (a <- A[i, j - 1]) -> (o -> B[i, j]) { o = 2.0*a } }",
        ADD,
    ],
    "edges": [
        STAR,
        ADD,
        "map g = 0:M { tasklet (a <- A[1, g]) -> (o -> A[0, g]) { o = a } }",
        "map h = 0:N { tasklet (a <- A[h, M - 3]) -> (o -> A[h, M - 1]) { o = a } }",
    ],
    "writes beside each other": [
        """map i = 0:N - 2, j = 0:M { tasklet (a <- A[i + 1, j]) -> (o -> B[i + 2, j]) { o = a }
             tasklet (b <- w[j]) -> (o -> C[i, j]) { o = b } }""",
        "map p = 0:N, q = 0:M { tasklet (b <- B[p, q], c <- C[p, q]) -> (o -> A[p, q]) { o = 0.5*(b + c) } }",
    ],
    "a sum over neighbours": [
        """map i = 1:N - 1, j = 0:M { state { tasklet () -> (o -> B[i, j]) { o = 0.0 } }
             loop k = -1:2 { state { tasklet (a <- A[i + k, j]) -> (o -> B[i, j] (add)) { o = a } } } }""",
        ADD,
    ],
    "a map in a map": [
        "map i = 1:N { map j = 1:M { tasklet (a <- A[i - 1, j - 1]) -> (o -> B[i, j]) { o = 3.0*a } } }",
        ADD,
    ],
    "time in it": [
        """map i = 1:N, j = 0:M { tasklet (a <- A[i - 1, j], b <- B[i, j]) -> (o -> B[i, j]) {
             o = a + b*f64(t) } }""",
        ADD,
    ],
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("sizes", [(3,), (2, 4)])
def test_kinds_of_sweeps(kind, sizes):
    if kind == "a map in a map":
        sizes = sizes[:1]
    before = program(*KINDS[kind], head=HEAD_2D)
    found = expect(TimeTiling(steps=2, sizes=sizes), on=before)
    assert "" in found.reasons()
    apply_once(found.after, TimeTiling(steps=2, sizes=sizes), check=True)
    found.same_values(N=[3, 8], M=[4, 7], T=[0, 1, 4, 5])
    assert print_sdfg(replay(copy_sdfg(before), found.after.history)) == print_sdfg(found.after)


def test_both_copies_in_one_array():
    text = """sdfg @f(A: f64[2, N]) symbols(N: size, T: size) { loop t = 1:T { state { map i = 1:N - 1 {
        tasklet (l <- A[t % 2, i - 1], r <- A[t % 2, i + 1]) -> (o -> A[(t + 1) % 2, i]) { o = l - r } } } } }"""
    found = expect(TimeTiling(steps=3, sizes=(4,)), on=parse(text))
    apply_once(found.after, TimeTiling(steps=3, sizes=(4,)), check=True)
    assert "A_tile: f64[2, 10]" in print_sdfg(found.after)
    found.same_values(N=[2, 3, 11], T=[0, 1, 2, 6])


@pytest.mark.parametrize("sizes", [(2,), (3, 2)])
def test_staggered_grids(sizes):
    """Fields between the points of others are smaller, or larger, by any number."""
    head = "sdfg @f(E: f64[N, M + 1], F: f64[N + 3, M], H: f64[N, M]) symbols(N: size, M: size, T: size)"
    on = program(
        "map i = 1:N, j = 0:M { tasklet (e <- E[i, j], h <- H[i - 1, j]) -> (o -> E[i, j]) { o = e - h } }",
        "map k = 0:N, l = 0:M { tasklet (f <- F[k + 3, l], h <- H[k, l]) -> (o -> F[k + 3, l]) { o = f - 2.0*h } }",
        "map p = 0:N, q = 0:M { tasklet (e <- E[p, q + 1], f <- F[p, q]) -> (o -> H[p, q]) { o = e - f } }",
        head=head,
    )
    found = expect(TimeTiling(steps=2, sizes=sizes), on=on)
    apply_once(found.after, TimeTiling(steps=2, sizes=sizes), check=True)
    found.same_values(N=[0, 1, 6], M=[0, 1, 5], T=[0, 1, 3])


def test_handles_stay():
    sdfg = program(THERE, BACK)
    (t,) = sdfg.body.blocks
    sweeps = list(t.body.blocks[0].nodes)
    bands, tiles, time = apply_once(sdfg, TimeTiling(steps=4, sizes=(8,)), loop=t, check=True)
    assert (bands.param, tiles.params) == ("t_tile", ("tile0",))
    assert time is t
    assert time.body.blocks[0].nodes == sweeps


@pytest.mark.parametrize(
    ("maps", "reason"),
    [
        ((THERE, BACK.replace("B[j]", "B[2*j]")), "is not at a constant distance from where it writes A[j]"),
        ((THERE.replace("B[i]", "A[i]").replace("A[i - 1]", "A[N - 1 - i]"),), "is not at a constant distance"),
        ((THERE.replace("1:N - 1", "1:N - 1:2"), BACK), "does not go in steps of one"),
        ((THERE, "tasklet (b <- B[0]) -> (o -> A[0]) { o = b }"), "tasklet to A inside is no sweep over a grid"),
        ((THERE.replace("B[i]", "B[0] (add)"),), "maps go along 0 dimensions of 'B', not along 1"),
        ((THERE.replace("B[i]", "B[i*i]"),), "is not at a constant distance"),
        ((), "it has no sweeps over a grid"),
    ],
)
def test_refusals(maps, reason):
    expect(TimeTiling(), on=program(*maps)).is_refused(reason)


def test_other_refusals():
    expect(TimeTiling(steps=0), on=program(THERE, BACK)).is_refused("0 steps in tiles of (64,) elements")
    expect(TimeTiling(sizes=(8, 8)), on=program(THERE, BACK)).is_refused("along 1 dimensions of 'B', not along 2")
    backwards = print_sdfg(program(THERE, BACK)).replace("0:T", "T - 1:-1:-1")
    expect(TimeTiling(), on=parse(backwards)).is_refused("does not go in steps of one")
    inside = print_sdfg(program(THERE, BACK)).replace("loop t", "state { map k = 0:1 { loop t", 1)[:-2] + "} } }"
    expect(TimeTiling(), on=parse(inside)).is_refused("belongs to all iterations of the map around it")
    diagonal = program("map i = 0:N { tasklet (a <- A[i, i]) -> (o -> A[i, i]) { o = a } }", head=HEAD_2D)
    expect(TimeTiling(sizes=(2, 2)), on=diagonal).is_refused("goes along a diagonal")


def written(function, **types):
    """The program of a copy with annotations: others call the kernel without."""
    ours = FunctionType(function.__code__, function.__globals__, function.__name__)
    ours.__annotations__ = types
    return dcpy.program(ours).to_sdfg()


SQUARE = dcpy.float64[N + 1, N + 1]
GRIDS = [dcpy.float64[(N,) * rank] for rank in (1, 2, 3)]
STENCILS = {
    "jacobi_1d": (written(jacobi_1d, TSTEPS=dcpy.int64, A=GRIDS[0], B=GRIDS[0]), (50,)),
    "jacobi_2d": (written(jacobi_2d, TSTEPS=dcpy.int64, A=GRIDS[1], B=GRIDS[1]), (16, 12)),
    "heat_3d": (written(heat_3d, TSTEPS=dcpy.int64, A=GRIDS[2], B=GRIDS[2]), (5, 6, 7)),
    "fdtd_2d": (
        written(fdtd_2d, TMAX=dcpy.int64, ex=SQUARE, ey=SQUARE, hz=SQUARE, _fict_=dcpy.float64[dcpy.symbol("TMAX")]),
        (7, 8),
    ),
}


@pytest.mark.cc
@pytest.mark.parametrize("name", list(STENCILS))
def test_stencils_compiled_are_those_of_numpy(name):
    before, sizes = STENCILS[name]
    function = {f.__name__: f for f in (jacobi_1d, jacobi_2d, heat_3d, fdtd_2d)}[name]
    after = copy_sdfg(before)
    apply_repeated(after, MapFusion())
    sdfg = apply_once(after, TimeTiling(steps=3, sizes=sizes), check=True) and after
    compiled = compile_sdfg(sdfg)
    random = np.random.default_rng(0)
    rank = 2 if name == "fdtd_2d" else len(sizes)
    for steps, n in itertools.product((1, 2, 5, 8), (3, 7, 24) if rank < 3 else (3, 13)):
        grids = [random.random((n,) * rank) for _ in range(3 if name == "fdtd_2d" else 2)]
        last = [random.random(steps)] if name == "fdtd_2d" else []
        expected, found = ([grid.copy() for grid in grids] for _ in range(2))
        function(steps, *expected, *last)
        compiled(steps, *found, *last)
        for ours, numpys in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, numpys)


def test_gauss_seidel_is_refused():
    sdfg = written(seidel_2d, TSTEPS=dcpy.int64, N=dcpy.int64, A=GRIDS[1])
    expect(TimeTiling(), on=sdfg).is_refused(" inside is no sweep over a grid: loop-to-map may make it a map")

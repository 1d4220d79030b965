"""Kernels: what lowering makes of maps on grids and blocks, and the text of the device; refusals with their reasons."""

from __future__ import annotations

import pytest

from dcpy.base.errors import CodegenError
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.codegen.lir.text import print_functions, print_kernels
from dcpy.codegen.lower.gpu.gpu_lowering import GpuLowering
from dcpy.codegen.lower.gpu.launch_geometry import geometry_of, most_iterations
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import default_signature
from dcpy.ir.nodes import Map
from dcpy.ir.text import parse_sdfg

AXPY = """
    sdfg @axpy(a: f64, x: f64[N], y: f64[N]) symbols(N: size) {
      data gpu_x: f64[N] transient @global @heap
      data gpu_y: f64[N] transient @global @heap
      state { copy x[0:N] -> gpu_x[0:N]  copy y[0:N] -> gpu_y[0:N] }
      state { map b = 0:N:256 @grid { state { map i = b:min(b + 256, N) @block { state {
        tasklet (xi <- gpu_x[i], yi <- gpu_y[i], s <- a) -> (o -> gpu_y[i]) { o = s * xi + yi }
      } } } } }
      state { copy gpu_y[0:N] -> y[0:N] }
    }"""
SMOOTH = """
    sdfg @smooth(x: f64[N, M], y: f64[N, M]) symbols(N: size, M: size) {
      data gpu_x: f64[N, M] transient @global @heap
      data gpu_y: f64[N, M] transient @global @heap
      state { copy x[0:N, 0:M] -> gpu_x[0:N, 0:M] }
      state { map bi = 1:N - 1:8, bj = 1:M - 1:32 @grid {
        data tile: f64[10, 34] transient @shared @heap
        state { map k = 0:340 @block { state {
          tasklet (a <- gpu_x[min(bi + k // 34 - 1, N - 1), min(bj + k % 34 - 1, M - 1)])
               -> (o -> tile[k // 34, k % 34]) { o = a }
        } } }
        state { map i = bi:min(bi + 8, N - 1), j = bj:min(bj + 32, M - 1) @block {
          data t: f64 transient @register
          state { tasklet (a <- tile[i - bi, j - bj + 1], b <- tile[i - bi + 2, j - bj + 1]) -> (o -> t) { o = a + b } }
          state { tasklet (a <- t) -> (o -> gpu_y[i, j]) { o = a / 2.0 } }
        } }
      } }
      state { copy gpu_y[1:N - 1, 1:M - 1] -> y[1:N - 1, 1:M - 1] }
    }"""
GATHER = """
    sdfg @gather(x: f64[N], k: i64[M], h: i32[N]) symbols(N: size, M: size) {
      data gpu_x: f64[N] transient @global @heap
      data gpu_k: i64[M] transient @global @heap
      data gpu_h: i32[N] transient @global @heap
      data tally: i32[4] transient @global @heap
      state { copy k[0:M] -> gpu_k[0:M]  copy x[0:N] -> gpu_x[0:N]  copy h[0:N] -> gpu_h[0:N] }
      state { map b = 0:M:64 @grid {
        data sums: i32[4] transient @shared @heap
        state { map c = 0:4 @block { state { tasklet () -> (o -> sums[c]) { o = 0 } } } }
        state { map i = b:min(b + 64, M) @block {
          data j: i64 transient @register
          state { tasklet (q <- gpu_k[i]) -> (o -> j) { o = wrap(q, N, 0) } }
          let p = j
          check p > 1 else ValueError "{0}" (p)
          state { tasklet () -> (o -> gpu_h[p] (add)) { o = 1 }
                  tasklet () -> (o -> sums[p % 4] (max)) { o = 1 }
                  tasklet (a <- gpu_x[p]) -> (o -> gpu_x[i]) { o = a } }
        } }
        state { map c = 0:4 @block { state { tasklet (a <- sums[c]) -> (o -> tally[c] (add)) { o = a } } } }
      } }
      state { copy gpu_h[0:N] -> h[0:N] }
    }"""
MANY = """
    sdfg @many(y: f64[A, B, C, D, 2]) symbols(A: size, B: size, C: size, D: size) {
      data gpu_y: f64[A, B, C, D, 2] transient @global @heap
      state { copy y[0:A, 0:B, 0:C, 0:D, 0:2] -> gpu_y[0:A, 0:B, 0:C, 0:D, 0:2] }
      state { map a = 0:A, b = 0:B:2, c = 0:C, d = 0:D:8 @grid {
        data pair: f64[2] transient @shared @heap
        state { map k = 0:2 @block { state { tasklet () -> (o -> gpu_y[a, b, c, d, k]) { o = f64(a + k) } } } }
        loop t = 0:3 {
          state { map k = 0:2 @block { state { copy gpu_y[a, b, c, d, 1 - k] -> pair[k] } } }
          state { map k = 0:2 @block { state {
            tasklet (v <- pair[k]) -> (o -> gpu_y[a, b, c, d, k]) { o = v + f64(t) } } } }
        }
      } }
      state { copy gpu_y[0:A, 0:B, 0:C, 0:D, 0:2] -> y[0:A, 0:B, 0:C, 0:D, 0:2] }
    }"""
PROGRAMS = {"axpy": AXPY, "smooth": SMOOTH, "gather": GATHER, "many": MANY}


def options(**more):
    return resolve_options({"device": "gpu", "gpu.backend": "simulator", **more}, environ={})


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_lir(program, golden):
    sdfg, chosen = parse_sdfg(program), options()
    module = lower_program(sdfg, default_signature(sdfg), chosen.cpu, {}, device=GpuLowering(chosen.gpu))
    golden(print_kernels(tuple(module.kernels)) + "\n" + print_functions(tuple(module.functions[:1])))


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_text_of_the_device(program, golden):
    artifact = generate_gpu(parse_sdfg(program), None, None, options())
    unit = artifact.units[1]
    assert (unit.language, unit.name) == ("device", f"{artifact.signature.name}.kernels.cu")
    assert [kernel.name in unit.text for kernel in artifact.kernels] == [True] * len(artifact.kernels)
    golden(unit.text)


def test_an_artifact_has_what_compilers_read():
    artifact = generate_gpu(parse_sdfg(SMOOTH), None, None, options())
    assert [unit.name for unit in artifact.units] == [
        "smooth.cpp", "smooth.kernels.cu", "dcpy_table.h", "dcpy_device.h", "dcpy_chips.h",
    ]  # fmt: skip
    assert [(one.name, one.threads, one.shared_bytes, one.small_of) for one in artifact.kernels] == [
        ("smooth_bi_bj", (1, 8, 32), 340 * 8, ""),
        ("smooth_bi_bj_small", (1, 8, 32), 340 * 8, "smooth_bi_bj"),
    ]  # fmt: skip
    assert artifact.languages == ("C++", "device")
    assert "smooth_attach" in artifact.units[0].text


def test_blocks_are_as_large_as_their_maps():
    sdfg = parse_sdfg("""
        sdfg @p(x: f64[N]) symbols(N: size) { state {
          map b = 0:N:256 @grid { state { map i = b:min(b + 256, N) @block { } } }
          map b = 0:N:2 @grid { state { map i = 0:N @block { } } }
          map b = 0:N @grid { state { map i = 0:4, j = 0:2000 @block { } } state { map k = 0:9 @block { } } }
          map b = 0:N @grid { }
        } }""")
    grids = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.params == ("b",)]
    found = [geometry_of(node) for node in grids]
    assert [one.threads for one in found] == [(1, 1, 256), (1, 1, 256), (1, 1, 1024), (1, 1, 1)]
    assert found[2].axes_of(next(n for n in grids[2].body.walk_nodes() if n.params == ("k",))) == ("all",)
    maps = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.params == ("i",)]
    assert [most_iterations(node.domain[0]) for node in maps] == [256, None]


IN_GRID = "sdfg @p(x: f64[N], s: f64) symbols(N: size) {{ data g: f64[N] transient @global @heap {} }}"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("state { map b = 0:N @grid { state { tasklet (a <- x[b]) -> (o -> g[b]) { o = a } } } }",
         "a kernel touches 'x', which is in the memory of the host"),
        ("state { map b = 0:N, c = 0:b @grid { state { tasklet () -> (o -> g[b]) { o = 1.0 } } } }",
         "a grid is rectangular"),
        ("state { map b = N - 1:-1:-1 @grid { state { tasklet () -> (o -> g[b]) { o = 1.0 } } } }",
         "blocks of a grid count upwards"),
        ("state { map b = 0:N @block { state { tasklet () -> (o -> g[b]) { o = 1.0 } } } }",
         "a map of a block outside of a map on a grid"),
        ("state { map b = 0:N @grid { state { map c = 0:N @grid { state { "
         "tasklet () -> (o -> g[c]) { o = 1.0 } } } } } }",
         "a map on a grid inside of another map"),
        ("state { map b = 0:N:8 @grid { state { map i = b:min(b + 8, N) @block { "
         "state { tasklet (a <- g[i]) -> (o -> g[0] (add)) { o = a } } } } } }",
         r"threads of a device combine floats in one place, g\[0\]"),
        ("state { map b = 0:N @grid { data t: f64[N] transient @heap state { map i = 0:N @block { "
         "state { tasklet () -> (o -> t[i]) { o = 1.0 } } } } } }",
         "'t' is allocated in a kernel, in the host memory"),
        ("state { tasklet () -> (o -> g[0]) { o = 1.0 } }", "the host touches g"),
    ],
)  # fmt: skip
def test_refusals(body, reason):
    with pytest.raises(CodegenError, match=reason):
        generate_gpu(parse_sdfg(IN_GRID.format(body)), None, None, options())


def test_threads_may_combine_floats_where_the_user_lets_them():
    body = (
        "state { map b = 0:N:8 @grid { state { map i = b:min(b + 8, N) @block { "
        "state { tasklet (a <- g[i]) -> (o -> g[0] (add)) { o = a } } } } } }"
    )
    in_any_order = options(**{"gpu.deterministic": False})
    text = generate_gpu(parse_sdfg(IN_GRID.format(body)), None, None, in_any_order).units[1].text
    assert "dcpy_atomic_add(&g[0], (double)g[i]);" in text


def test_each_iteration_of_a_tile_has_its_own_place():
    body = (
        "state { map b = 0:N:8 @grid { state { map i = b:min(b + 8, N) @block { "
        "state { tasklet (a <- s) -> (o -> g[i] (add)) { o = a } } } } } }"
    )
    assert "g[i] += s;" in generate_gpu(parse_sdfg(IN_GRID.format(body)), None, None, options()).units[1].text

"""VectorLoads: neighbours of a row in one load; what cannot, and why; instructions, sectors and values."""

import pytest

from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.runtime.gpu.sass import count, instructions
from dcpy.transforms.gpu.blocks.map_to_grid import MapToGrid
from dcpy.transforms.gpu.blocks.vector_loads import VectorLoads
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.runtime.gpu import chips
from tests.support.passes import Passed

AXPY = """
    sdfg @axpy(a: {t}, x: {t}[N], y: {t}[N]) symbols(N: size) {{
      state {{ map i = 0:N {{ tasklet (p <- x[i], q <- y[i], s <- a) -> (o -> y[i]) {{ o = s * p + q }} }} }}
    }}"""
HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], x: f64[M], f: f32[M]) symbols(N: size, M: size{{multiple_of = {}}})"


def widened(text):
    return Passed(text, PlaceComputation(), FormKernels(), VectorLoads())


def of(tasklet, multiple=2, domain="i = 0:N, j = 0:M"):
    return widened(f"{HEAD.format(multiple)} {{ state {{ map {domain} {{ {tasklet} }} }} }}")


@pytest.mark.parametrize(("dtype", "width"), [("f64", 2), ("f32", 4), ("i64", 2)])
def test_neighbours_become_one_threads(dtype, width):
    widened(AXPY.format(t=dtype)).becomes(f"""
        sdfg @axpy(a: {dtype}, x: {dtype}[N], y: {dtype}[N]) symbols(N: size) {{
          state {{ map i_tile = 0:N:{width} @grid {{ state {{
            map i = i_tile:min(N, i_tile + {width}) @vector{{width = {width}}} {{ state {{
              tasklet (p <- x[i], q <- y[i], s <- a) -> (o -> y[i]) {{ o = s * p + q }}
            }} }}
          }} }} }}
        }}""").same_values(N=[0, 1, 2, 5]).says(
        f"each thread computes {width} neighbours along i, with loads of 16 bytes"
    )


def test_rows_of_even_length():
    of("tasklet (a <- A[i, j], b <- x[j]) -> (o -> B[i, j]) { o = a + b }").says("2 neighbours along j")
    found = of("tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a }", domain="j = 0:M, i = 0:N")
    assert "map i = 0:N, j_tile = 0:M:2 @grid" in found.same_values(N=[3], M=[4]).text


@pytest.mark.parametrize(
    ("tasklet", "multiple", "reason"),
    [
        ("tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a }", 1,
         "A[i, j] begins at M*i, which need not be a multiple of 2"),
        ("tasklet (a <- A[i, M - 1 - j]) -> (o -> B[i, j]) { o = a }", 2, "does not advance by one element along 'j'"),
        ("tasklet (a <- f[j]) -> (o -> B[i, j]) { o = f64(a) }", 2, "elements have 2 sizes"),
        ("tasklet (a <- B[i, 0]) -> (o -> B[i, j]) { o = a }", 2, "a written array is also accessed in another way"),
    ],
)  # fmt: skip
def test_refusals(tasklet, multiple, reason):
    found = of(tasklet, multiple)
    assert "@vector" not in found.text
    found.says("no loads of 16 bytes: ", reason, applied=False)


def test_few_points_stay():
    text = AXPY.format(t="f64").replace("N: size", "K: size").replace("N", "5000").replace("K", "N")
    widened(text).says("5000 points along 'i' are few", applied=False)


def kernel_of(dtype, *passes, backend="simulator", **more):
    """The device's unit for a program whose arguments are on the device."""
    text = AXPY.format(t=dtype).replace("[N]", "[N] @global")
    sdfg = Passed(text, PlaceComputation(), FormKernels(), *passes, MapToGrid()).after
    options = resolve_options({"device": "gpu", "gpu.backend": backend, **more}, environ={})
    return generate_gpu(sdfg, None, None, options).units[1]


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_the_text(dtype):
    text = kernel_of(dtype, VectorLoads()).text
    kind = {"f64": "double", "f32": "float"}[dtype]
    assert f"const dcpy_vector<{kind}> x_wide = dcpy_load128(&x[i_tile]);" in text
    assert "dcpy_is_aligned128(&x[i_tile]) && dcpy_is_aligned128(&y[i_tile])" in text
    assert "dcpy_store128(&y[i_tile], y_wide);" in text
    assert "128" not in kernel_of(dtype).text


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_loads_of_128_bits(dtype):
    chips.needs("nvdisasm")
    binary = chips.nvrtc().compile(kernel_of(dtype, VectorLoads()), chips.HEADERS, "sm_90", GpuOptions())
    (found,) = instructions(binary.code).values()
    assert (count(found, "LDG.128"), count(found, "STG.128")) == (2, 1)
    assert count(found, "LDG.128.CONSTANT") == 1
    (needs,) = binary.resources
    assert (needs.spill_stores, needs.stack) == (0, 0)
    assert needs.registers <= 32


@pytest.mark.cc
def test_hip_compiles_it():
    compiler = chips.hipcc()
    assert compiler.compile(kernel_of("f32", VectorLoads()), chips.HEADERS, "gfx90a", GpuOptions()).code

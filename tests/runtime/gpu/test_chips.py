"""Kernels by hand, the text that the simulator runs, compiled for chips that are not here: what they need and hold."""

from __future__ import annotations

import json

import pytest

from dcpy.base.errors import ToolchainError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import Unit
from dcpy.runtime.gpu.binaries import binaries_in, binary_for, build_device
from dcpy.runtime.gpu.compiler_selection import device_compiler
from dcpy.runtime.gpu.device_compilers import CompilationFailed
from dcpy.runtime.gpu.kernel_resources import KernelResources, exceeded
from dcpy.runtime.gpu.nvrtc import find_nvidia_compiler, open_nvrtc
from dcpy.runtime.gpu.sass import count, instructions, run_tool
from tests.conftest import GOLDEN
from tests.runtime.gpu import chips
from tests.runtime.gpu.kernels import AXPY, GOOD, ROWS

pytestmark = pytest.mark.cc

# Everything that the dialect has and the kernels of the simulator's tests leave out.
REST = """
struct pair { double real, imag; };

DCPY_KERNEL(wide, 128)(double a, const double *__restrict x, double *__restrict y, int64_t n) {
    const int64_t i = 2 * (DCPY_BLOCK_X * 128 + DCPY_THREAD_X);
    if (i + 1 < n) {
        dcpy_vector<double> u = dcpy_load128(x + i), v = dcpy_load128(y + i);
        for (int k = 0; k < 2; ++k) v.at[k] += a * u.at[k];
        dcpy_store128(y + i, v);
    }
}

DCPY_KERNEL(narrow, 128)(const float *__restrict x, float *__restrict y, int64_t n) {
    const int64_t i = 4 * (DCPY_BLOCK_X * 128 + DCPY_THREAD_X);
    if (i + 3 < n) dcpy_store128(y + i, dcpy_load128(x + i));
}

DCPY_KERNEL(atomics, 64)(double *d, float *f, int32_t *i, int64_t *l, uint32_t *v, uint64_t *u, int8_t *b, uint16_t *h,
                         pair *c) {
    const int32_t t = DCPY_THREAD_X;
    dcpy_atomic_add(d, (double)t), dcpy_atomic_add(f, (float)t), dcpy_atomic_add(i, t), dcpy_atomic_add(l, (int64_t)t);
    dcpy_atomic_add(v, (uint32_t)t), dcpy_atomic_add(u, (uint64_t)t), dcpy_atomic_add(b, (int8_t)t);
    dcpy_atomic_add(h, (uint16_t)t), dcpy_atomic_add(c, pair{1.0, t * 1.0});
    dcpy_atomic_min(d, (double)t), dcpy_atomic_max(f, (float)t), dcpy_atomic_min(i, t), dcpy_atomic_max(l, (int64_t)t);
    dcpy_atomic_min(u, (uint64_t)t), dcpy_atomic_max(v, (uint32_t)t), dcpy_atomic_max(h, (uint16_t)t);
    dcpy_atomic_exchange(d + 1, 2.0), dcpy_atomic_compare_exchange(i + 1, 3, 4);
}

DCPY_KERNEL(words, 64)(double *d, int8_t *b, pair *c, int64_t *errors, int64_t n) {
    const int32_t t = DCPY_THREAD_X;
    DCPY_DYNAMIC(double, scratch, 64);
    const pair z = dcpy_shuffle_xor(c[t], 1);
    b[t] = dcpy_shuffle(b[t], 3);
    scratch[t] = z.real + z.imag;
    DCPY_WARP_BARRIER();
    d[t] = scratch[t ^ 1];
    DCPY_BARRIER();
    d[t] += scratch[63 - t] + __builtin_inf() + __builtin_nan("") + (double)__builtin_ctzll((uint64_t)n);
    int64_t product;
    if (__builtin_mul_overflow(n, (int64_t)t, &product)) dcpy_fail(errors, {1, 0, t}, 1, t, n, 0, 0);
    if (__builtin_expect(d[t] > 3, 0)) d[t] = sqrt(d[t]) / (double)(int64_t)((__int128)n * n >> 64) + __builtin_inff();
    __builtin_memcpy(d + 1, c, sizeof(double));
}
"""
REST_ROWS = ("wide", "narrow", "atomics", "words")
UNIT = chips.unit_of(GOOD + REST, *ROWS.values(), *(f"DCPY_ROW({name}, 64, 0)" for name in REST_ROWS))
ONE = chips.unit_of(AXPY, ROWS["axpy"])
SUM_OF_FLOATS = "DCPY_KERNEL(atomics, 64)(float *x, float a) { dcpy_atomic_add(x, a); }"
FIGURES = GOLDEN / "runtime" / "gpu" / "resources.json"


@pytest.fixture(scope="module")
def nvrtc():
    return chips.nvrtc()


@pytest.fixture(scope="module", params=chips.NVIDIA)
def binary(request, nvrtc):
    return nvrtc.compile(UNIT, chips.HEADERS, request.param, GpuOptions())


@pytest.fixture(scope="module")
def sass(binary):
    chips.needs("nvdisasm")
    return instructions(binary.code)


def test_every_kernel_compiles_and_none_spills(binary):
    names = [*ROWS, *REST_ROWS]
    assert [one.kernel for one in binary.resources] == sorted(names)
    assert exceeded(binary.resources, {one.kernel: one for one in binary.resources}) == ()
    assert {one.kernel: one.shared for one in binary.resources if one.shared} == {
        "stencil": 2720,
        "sum": 80,
        "transpose": 4224,
    }


def test_kernels_need_no_more_than_the_golden_figures(binary, nvrtc, request):
    known = json.loads(FIGURES.read_text()) if FIGURES.is_file() else {}
    if request.config.getoption("--update-golden"):
        known |= {"compiler": nvrtc.id, binary.arch: {one.kernel: one.as_numbers() for one in binary.resources}}
        FIGURES.parent.mkdir(parents=True, exist_ok=True)
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    if known["compiler"] != nvrtc.id:
        pytest.skip(f"the golden figures are of {known['compiler']}, and this is {nvrtc.id}")
    golden = {name: KernelResources.of_numbers(name, numbers) for name, numbers in known[binary.arch].items()}
    assert exceeded(binary.resources, golden) == ()


def test_wide_loads_and_stores_are_one_instruction(sass):
    for kernel, loads in (("wide", 2), ("narrow", 1)):
        assert count(sass[kernel], "LDG.128") == count(sass[kernel], "LDG") == loads
        assert count(sass[kernel], "STG.128") == count(sass[kernel], "STG") == 1
    assert count(sass["axpy"], "LDG.64") == 2


def test_products_and_sums_round_apart(sass, nvrtc, binary):
    assert (count(sass["axpy"], "DMUL"), count(sass["axpy"], "DADD"), count(sass["axpy"], "DFMA")) == (1, 1, 0)
    fused = instructions(nvrtc.compile(ONE, chips.HEADERS, binary.arch, GpuOptions(fma=True)).code)
    assert (count(fused["axpy"], "DMUL"), count(fused["axpy"], "DADD"), count(fused["axpy"], "DFMA")) == (0, 0, 1)


def test_shared_memory_barriers_shuffles_and_fences(sass):
    assert count(sass["stencil"], "BAR") == 1
    assert count(sass["stencil"], "LDS") >= 5
    assert count(sass["sum"], "SHFL") >= 10  # five steps of two words
    assert count(sass["sum"], "MEMBAR") == 2
    assert count(sass["sum"], "BAR") == 3
    assert not any(count(words, "LDL") or count(words, "STL") for words in sass.values())


def test_sums_of_float_keep_denormal_numbers_unless_told_otherwise(sass, nvrtc, binary):
    def flushed(kernels):
        return [word for word in kernels["atomics"] if {"ADD", "F32", "FTZ"} <= set(word.split("."))]

    assert flushed(sass) == []
    fast = nvrtc.compile(chips.unit_of(SUM_OF_FLOATS), chips.HEADERS, binary.arch, GpuOptions(fast_math=True))
    assert len(flushed(instructions(fast.code))) == 1
    assert [word for word in sass["atomics"] if {"ADD", "F64"} <= set(word.split("."))]


def test_cuobjdump_says_what_ptxas_said(binary, tmp_path):
    chips.needs("cuobjdump")
    (tmp_path / binary.file).write_bytes(binary.code)
    said = run_tool("cuobjdump", "--dump-resource-usage", str(tmp_path / binary.file))
    for one in binary.resources:
        assert f"REG:{one.registers} STACK:{one.stack} " in said.partition(f"Function {one.kernel}:")[2].splitlines()[1]


# --- from an artifact to a folder, and what goes wrong on the way ---


def test_an_artifact_is_built_for_several_chips(nvrtc, tmp_path):
    archs = ("sm_80", "90", "sm_130")
    binaries = build_device(chips.artifact_of(ONE), tmp_path, nvrtc, archs, GpuOptions(), kept_at=tmp_path)
    newest = nvrtc.known[-1]
    assert [one.file for one in binaries] == [
        "kernels.sm_80.cubin",
        "kernels.sm_90.cubin",
        f"kernels.compute_{newest}.ptx",
    ]
    found = binaries_in(tmp_path)
    assert [one.resources for one in found] == [one.resources for one in binaries]
    assert f"PTX of sm_{newest}" in found[2].note
    assert binary_for(tmp_path, "sm_86")[1] == binaries[0].code
    assert binary_for(tmp_path, "sm_90")[1] == binaries[1].code
    assert b".target sm_" in binary_for(tmp_path, "sm_130")[1]


def test_the_same_text_gives_the_same_bytes(nvrtc):
    first, second = (nvrtc.compile(ONE, chips.HEADERS, "sm_90", GpuOptions()) for _ in range(2))
    assert first == second


def test_what_does_not_compile_is_shown_with_its_line_of_python(nvrtc, tmp_path):
    span = SrcSpan("program.py", 7, 4, 7, 9)
    text = '#include "dcpy_device.h"\nDCPY_KERNEL(bad, 32)(double *x) {\n    x[0] = unheard_of;\n}\n'
    unit = Unit("bad.kernels.cu", text, "device", places=((2, span),))
    with pytest.raises(ToolchainError, match='the device compiler failed: error: identifier "unheard_of"') as caught:
        build_device(chips.artifact_of(unit), tmp_path, nvrtc, ("sm_90",), GpuOptions(), kept_at=tmp_path / "kept")
    assert caught.value.span == span
    assert f"generated code: {tmp_path}/kept/bad.kernels.cu:3" in caught.value.notes
    assert any("--gpu-architecture=sm_90" in note for note in caught.value.notes)


def test_what_a_block_cannot_hold_is_shown(nvrtc, tmp_path):
    text = "DCPY_KERNEL(big, 32)(double *x) { DCPY_SHARED(double, t, 10000); t[DCPY_THREAD_X] = *x; *x = t[3]; }"
    unit = chips.unit_of(text, "DCPY_ROW(big, 32, 80000)")
    with pytest.raises(ToolchainError, match="'big' uses too much shared data"):
        build_device(chips.artifact_of(unit), tmp_path, nvrtc, ("sm_90",), GpuOptions(), kept_at=tmp_path)


def test_an_update_that_no_chip_has_is_refused(nvrtc):
    text = "struct q { double a, b; };\nDCPY_KERNEL(f, 32)(q *x) { dcpy_atomic_exchange(x, q{1, 2}); }"
    with pytest.raises(CompilationFailed, match="no atomic update of more than 8 bytes"):
        nvrtc.compile(chips.unit_of(text, "DCPY_ROW(f, 32, 0)"), chips.HEADERS, "sm_90", GpuOptions())


def test_a_header_that_is_missing_is_not_searched_elsewhere(nvrtc):
    with pytest.raises(CompilationFailed, match=r'could not open source file "dcpy_device\.h"'):
        nvrtc.compile(UNIT, (), "sm_90", GpuOptions())


def test_a_missing_nvrtc_says_what_to_install(tmp_path):
    (tmp_path / "libnvrtc.so").write_bytes(b"no library")
    places = (str(tmp_path / "libnvrtc.so"), "libnothing.so")
    assert [open_nvrtc(place) for place in places] == [None, None]
    with pytest.raises(ToolchainError, match="NVRTC is missing") as caught:
        find_nvidia_compiler(places=places)
    assert "[gpu]" in caught.value.help
    assert "libnothing.so" in caught.value.notes[0]


def test_an_nvrtc_that_the_driver_can_follow_is_preferred(nvrtc):
    major = nvrtc.version[0]
    places = (nvrtc.path,)
    for driver in (0, major - 1, major, major + 1):  # where there is no other, it is tried
        assert find_nvidia_compiler(driver, places=places).id == nvrtc.id


def test_a_chip_that_is_named_needs_no_device(nvrtc):
    compiler, arch = device_compiler("cuda", resolve_options({"gpu.arch": "sm_80"}))
    assert (compiler.id, arch) == (nvrtc.id, "sm_80")


# --- other compilers, where they are ---


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_nvcc_takes_the_same_text(arch):
    compiler = chips.nvcc()
    found = compiler.compile(UNIT, chips.HEADERS, arch, GpuOptions())
    assert found.file == f"kernels.{arch}.cubin"
    assert [one.kernel for one in found.resources] == sorted([*ROWS, *REST_ROWS])
    assert exceeded(found.resources, {one.kernel: one for one in found.resources}) == ()
    with pytest.raises(CompilationFailed, match=r"dcpy_device\.h"):
        compiler.compile(UNIT, (), arch, GpuOptions())


@pytest.mark.parametrize("arch", chips.AMD)
def test_hipcc_takes_the_same_text(arch):
    found = chips.hipcc().compile(UNIT, chips.HEADERS, arch, GpuOptions())
    assert found.file == f"kernels.{arch}.hsaco"
    assert [one.kernel for one in found.resources] == sorted([*ROWS, *REST_ROWS])
    assert exceeded(found.resources, {one.kernel: one for one in found.resources}) == ()


def test_hipcc_shows_what_does_not_compile(tmp_path):
    compiler = chips.hipcc()
    span = SrcSpan("program.py", 7, 4, 7, 9)
    text = '#include "dcpy_device.h"\nDCPY_KERNEL(bad, 32)(double *x) {\n    x[0] = unheard_of;\n}\nDCPY_KERNELS(bad)\n'
    unit = Unit("bad.kernels.cu", text, "device", places=((2, span),))
    with pytest.raises(ToolchainError, match="undeclared identifier 'unheard_of'") as caught:
        build_device(chips.artifact_of(unit), tmp_path, compiler, ("gfx90a",), GpuOptions(), kept_at=tmp_path)
    assert caught.value.span == span
    with pytest.raises(ToolchainError, match="unknown GPU architecture 'sm_90'"):
        compiler.compile(unit, chips.HEADERS, "sm_90", GpuOptions())

"""Networks as OpenCL with channels: the text, and what runs on Intel's emulator, which `make test-fpga` installs."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ToolchainError
from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.ir.text import parse_sdfg
from tests.codegen.fpga.test_kernels import AXPY, CHAIN

INTEL = {"device": "fpga", "fpga.vendor": "intel"}
EMULATED = {**INTEL, "fpga.mode": "emulate"}
EMULATOR = Path(sys.prefix) / "lib" / "libintelocl_emu.so"
N, M = dcpy.symbol("N"), dcpy.symbol("M")


def text_of(text: str) -> str:
    """The unit for the vendor's tool."""
    return generate_fpga(parse_sdfg(text), options=resolve_options(INTEL)).units[-1].text


def test_text(golden):
    """A kernel for each process, channels, and intervals where they are asked for."""
    golden(text_of(AXPY).partition("#endif\n")[2])


def test_host_text(golden):
    """What starts the kernels of a board."""
    units = generate_fpga(parse_sdfg(AXPY), options=resolve_options(EMULATED)).units
    assert [unit.name for unit in units] == ["axpy.cpp", "axpy.board.cpp", "dcpy_board.h", "axpy.cl"]
    head, _, rest = units[1].text.partition("static const char *const source = ")
    golden(head + rest.partition(";\n\n")[2])


def test_copies_are_written_out():
    """Each has the channels and the number that are its own; without arguments it starts by itself."""
    text = text_of(CHAIN)
    assert "channel int64_t s[5] DCPY_DEPTH(2);" in text
    assert "DCPY_AUTORUN void chain_pe_3(void)" in text
    assert "const int64_t p = 3;" in text
    assert "write_channel_intel(s[4], " in text


def test_bytes_that_are_true_are_read_where_they_are():
    """A pointer would have an address space, of which a function has one."""
    count = "loop i = 0:8 @pipelined { tasklet (m <- mask[i]) -> (o -> y[i]) { o = i64(m) } }"
    text = text_of(f"sdfg @f(mask: bool[8], y: i64[8]) {{ dataflow {{ process count {{ {count} }} }} }}")
    assert "(mask[i] != 0)" in text
    assert "dcpy_is_set" not in text


def test_names_are_not_those_of_opencl():
    text = text_of(AXPY.replace("x: f32", "kernel: f32").replace("x[i]", "kernel[i]").replace("xs", "mix"))
    assert "__global const float *restrict kernel_1)" in text
    assert "channel float mix_1 DCPY_DEPTH(2);" in text


def test_long_names_are_cut():
    """Of modules, for Intel's tool: they end in a digest, so that two that begin alike differ."""
    long = "axpy_of_two_arrays_and_a_number_as_one_writes_it"
    text = text_of(AXPY.replace("@axpy", f"@{long}"))
    names = [line.partition(" void ")[2].partition("(")[0] for line in text.splitlines() if " void " in line]
    assert len(set(names)) == 4
    assert all(len(name) <= 42 and name.startswith("axpy_of_two_arrays") for name in names)


@pytest.mark.parametrize("dtype", ["f16", "c64"])
@pytest.mark.parametrize("vendor", ["xilinx", "intel"])
def test_numbers_that_boards_do_not_have_are_refused(vendor, dtype):
    options = resolve_options({"device": "fpga", "fpga.vendor": vendor})
    text = """sdfg @f(x: f32[8], y: f32[8]) {
      stream s: f32 capacity 2 transient
      dataflow { process a { copy x[0] -> s } process b { copy s -> y[0] } } }"""
    with pytest.raises(dcpy.DcpyError, match=r"float16|complex|f16|c64"):
        generate_fpga(parse_sdfg(text.replace("f32", dtype)), options=options)


def test_a_missing_emulator_is_an_error_that_says_what_to_install(monkeypatch, tmp_path):
    from dcpy.runtime.fpga.boards import library_for

    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(ToolchainError, match="emulator for FPGAs is not installed") as caught:
        library_for(resolve_options(EMULATED).fpga)
    assert "[fpga-intel]" in caught.value.help


@pytest.mark.parametrize(
    ("vendor", "mode"), [("xilinx", "emulate"), ("xilinx", "hardware"), ("intel", "hardware")]
)
def test_boards_need_a_bitstream(vendor, mode, tmp_path):
    from dcpy.runtime.fpga.boards import bitstream_for

    options = {"device": "fpga", "fpga.vendor": vendor, "fpga.mode": mode}
    with pytest.raises(ToolchainError, match=r"fpga\.program names no bitstream") as caught:
        bitstream_for(resolve_options(options).fpga)
    assert f"--target {vendor}" in caught.value.help
    with pytest.raises(ToolchainError, match="there is no bitstream"):
        bitstream_for(resolve_options({**options, "fpga.program": str(tmp_path / "no.aocx")}).fpga)


@pytest.mark.cc
def test_nothing_falls_back_to_a_simulation(tmp_path):
    """A library that is none is found when the program is loaded, not later."""
    (tmp_path / "libOpenCL.so").write_text("no library")
    (tmp_path / "axpy.xclbin").write_text("no bitstream")
    options = {"fpga.library": str(tmp_path / "libOpenCL.so"), "fpga.program": str(tmp_path / "axpy.xclbin")}
    with pytest.raises(ToolchainError, match="the OpenCL library cannot be opened"):
        dcpy.parse(AXPY).compile(device="fpga", **{"fpga.mode": "hardware"}, **options)


@pytest.mark.hls
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_axpy_is_numpys(n):
    x, y, a = np.linspace(-1, 1, n, dtype=np.float32), np.linspace(3, 5, n, dtype=np.float32), np.float32(0.3)
    program = dcpy.parse(AXPY).compile(**EMULATED)
    for _ in range(3):  # arrays of the device stay
        out = np.zeros(n, np.float32)
        program(a, x, y, out)
        assert np.array_equal(out, a * x + y)


def gemv(A: dcpy.float32[M, N], x: dcpy.float32[N], y: dcpy.float32[M]):
    y[:] = A @ x


def jacobi_1d(T: dcpy.int64, A: dcpy.float32[N], B: dcpy.float32[N]):
    for _ in range(1, T):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@pytest.mark.hls
@pytest.mark.parametrize("options", [{}, {"fpga.vendor": "intel", "fpga.mode": "emulate"}], ids=["xilinx", "intel"])
def test_programs_are_numpys_on_both(options):
    rng = np.random.default_rng(1)
    a, x, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((20, 30), 30, 20))
    dcpy.program(gemv, device=dcpy.DeviceType.FPGA, **options)(a, x, y)
    assert np.allclose(y, a @ x, rtol=1e-5, atol=1e-5)
    first, second = x.copy(), x.copy()
    dcpy.program(jacobi_1d, device=dcpy.DeviceType.FPGA, **options)(5, first, second)
    same, other = x.copy(), x.copy()
    jacobi_1d(5, same, other)
    assert np.array_equal(first, same)
    assert np.array_equal(second, other)


@pytest.mark.hls
def test_copies_of_a_process():
    x = np.arange(16)
    emulated, interpreted = np.zeros((4, 8), np.int64), np.zeros((4, 8), np.int64)
    dcpy.parse(CHAIN).compile(**EMULATED)(x, emulated)
    dcpy.parse(CHAIN).interpret(x=x, y=interpreted)
    assert np.array_equal(emulated, interpreted)


HANGS = """
import numpy as np, os, dcpy
from tests.codegen.fpga.test_intel import EMULATED
from tests.codegen.fpga.test_kernels import CROSSED, of_any_size
try:
    compiled = dcpy.parse(of_any_size(CROSSED)).compile(**EMULATED, **{"fpga.watchdog": 1})
    compiled(np.arange(6000.0), np.zeros(6000))
except RuntimeError as error:
    print(error, flush=True)
os._exit(0)  # the kernels do not end
"""


@pytest.mark.hls
def test_kernels_that_hang_are_an_error():
    import subprocess

    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60, check=False)
    assert "the kernel 'crossed_give' on the board has not ended 1 s after it was started" in done.stdout, done.stderr


def binary_of(text: str, path: Path) -> Path:
    """What the emulator makes of a text, as a file."""
    api = ctypes.CDLL(str(EMULATOR))
    for name in ("clCreateContext", "clCreateProgramWithSource"):
        getattr(api, name).restype = ctypes.c_void_p
    platform, device, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    api.clGetPlatformIDs(1, ctypes.byref(platform), None)
    api.clGetDeviceIDs(platform, ctypes.c_uint64(8), 1, ctypes.byref(device), None)
    context = ctypes.c_void_p(api.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
    source = ctypes.c_char_p(text.encode())
    program = ctypes.c_void_p(api.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, None))
    assert api.clBuildProgram(program, 1, ctypes.byref(device), b"-DDCPY_EMULATION", None, None) == 0
    api.clGetProgramInfo(program, 0x1165, ctypes.sizeof(size), ctypes.byref(size), None)
    room = ctypes.create_string_buffer(size.value)
    pointer = ctypes.c_char_p(ctypes.addressof(room))
    api.clGetProgramInfo(program, 0x1166, ctypes.sizeof(pointer), ctypes.byref(pointer), None)
    path.write_bytes(room.raw)
    return path


@pytest.mark.hls
def test_a_bitstream_is_loaded_and_that_of_another_program_refused(tmp_path):
    def options(path: Path) -> dict[str, object]:
        return {**INTEL, "fpga.mode": "hardware", "fpga.library": str(EMULATOR), "fpga.program": str(path)}

    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    dcpy.parse(AXPY).compile(**options(binary_of(text_of(AXPY), tmp_path / "axpy.aocx")))(np.float32(2), x, x, out)
    assert np.array_equal(out, 3 * x)
    with pytest.raises(ToolchainError, match="is that of another program: it has no kernel axpy_read_x"):
        dcpy.parse(AXPY).compile(**options(binary_of(text_of(CHAIN), tmp_path / "chain.aocx")))
    (tmp_path / "text.aocx").write_text("no bitstream")
    with pytest.raises(ToolchainError, match="no bitstream for this board"):
        dcpy.parse(AXPY).compile(**options(tmp_path / "text.aocx"))


def gather(x: dcpy.float64[N], places: dcpy.int64[M], y: dcpy.float64[M]):
    for i in dcpy.map[0:M]:
        y[i] = x[places[i]]


@pytest.mark.hls
def test_a_failed_check_of_a_kernel_is_raised_with_its_line():
    program = dcpy.program(gather, device=dcpy.DeviceType.FPGA, **{"fpga.vendor": "intel", "fpga.mode": "emulate"})
    x, y = np.arange(10.0), np.zeros(4)
    program(x, np.array([3, 2, -1, 9]), y)
    assert np.array_equal(y, [3, 2, 9, 9])
    with pytest.raises(IndexError, match="index 77 is out of bounds for axis 0 with size 10") as caught:
        program(x, np.array([3, 77, 99, 1]), y)
    assert any("y[i] = x[places[i]]" in note for note in caught.value.__notes__)


def test_places_for_failures_are_arguments():
    """Each process has its own in an array of the network."""
    check = 'process {0} {{ check x[{1}] > 0.0 else ValueError "no" }}'
    checks = " ".join(check.format(name, number) for number, name in enumerate("ab"))
    text = text_of(f"sdfg @f(x: f64[8]) {{ dataflow {{ {checks} }} }}")
    assert text.count("__global int64_t *restrict failed)") == 2
    assert "(failed + 5)[0] = failure" in text

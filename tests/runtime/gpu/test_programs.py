"""Whole programs on the drivers' table, without a device: kernels become machine code for a chip, a driver that has
none loads it, and runs what the simulator would run.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcpy.base.errors import DeviceError, DeviceMemoryError, ToolchainError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.gpu import compiler_selection, device_selection, drivers, nvrtc
from dcpy.runtime.gpu.binaries import binaries_in
from dcpy.runtime.loading.load import load, recall
from tests.codegen.test_kernels import AXPY, GATHER, MANY, SMOOTH
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(3)


@pytest.fixture
def fake(tmp_path):
    chips.nvrtc()
    return FakeDriver(tmp_path)


def artifact_of(text, fake):
    artifact = generate_gpu(parse_sdfg(text), None, None, fake.options)
    fake.runs(artifact)
    return artifact


def loaded(text, fake):
    return load(artifact_of(text, fake), fake.options)


def compiled(text, fake):
    return compiled_function(loaded(text, fake))


def test_a_program_without_kernels_runs(fake):
    """Small ones are the host's, and libraries have kernels of their own."""
    text = "sdfg @f(a: f64[1]) { state { tasklet (x <- a[0]) -> (o -> a[0]) { o = x + 1.0 } } }"
    found = load(generate_gpu(parse_sdfg(text), None, None, fake.options), fake.options)
    a = np.ones(1)
    compiled_function(found)(a)
    assert a[0] == 2
    assert fake.log("launch") == []
    assert binaries_in(Path(found.path).parent) == ()


def test_a_program_runs(fake):
    found = loaded(AXPY, fake)
    x, y = RNG.random(1000), RNG.random(1000)
    expected = 2.5 * x + y
    compiled_function(found)(2.5, x, y)
    assert np.array_equal(y, expected)
    assert [one.arch for one in binaries_in(Path(found.path).parent)] == ["sm_90"]
    assert found.device.held() == 0
    assert len(fake.log("launch")) == 1


def test_a_stencil_with_barriers(fake):
    x, y = RNG.random((67, 33)), np.zeros((67, 33))
    compiled(SMOOTH, fake)(x, y)
    expected = np.zeros_like(y)
    expected[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1]) / 2.0
    assert np.array_equal(y, expected)


def test_a_grid_of_many_dimensions(fake):
    y = np.zeros((2, 3, 2, 9, 2))
    compiled(MANY, fake)(y)
    simulated = np.zeros_like(y)
    options = resolve_options({"device": "gpu", "gpu.backend": "simulator"})
    compiled_function(load(generate_gpu(parse_sdfg(MANY), None, None, options), options))(simulated)
    assert np.array_equal(y, simulated)
    assert y.any()


def test_a_check_fails_on_the_device(fake):
    program = compiled(GATHER, fake)
    x, h = np.arange(10.0), np.zeros(10, np.int32)
    program(x, np.array([2, 9, 3]), h)
    assert h.sum() == 3
    with pytest.raises(IndexError, match="index 10 is out of bounds"):
        program(x, np.array([2, 10]), h)
    program(x, np.array([2, 9, 3]), h)  # the error block is empty again


def test_a_warm_start_compiles_nothing(fake, monkeypatch):
    first = loaded(AXPY, fake)
    monkeypatch.setattr(compiler_selection, "find_nvidia_compiler", None)
    again = loaded(AXPY, fake)
    assert (again.was_cached, again.path) == (True, first.path)
    assert again.device is first.device


@pytest.mark.parametrize("damage", ["other code", "cut", "gone", "no resources"])
def test_damaged_machine_code_is_compiled_again(fake, tmp_path, damage):
    options = replace(fake.options, cache_dir=str(tmp_path / "cache"))
    artifact = artifact_of(AXPY, fake)
    folder = Path(load(artifact, options, program_key="axpy").path).parent
    code, numbers = folder / "kernels.sm_90.cubin", folder / "resources.json"
    right = code.read_bytes()
    match damage:
        case "other code":
            code.write_bytes(right[:-1] + b"?")
        case "cut":
            code.write_bytes(right[: len(right) // 2])
        case "gone":
            code.unlink()
        case "no resources":
            numbers.write_text("nothing")
    assert recall("axpy", options) is None
    again = load(artifact, options, program_key="axpy")
    assert not again.was_cached
    assert code.read_bytes() == right
    y = np.zeros(5)
    compiled_function(again)(2.0, np.ones(5), y)
    assert np.array_equal(y, np.full(5, 2.0))
    assert recall("axpy", options).was_cached


def test_another_chip_is_another_program(fake, tmp_path):
    artifact = artifact_of(AXPY, fake)
    found = load(artifact, fake.options)
    other = FakeDriver(tmp_path, arch=80)
    other.runs(artifact)
    there = load(artifact, other.options)
    assert [binaries_in(Path(one.path).parent)[0].arch for one in (found, there)] == ["sm_90", "sm_80"]
    wrong = replace(other.options, gpu=replace(other.options.gpu, arch="sm_90"))
    with pytest.raises(DeviceError, match="the program was compiled for sm_90, and the device is sm_80"):
        load(artifact, wrong)


# --- what users see when something is missing, or breaks ---


def test_out_of_memory(fake):
    program = compiled(AXPY, fake)
    fake.set(total=10_000)
    x, y = RNG.random(1000), np.zeros(1000)
    with pytest.raises(MemoryError, match="the memory of the NVIDIA GPU does not suffice") as caught:
        program(2.5, x, y)
    assert isinstance(caught.value, DeviceMemoryError)
    assert "8000 bytes are asked for; the program holds 8000 bytes" in str(caught.value)
    fake.set(total=1 << 30)
    program(2.5, x, y)
    assert np.array_equal(y, 2.5 * x)


def test_a_kernel_that_breaks_the_context_is_named_with_its_line(fake):
    artifact = artifact_of(AXPY, fake)
    span = SrcSpan("f.py", 3, 4, 3, 9)
    line = next(n for n, line in enumerate(artifact.units[1].text.splitlines(), 1) if "DCPY_KERNEL(" in line)
    units = (artifact.units[0], replace(artifact.units[1], places=((line + 2, span),)), *artifact.units[2:])
    artifact = replace(artifact, units=units)
    program = compiled_function(load(artifact, fake.options))
    fake.set(astray=1)
    for _ in range(2):
        with pytest.raises(DeviceError, match="the context of the NVIDIA GPU is broken") as caught:
            program(2.5, RNG.random(10), np.zeros(10))
        assert f"kernels since the last wait: {artifact.kernels[0].name}" in str(caught.value)
        assert "f.py:3" in str(caught.value)
        assert "restart the process" in str(caught.value)


def test_a_program_in_a_child_of_fork(fake):
    program = compiled(AXPY, fake)
    child = os.fork()
    if child == 0:
        try:
            program(2.5, np.ones(4), np.zeros(4))
        except DeviceError as error:
            os._exit(0 if "this process is a fork" in str(error) and "'spawn'" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    program(2.5, np.ones(4), np.zeros(4))


def test_no_device_at_all(fake, monkeypatch):
    artifact = artifact_of(AXPY, fake)
    auto = replace(fake.options, gpu=replace(fake.options.gpu, backend=Backend.AUTO))
    assert device_selection.backend_of(auto) is Backend.CUDA
    monkeypatch.setattr(drivers, "LIBRARIES", {"cuda": ("libnothing.so",), "hip": ("libnothing.so",)})
    nothing = replace(auto, gpu=replace(auto.gpu, driver=""))
    with pytest.raises(DeviceError, match="no GPU was found") as caught:
        load(artifact, nothing)
    assert caught.value.notes == ("cuda: there is no driver", "hip: there is no driver")
    assert "DCPY_GPU_BACKEND=simulator" in caught.value.help


def test_devices_that_are_away_are_not_taken(tmp_path):
    fake = FakeDriver(tmp_path, devices=0)
    auto = replace(fake.options, gpu=replace(fake.options.gpu, backend=Backend.AUTO))
    with pytest.raises(DeviceError, match="no GPU was found") as caught:
        device_selection.backend_of(auto)
    assert caught.value.notes == ("cuda: there is no NVIDIA GPU", "hip: there is no AMD GPU")


def test_a_missing_nvrtc(fake, monkeypatch):
    artifact = artifact_of(AXPY, fake)
    monkeypatch.setattr(nvrtc, "_places", lambda: iter(()))
    monkeypatch.setattr(nvrtc, "find_nvcc", lambda: None)
    monkeypatch.setattr(compiler_selection, "pip_libraries", lambda name: iter(()))
    with pytest.raises(ToolchainError, match="NVRTC is missing") as caught:
        load(artifact, fake.options)
    assert "[gpu]" in caught.value.help


@pytest.mark.parametrize("arch", ["sm_9x", "gfx90a"])
def test_an_unknown_architecture(fake, arch):
    options = replace(fake.options, gpu=replace(fake.options.gpu, arch=arch))
    with pytest.raises(ToolchainError, match=f"unknown GPU architecture '{arch}'"):
        load(artifact_of(AXPY, fake), options)


def test_kernels_that_do_not_compile_are_kept(fake, tmp_path):
    artifact = artifact_of(AXPY, fake)
    units = [replace(one, text=one.text + "\nint oops = missing;\n") if one.language == "device" else one for one in
             artifact.units]  # fmt: skip
    options = replace(fake.options, cache_dir=str(tmp_path / "cache"))
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    with pytest.raises(ToolchainError, match='identifier "missing" is undefined') as caught:
        load(replace(artifact, units=tuple(units)), options)
    kept = caught.value.notes[0].removeprefix("generated code: ").rpartition(":")[0]
    assert "oops" in Path(kept).read_text()

"""``dcpy doctor`` on machines with a GPU and without: what is found, and what was measured."""

from __future__ import annotations

import re

import pytest

from dcpy.base.errors import DeviceError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.cli.main import main
from dcpy.codegen.artifact import DEVICE, Unit
from dcpy.driver import program_cache
from dcpy.runtime.gpu import calibration, drivers
from dcpy.runtime.gpu.measured_costs import kept
from dcpy.runtime.gpu.native import header
from dcpy.runtime.gpu.sass import count, instructions
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The driver that the environment names."""
    chips.nvrtc()
    found = FakeDriver(tmp_path, total=64 << 20)
    monkeypatch.setenv("DCPY_GPU_DRIVER", str(found.path))
    yield found
    (program_cache().root / "constants.sm_90.json").unlink(missing_ok=True)  # nobody else is to believe the fake


@pytest.fixture
def nothing(monkeypatch):
    monkeypatch.setattr(drivers, "LIBRARIES", {"cuda": ("libnothing.so",), "hip": ("libnothing.so",)})


def test_without_a_gpu_nothing_is_claimed(nothing, capsys):
    assert main(["doctor", "--gpu"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^no +GPU: cuda +there is no driver; gpu.backend = simulator", said, re.M)
    assert said.endswith("no GPU: nothing is measured, and nothing is known about time on one\n")
    assert "GB/s" not in said


def test_a_device_is_described_and_measured(fake, capsys):
    assert main(["doctor", "--gpu"]) == 0
    said = capsys.readouterr().out
    described = "No GPU at all, sm_90, 132 processors, 0.1 of 0.1 GiB free, driver 13.0"
    assert re.search(rf"^ok +GPU: cuda +{described}$", said, re.M)
    assert re.search(r"^ok +kernels: NVIDIA +NVRTC 1\d\.\d+, for sm_75, ", said, re.M)
    assert "constants of the cuda device, measured now:" in said
    for name in ("within device", "to host pageable", "launch and wait", "block barrier", "operations"):
        assert re.search(rf"^ +{name} +\d+\.\d+ (GB/s|µs|GFLOP/s)$", said, re.M)
    assert fake.get("live") == 0
    told = kept(program_cache(), "sm_90")
    assert told is not None
    assert f"within device {told.within_device / 1e9:.1f} GB/s" in " ".join(said.split())


def test_figures_are_bytes_and_seconds_of_one_command(fake):
    found = calibration.measure("cuda", fake.options)  # between two events of the fake lies one millisecond
    size = (64 << 20) // 8
    second = 0.001 / calibration.COPIES
    assert found.within_device == pytest.approx(2 * size / second, rel=0.01)
    assert found.to_host_pinned == pytest.approx(size / second, rel=0.01)
    assert found.launch == pytest.approx(0.001 / calibration.LAUNCHES)
    assert 0 < found.launch_and_wait < 1
    threads = calibration.BLOCKS * 132 * 256
    assert found.operations == pytest.approx(threads * 8 * calibration.ROUNDS / second)
    assert len(fake.log("launch")) == 2 * calibration.ROWS * (calibration.LAUNCHES + 1) + 2 * calibration.ROWS * (
        calibration.COPIES + 1
    )


def test_what_is_measured_is_done():
    """Compilers would leave out barriers and operations whose results nobody needs."""
    chips.needs("nvdisasm")
    headers = tuple(Unit(name, header(name).read_text()) for name in ("dcpy_device.h", "dcpy_chips.h"))
    unit = Unit("measured.kernels.cu", calibration.TEXT, DEVICE)
    found = instructions(chips.nvrtc().compile(unit, headers, "sm_90", GpuOptions()).code)
    assert count(found["barriers"], "BAR") >= 1
    products, sums = (count(found["operations"], name) for name in ("DMUL", "DADD"))
    assert products == sums - 6 >= 4  # three sums before the rounds, and three behind them
    assert count(found["operations"], "DFMA") == 0
    assert not found["empty"] or count(found["empty"], "BAR") == 0


def test_a_broken_device_is_not_measured(fake, capsys, monkeypatch):
    def broken(*_):
        raise DeviceError("the device could not be measured")

    monkeypatch.setattr(calibration, "measure", broken)
    assert main(["doctor", "--gpu"]) == 0
    assert "not measured: the device could not be measured" in capsys.readouterr().out


def test_the_whole_doctor_has_a_section_on_gpus(nothing, capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert all(what in said for what in ("GPU: cuda", "GPU: hip", "kernels: NVIDIA", "kernels: AMD"))

"""A target from outside: one folder and `catalog.register`, no change of dcpy, and all that dcpy does works for it."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base import options as options_module
from dcpy.base.errors import CodegenError, DcpyError, DeviceError
from dcpy.base.options import DeviceType, InvalidOption, resolve_options
from dcpy.cli.main import main as command
from dcpy.cli.sdfgcc import main as sdfgcc
from dcpy.targets.catalog import register, target_for
from tests.support.registries import forget_targets


@pytest.fixture(name="bare", autouse=True)
def registered(monkeypatch):
    forget_targets(monkeypatch)
    from tests.targets.made_up.target import BARE

    options_module._OTHER_DEVICES["bare"] = BARE.device
    return register(BARE)


N, M = dcpy.symbol("N"), dcpy.symbol("M")


def smooth(x: dcpy.float64[N, M], port: dcpy.float64):
    y = np.zeros_like(x)
    for _ in range(3):
        y[1:-1] = port * (x[:-2] + x[2:])
    return y.sum(axis=0)


def test_its_name_chooses_it(bare):
    assert resolve_options({"device": "bare"}).device is bare.device is DeviceType("bare")
    assert target_for(DeviceType.named("bare")) is bare
    with pytest.raises(InvalidOption, match="'metal'"):
        resolve_options({"device": "metal"})


@pytest.mark.cc
def test_programs_run_on_it():
    program, x = dcpy.program(smooth, device="bare"), np.arange(35.0).reshape(7, 5)
    assert np.array_equal(program(x, 0.25), smooth(x, 0.25))
    code = program.to_sdfg(x, 0.25).code(device="bare")
    assert "omp parallel" not in code
    assert "double port_" in code


def test_it_explains_and_refuses():
    sdfg = dcpy.program(smooth).to_sdfg()
    assert "smooth runs on a bare machine" in sdfg.explain(device="bare")
    product = dcpy.program(multiplied).to_sdfg()
    product.expand_library_nodes("openblas")
    with pytest.raises(CodegenError, match="cannot be called on a bare machine"):
        product.code(device="bare")
    with pytest.raises(DeviceError, match="kernels are not timed"):
        dcpy.program(smooth, device="bare").kernel_times()


def multiplied(a: dcpy.float64[N, M], b: dcpy.float64[M, N]):
    return a @ b


def test_commands_know_it(tmp_path, capsys):
    (tmp_path / "program.py").write_text(
        "import dcpy\n\n@dcpy.program\ndef doubled(x: dcpy.float64[4]):\n    x[:] = 2 * x\n"
    )
    with pytest.raises(SystemExit):
        sdfgcc([f"{tmp_path}/program.py:doubled", "--speed=-O2"])
    assert "--speed are for --device bare" in capsys.readouterr().err
    assert command(["doctor", "--bare"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok      bare machine            made up", "an addition takes one cycle",
    ]  # fmt: skip


@pytest.mark.cc
def test_sdfgcc_makes_a_library_for_it(tmp_path):
    (tmp_path / "program.py").write_text(
        "import dcpy\n\n@dcpy.program\ndef doubled(x: dcpy.float64[4]):\n    x[:] = 2 * x\n"
    )
    out = tmp_path / "libdoubled.so"
    assert sdfgcc([f"{tmp_path}/program.py:doubled", "--device", "bare", "-o", str(out)]) == 0
    assert out.is_file()


def test_a_name_is_taken_once(bare):
    with pytest.raises(DcpyError, match="the target 'bare' exists already"):
        register(bare)
    from dataclasses import replace

    with pytest.raises(DcpyError, match="'other' is for the device 'bare'"):
        register(replace(bare, name="other"))

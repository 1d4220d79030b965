"""sdfgcc for GPUs: libraries that open their device themselves, called from C."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from dcpy.cli.sdfgcc import main as sdfgcc_main
from dcpy.runtime.gpu import drivers
from tests.runtime.gpu import chips
from tests.support.c_compiler import c_compiler

pytestmark = pytest.mark.cc

SCALED = """import dcpy
N = dcpy.symbol("N")

@dcpy.program
def scaled(x: dcpy.float64[N], y: dcpy.float64[N], a: dcpy.float64):
    y[:] = a * x + y
"""
USE = r"""
#include <stdio.h>
#include "scaled.h"
int main(void) {
    enum { N = 1000 };
    double x[N], y[N];
    for (int i = 0; i < N; ++i) x[i] = i, y[i] = 1;
    const char *why = scaled_open(0);
    if (why) { printf("%s\n", why); return 1; }
    if (scaled_init() != 0) return 2;
    int status = scaled(x, y, 2.0, N);
    if (status != 0) { printf("%s\n", scaled_message(status)); return 3; }
    scaled_exit();
    scaled_close();
    printf("%g %g %g\n", y[0], y[1], y[N - 1]);
    return 0;
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPY_CPU_FLAGS", "-O0")
    (tmp_path / "scaled.py").write_text(SCALED)
    return tmp_path


def compiled(folder, *arguments):
    """The exit code of sdfgcc."""
    return sdfgcc_main([f"{folder}/scaled.py:scaled", "--device", "gpu", "-o", f"{folder}/libscaled.so", *arguments])


def called_from_c(folder):
    (folder / "use.c").write_text(USE)
    link = [f"-L{folder}", "-lscaled", f"-Wl,-rpath,{folder}"]
    subprocess.run([*c_compiler(), "-Wall", "-Werror", "use.c", "-o", "use", *link], check=True, cwd=folder)
    return subprocess.run(["./use"], check=False, cwd=folder, capture_output=True, text=True)


def test_a_simulated_device_from_c(program, capsys):
    assert compiled(program, "--backend", "simulator", "--source") == 0
    written = [path.rpartition("/")[2] for path in capsys.readouterr().out.split()]
    assert written == ["libscaled.so", "scaled.h", "scaled.cpp", "scaled.kernels.cu"]
    done = called_from_c(program)
    assert (done.stdout, done.returncode) == ("1 3 1999\n", 0)


@pytest.mark.heavy
def test_machine_code_of_several_chips_is_in_the_library(program, capsys):
    chips.nvrtc()
    assert compiled(program, "--arch", "sm_80,sm_90", "--source") == 0
    written = [path.rpartition("/")[2] for path in capsys.readouterr().out.split()]
    assert written[-2:] == ["scaled.kernels.sm_80.cubin", "scaled.kernels.sm_90.cubin"]
    code = (program / "scaled.kernels.sm_90.cubin").read_bytes()
    assert code[:4] == b"\x7fELF"
    assert code in (program / "libscaled.so").read_bytes()
    done = called_from_c(program)
    try:
        ctypes.CDLL(drivers.LIBRARIES["cuda"][0])
    except OSError:  # it says so, and does not crash
        assert done.returncode == 1
        assert "libcuda.so.1" in done.stdout
    else:
        assert done.stdout == "1 3 1999\n"


def test_somebody_has_to_name_the_chips(program, monkeypatch, capsys):
    monkeypatch.setattr(drivers, "LIBRARIES", {"cuda": ("libnothing.so",), "hip": ("libnothing.so",)})
    assert compiled(program) == 1
    assert "no GPU was found" in capsys.readouterr().err
    assert compiled(program, "--backend", "cuda") == 1
    said = capsys.readouterr().err
    assert "there is no device to compile for, and no chip is named" in said
    assert "--arch sm_80,sm_90" in said


def test_words_for_gpus_are_for_gpus(program, capsys):
    with pytest.raises(SystemExit):
        sdfgcc_main([f"{program}/scaled.py:scaled", "--arch", "sm_90"])
    assert "--backend and --arch are for --device gpu" in capsys.readouterr().err

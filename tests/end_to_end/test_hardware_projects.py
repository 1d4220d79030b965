"""``sdfgcc --target xilinx|intel``: folders for the vendors' tools, whose host programs check themselves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dcpy.cli.sdfgcc import main as sdfgcc

EMULATOR = Path(sys.prefix) / "lib" / "libintelocl_emu.so"
PROGRAMS = """
import dcpy

N, M = dcpy.symbol("N"), dcpy.symbol("M")


@dcpy.program
def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
    y[:] = a * x + y


@dcpy.program
def scaled(A: dcpy.float64[M, N], n: dcpy.int64):
    return 2.0 * A + n


@dcpy.program
def grows(x: dcpy.float64[N]):
    return x[x > 0.0]


@dcpy.program
def on_the_host(x: dcpy.float64[4]):
    x[0] = 1.0
"""


@pytest.fixture
def programs(tmp_path):
    path = tmp_path / "programs.py"
    path.write_text(PROGRAMS)
    return path


def project(programs: Path, name: str, target: str, *words: str) -> Path:
    folder = programs.parent / f"{name}_{target}"
    assert sdfgcc([f"{programs}:{name}", "--target", target, "-o", str(folder), *words]) == 0
    return folder


@pytest.mark.parametrize("target", ["xilinx", "intel"])
def test_texts(programs, target, golden, capsys):
    """What is for the vendor's tools; scripts are of the shell's language."""
    folder = project(programs, "axpy", target, "--sizes", "N=100")
    written = capsys.readouterr().out.split()
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert sorted(written) == sorted(str(folder / file) for file in files)
    texts = {file: (folder / file).read_text() for file in ("build.sh", "host.sh", "simulate.sh", "README.md")}
    if target == "xilinx":
        texts["link.cfg"] = (folder / "link.cfg").read_text()
    golden("\n".join([*files, "", *(f"== {file}\n{text}" for file, text in texts.items())]))
    for script in folder.glob("*.sh"):
        subprocess.run(["bash", "-n", str(script)], check=True)
    source = (folder / "src" / ("axpy.hls.cpp" if target == "xilinx" else "axpy.cl")).read_text()
    assert "programs.py:9" in source  # the lines of Python
    assert "axpy_compute " in (folder / "explain.txt").read_text()


@pytest.mark.cc
@pytest.mark.parametrize(("name", "target"), [("axpy", "xilinx"), ("scaled", "intel")])
def test_the_simulation_is_right(programs, name, target):
    folder = project(programs, name, target, "--sizes", "N=30")
    done = subprocess.run([str(folder / "simulate.sh")], capture_output=True, text=True, check=False)
    assert done.stdout.endswith(f"{name}: all results are right\n"), done.stderr
    expected = next((folder / "data").glob("*.expected.bin"))
    expected.write_bytes(bytes(len(expected.read_bytes())))
    done = subprocess.run([str(folder / "simulate.sh")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{name}: WRONG" in done.stdout


@pytest.mark.cc
def test_the_host_says_what_is_missing(programs, tmp_path):
    folder = project(programs, "axpy", "xilinx")
    subprocess.run([str(folder / "host.sh")], check=True, capture_output=True)
    (tmp_path / "libOpenCL.so").write_text("no library")
    host = [str(folder / "build" / "axpy_host"), str(folder / "data"), "axpy.xclbin", str(tmp_path / "libOpenCL.so")]
    done = subprocess.run(host, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the OpenCL library cannot be opened" in done.stderr


@pytest.mark.parametrize(("target", "tool"), [("xilinx", "v++"), ("intel", "aoc")])
def test_a_missing_tool_is_an_error(programs, target, tool):
    if shutil.which(tool):
        pytest.skip(f"{tool} is there")
    folder = project(programs, "axpy", target)
    environment = {"PATH": "/usr/bin:/bin", "PLATFORM": "p", "BOARD": "b"}
    done = subprocess.run(["sh", "build.sh"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tool} is not on PATH" in done.stderr


@pytest.mark.hls
def test_the_host_runs_on_the_emulator(programs):
    folder = project(programs, "axpy", "intel")
    subprocess.run([str(folder / "host.sh")], check=True, capture_output=True)
    host = [str(folder / "build" / "axpy_host"), str(folder / "data"), "", str(EMULATOR)]
    done = subprocess.run(host, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("axpy: all results are right\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("grows", [], "are no arrays of known sizes, which files could have"),
        ("axpy", ["--sizes", "K=3"], "'axpy' has no symbol 'K'"),
        ("axpy", ["--sizes", "N=x"], "--sizes has 'N=x', but a symbol and a number are needed"),
        ("axpy", ["--board", "s10"], "the board 's10' is of intel, not of xilinx"),
        ("axpy", ["--board", "z80"], "no board is called 'z80'"),
        ("on_the_host", [], "nothing of 'on_the_host' runs on the device"),
    ],
)
def test_refusals(programs, name, words, message, capsys):
    folder = programs.parent / "refused"
    assert sdfgcc([f"{programs}:{name}", "--target", "xilinx", "-o", str(folder), *words]) == 1
    assert message in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--sizes", "N=3"],
        ["--target", "xilinx"],
        ["--target", "intel", "-o", "f", "--device", "gpu"],
        ["--target", "intel", "-o", "f", "--python"],
    ],
)
def test_words_that_do_not_fit(programs, words):
    with pytest.raises(SystemExit):
        sdfgcc([f"{programs}:axpy", *words])

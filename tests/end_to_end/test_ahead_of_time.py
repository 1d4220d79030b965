"""sdfgcc: a shared library and a C header, used from a C program; and the other commands."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dcpy
from dcpy.cli.main import main as dcpy_main
from dcpy.cli.sdfgcc import main as sdfgcc_main
from examples import gemm, jacobi_2d
from tests.support.c_compiler import c_compiler

USE_GEMM = r"""
#include <stdio.h>
#include "{header}"
int main(void) {{
    double A[2 * 3] = {{1, 2, 3, 4, 5, 6}}, B[3 * 2] = {{1, 0, 0, 1, 1, 1}}, C[2 * 2] = {{1, 1, 1, 1}};
    if (gemm_init() != 0) return 1;
    int status = gemm({arguments});
    if (status != 0) return 2;
    gemm_exit();
    printf("%g %g %g %g\n", C[0], C[1], C[2], C[3]);
    return 0;
}}
"""


def compile_and_run(folder, code: str) -> str:
    (folder / "use.c").write_text(code)
    link = [f"-L{folder}", "-lgemm", f"-Wl,-rpath,{folder}"]
    subprocess.run([*c_compiler(), "-Wall", "-Werror", "use.c", "-o", "use", *link], check=True, cwd=folder)
    return subprocess.run(["./use"], check=True, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.cc
@pytest.mark.parametrize("kind", ["sdfg", "python"])
def test_gemm_from_c(tmp_path, kind, capsys):
    source = "examples/gemm.py:gemm"
    if kind == "sdfg":
        gemm.gemm.to_sdfg().save(tmp_path / "gemm.sdfg")
        source = str(tmp_path / "gemm.sdfg")
    assert sdfgcc_main([source, "-o", str(tmp_path / "libgemm.so")]) == 0
    printed = capsys.readouterr().out.split()
    header = next(path for path in printed if path.endswith(".h"))
    names = parameter_names((tmp_path / header).read_text())
    values = {"alpha": "2.0", "beta": "10.0", "A": "A", "B": "B", "C": "C", "NI": "2", "NJ": "2", "NK": "3"}
    arguments = ", ".join(values[name] for name in names)
    output = compile_and_run(tmp_path, USE_GEMM.format(header=header.rpartition("/")[2], arguments=arguments))
    expected = 2.0 * np.array([[1, 2, 3], [4, 5, 6]]) @ np.array([[1, 0], [0, 1], [1, 1]]) + 10
    assert [float(word) for word in output.split()] == list(expected.ravel())


def parameter_names(header: str) -> list[str]:
    """The parameters of ``int gemm(...)``, in order."""
    inside = header.partition(" gemm(")[2].partition(")")[0]
    return [part.split()[-1].lstrip("*") for part in inside.split(",")]


def test_an_unannotated_function_needs_types(capsys):
    assert sdfgcc_main(["examples/k2mm.py:k2mm"]) == 1
    message = capsys.readouterr().err
    assert "annot" in message


def test_a_missing_function(capsys):
    assert sdfgcc_main(["examples/gemm.py:gem"]) == 1
    assert "no function 'gem'" in capsys.readouterr().err


def test_a_missing_module(capsys):
    assert sdfgcc_main(["no_such.module:f"]) == 1
    assert "there is no module 'no_such'" in capsys.readouterr().err


def test_a_file_that_holds_no_valid_sdfg(tmp_path, capsys):
    path = tmp_path / "f.sdfg"
    dcpy.parse("sdfg @f() { }").save(path)
    path.write_text(path.read_text().replace('"arguments": []', '"arguments": ["a"]'))
    assert sdfgcc_main([str(path)]) == 1
    assert "argument 'a'" in capsys.readouterr().err


def test_a_reader_may_stop_early():
    reader, writer = os.pipe()
    os.close(reader)
    program = "from dcpy.cli.main import main; raise SystemExit(main(['passes']))"
    done = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_explain_gives_reasons(capsys):
    assert dcpy_main(["explain", "examples/jacobi_2d.py:jacobi_2d", "-t", "loop-to-map"]) == 0
    text = capsys.readouterr().out
    assert "loop-to-map: 0 of 1 match" in text
    assert "no " in text


def test_passes_lists_transformations(capsys):
    assert dcpy_main(["passes"]) == 0
    text = capsys.readouterr().out
    for name in ("state-fusion", "inline-call", "map-fusion", "map-collapse", "loop-to-map"):
        assert name in text


def test_doctor_finds_what_the_default_needs(capsys):
    assert dcpy_main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "C++ compiler" in text
    assert "openblas" in text


def test_w15_the_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        dcpy_main(["--version"])
    assert capsys.readouterr().out == f"dcpy {dcpy.__version__}\n"


def test_w15_names_of_the_package_are_its_own():
    names = [name for name in dir(dcpy) if not name.startswith("__")]
    assert {"program", "SDFG", "float64", "Builder"} <= set(names)
    for name in names:
        found = getattr(dcpy, name)
        home = getattr(found, "__module__", None) or getattr(found, "__name__", "")
        assert home.startswith("dcpy"), name


def test_cache_commands(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path / "cache"))
    assert dcpy_main(["cache", "path"]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    assert dcpy_main(["cache", "list"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.cc
def test_the_cache_lists_what_was_compiled(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path / "cache"))
    dcpy.program(jacobi_2d.jacobi_2d.function)(**jacobi_2d.initialize(5))
    assert dcpy_main(["cache", "list"]) == 0
    assert "jacobi_2d" in capsys.readouterr().out
    assert dcpy_main(["cache", "clear"]) == 0
    assert "removed 1 entries" in capsys.readouterr().out


FAILING = '''
import dcpy

N = dcpy.symbol("N")


@dcpy.program
def pick(x: dcpy.float64[N], k: dcpy.int64):
    if k < 0:
        raise ValueError('k is negative: 100% "wrong"?')
    return x[k] + x @ x
'''

USE_PICK = r"""
#include <stdio.h>
#include "pick.h"
int main(void) {
    double x[3] = {1, 2, 3}, found = 0;
    if (pick_init() != 0) return 1;
    int64_t at[3] = {-1, 7, 1};
    for (int i = 0; i < 3; i++) {
        int status = pick(x, at[i], &found, 3);
        printf("%d %s\n", status, pick_message(status));
    }
    pick_exit();
    return found == 16 ? 0 : 2;
}
"""


@pytest.mark.cc
@pytest.mark.parametrize("bundle", [False, True])
def test_w6_the_header_says_what_a_status_means_and_how_to_get_its_message(tmp_path, capsys, bundle):
    """W6: all codes are in the header; NAME_message gives Python's words, with the numbers of the failure."""
    (tmp_path / "picking.py").write_text(FAILING)
    library = tmp_path / "out" / "libpick.so"
    flags = ["--bundle"] if bundle else []
    assert sdfgcc_main([f"{tmp_path / 'picking.py'}:pick", "-o", str(library), *flags]) == 0
    header = (library.parent / "pick.h").read_text()
    assert "1: ValueError: k is negative" in header
    assert "2: IndexError: index {0} is out of bounds for axis 0 with size {1}" in header
    assert "const char *pick_message(int32_t status);" in header
    (tmp_path / "use.c").write_text(USE_PICK)
    link = ["-L", library.parent, "-lpick", f"-Wl,-rpath,{library.parent}", "-I", library.parent]
    command = [*c_compiler(), "-Wall", "-Werror", "use.c", "-o", "use", *link]
    subprocess.run(command, check=True, cwd=tmp_path)
    lines = subprocess.run(["./use"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()
    assert lines[0] == '1 ValueError: k is negative: 100% "wrong"? (picking.py:10)'
    assert lines[1] == "2 IndexError: index 7 is out of bounds for axis 0 with size 3 (picking.py:11)"
    assert lines[2].strip() == "0"
    printed = capsys.readouterr()
    copies = [path for path in printed.out.split() if "openblas" in path]
    assert len(copies) == bundle
    assert ("--bundle copies" in printed.err) == (not bundle)

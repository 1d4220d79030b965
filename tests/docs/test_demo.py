"""What `make demo` prints."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks import demo


@pytest.mark.parametrize("tour", [demo.GEMM, demo.JACOBI_2D], ids=lambda tour: tour.name)
def test_the_demo_shows_each_stage_in_few_short_lines(tour, capsys):
    demo.show_program(tour, stages=True)
    printed = capsys.readouterr().out.splitlines()
    for title in ("NumPy", "SDFG as written", "after simplify", "after auto-optimize"):
        assert title in printed
    assert "redundant-copy-removal" in printed[-1]
    assert len(printed) < 110
    assert max(map(len, printed[:-1])) <= demo.WIDTH + 4


def test_without_stages_the_demo_shows_the_source_and_what_was_applied(capsys):
    demo.show_program(demo.JACOBI_2D)
    printed = capsys.readouterr().out
    assert "def jacobi_2d" in printed
    assert "map-fusion (8)" in printed
    assert "tasklet" not in printed


@pytest.mark.cc
def test_the_demo_measures_a_real_compilation_and_the_cache(capsys):
    demo.show_compile_time("GEMM")
    first, dcpy, compiler, second = map(float, re.findall(r"([\d.]+) s", capsys.readouterr().out))
    assert compiler > 0
    assert first > second
    assert first == pytest.approx(dcpy + compiler, abs=0.011)


@pytest.mark.cc
@pytest.mark.parametrize("tour", [demo.GEMM, demo.JACOBI_2D], ids=lambda tour: tour.name)
def test_the_demo_checks_its_results(tour, capsys):
    assert demo.show_run_time(replace(tour, size=20))
    assert "equal to NumPy's" in capsys.readouterr().out

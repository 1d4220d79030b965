"""``explain`` and ``roofline`` on CPUs: what bounds each nest of which line, and how far from the least it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, DeviceError
from dcpy.driver import program_cache
from dcpy.programs.explanation import roofline as drawing
from dcpy.runtime.cpu import measured_costs

FILE = "test_explain_nests.py"


@dcpy.program(auto_optimize=True, cpu_openmp=False)
def several(A, B, x):
    B[1:-1] = 0.5 * (A[:-2] + A[2:])
    for i in range(1, x.shape[0]):
        x[i] = np.sqrt(x[i - 1] * 0.5 + x[i])
    return A @ B.T


FIRST = several.function.__code__.co_firstlineno  # of the decorator
PLACES = [f"{FILE}:{lines}" for lines in (FIRST + 2, f"{FIRST + 3}, {FIRST + 4}", FIRST + 5)]


@pytest.fixture
def arguments():
    return np.ones((1000, 1000)), np.ones((1000, 1000)), np.ones(100_000)


N, LONG = dcpy.symbol("N"), dcpy.symbol("LONG", typical=100_000)


@dcpy.program
def twice(x: dcpy.float64[N]):
    return x * 2.0


@dcpy.program
def thrice(x: dcpy.float64[LONG]):
    return x * 3.0


def nests(text: str) -> list[tuple[str, dict[str, str]]]:
    """Titles and rows behind the line that begins the part."""
    lines = text[text.index("nests, by the model of time") :].splitlines()[1:]
    found: list[tuple[str, dict[str, str]]] = []
    for line in lines:
        if not line.startswith("      "):
            found.append((line.strip(), {}))
        else:
            found[-1][1][line[:16].strip()] = line[16:]
    return found


def test_each_nest_has_its_line_and_its_bound(arguments):
    told = nests(several.explain(*arguments))
    assert [title.partition("  ")[0] for title, _ in told] == PLACES
    stencil, chain, product = (rows for _, rows in told)
    assert stencil["bound"].startswith("the third-level cache, ")
    assert chain["bound"].startswith("a chain of operations that wait for each other, ")
    assert product["bound"].startswith("operations, ")
    for rows in (stencil, chain, product):
        assert re.fullmatch(r"[\d.]+ (µs|ms)", rows["time"])
        assert re.search(r"it takes \d+\.\d times as long$", rows["at least"])


def test_threads_and_repetitions_are_told():
    @dcpy.program(auto_optimize=True)
    def steps(x, y, n):
        for _ in range(n):
            y[1:-1] = x[:-2] + x[2:]
            x[1:-1] = y[1:-1] * 0.5

    assert re.search(r"time +[\d.]+ ms, 10 times", steps.explain(np.ones(1 << 20), np.ones(1 << 20), 10))


def test_loops_that_do_not_run_take_no_time():
    @dcpy.program(auto_optimize=True)
    def grown(x, n, dt):
        x += 1.0
        for _ in range(n):
            for _ in range(int(1 / dt)):
                x[:] = x * 1.5

    assert "nests, by the model of time" in grown.explain(np.ones(100), 0, 3.0)


def test_without_sizes_nothing_is_said():
    assert "nests, by" not in twice.explain()
    assert "nests, by the model of time" in twice.to_sdfg().explain(sizes={"N": 1000})


def test_typical_sizes_are_sizes():
    assert "nests, by the model of time" in thrice.explain()


def test_whose_figures_they_are(arguments, tmp_path):
    program = dcpy.program(several.function, cache_dir=str(tmp_path))
    assert "for a server's processor (`dcpy doctor --cpu` measures this one):" in program.explain(*arguments)
    measured_costs.keep(program_cache(program.options), {"processor.memory_speed": 1000})
    assert "nests, by the model of time, for this processor:" in program.explain(*arguments)


def test_a_roofline_has_a_point_for_each_nest(arguments):
    before = [array.copy() for array in arguments]
    found = several.roofline(*arguments)
    assert [point.where for point in found.points] == PLACES
    assert all(map(np.array_equal, before, arguments))  # nothing is run
    slopes = [roof.name for roof in found.roofs if roof.is_bandwidth]
    assert slopes == ["L1", "L2", "L3", "memory"]
    assert all(0 < point.least <= point.seconds for point in found.points)
    stencil = found.points[0]
    assert stencil.level == "L3"
    assert stencil.rate / stencil.intensity <= next(roof.value for roof in found.roofs if roof.name == "L3") * 1.01
    assert str(found).startswith("roofline, by the model of time, for ")


def test_it_is_drawn_as_svg(arguments, tmp_path):
    found = several.roofline(*arguments, path=tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text()
    assert text == found._repr_svg_()
    assert text.count("<circle") == 2 * len(found.points)
    assert f"<title>{PLACES[1]} loop over i" in text
    assert "nan" not in text
    assert "inf" not in text
    places = [float(value) for value in re.findall(r' (?:x|x1|x2|cx)="([\d.-]+)"', text)]
    assert min(places) >= 0
    assert max(places) <= drawing.WIDTH


def test_a_program_that_only_moves_is_drawn_too(tmp_path):
    @dcpy.program(cpu_openmp=False)
    def moved(x, y):
        y[:] = x[::-1]

    found = moved.roofline(np.ones(1000), np.ones(1000), path=tmp_path / "moved.svg")
    assert "no operations" in str(found)
    assert "nan" not in (tmp_path / "moved.svg").read_text()


def test_a_png_needs_matplotlib(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "can_draw_pixels", lambda: False)
    with pytest.raises(ArgumentError, match="a PNG is drawn by matplotlib, which is not installed") as error:
        several.roofline(*arguments, path=tmp_path / "picture.png")
    assert "[bench]" in error.value.help


def test_pixels(arguments, tmp_path):
    pytest.importorskip("matplotlib")
    several.roofline(*arguments, path=tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_other_files_are_refused(arguments, tmp_path):
    with pytest.raises(ArgumentError, match="a roofline is drawn as SVG or PNG, not as 'picture"):
        several.roofline(*arguments, path=tmp_path / "picture.pdf")


def test_other_devices_have_none(arguments):
    program = dcpy.program(several.function, device=dcpy.DeviceType.GPU, gpu_backend="simulator")
    with pytest.raises(DeviceError, match="a roofline is of programs for CPUs"):
        program.roofline(*arguments)

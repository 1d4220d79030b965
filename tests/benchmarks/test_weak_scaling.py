"""The picture of weak scaling: where its dots are, and what it says of them."""

from __future__ import annotations

from benchmarks.weak_scaling import BOTTOM, LEFT, RIGHT, TOP, draw, shapes
from dcpy.programs.explanation.charts import Circle, Line, Text

FOUND = {"atax": {1: 1.0, 4: 0.8, 16: 0.5}, "gemm": {1: 1.0, 16: 0.25}}


def test_dots_are_at_logarithms_and_percents():
    dots = {one.title: (one.x, one.y) for one in shapes(FOUND, "t") if isinstance(one, Circle) and one.title}
    assert dots["atax, 1 ranks: 100%"] == (LEFT, TOP)
    assert dots["atax, 4 ranks: 80%"] == ((LEFT + RIGHT) / 2, BOTTOM - 0.8 * (BOTTOM - TOP))
    assert dots["gemm, 16 ranks: 25%"] == (RIGHT, BOTTOM - 0.25 * (BOTTOM - TOP))


def test_each_kernel_has_a_name_and_lines_between_its_dots():
    words = [one.text for one in shapes(FOUND, "title") if isinstance(one, Text)]
    assert {"title", "atax", "gemm", "1", "4", "16", "100 %"} <= {*words}
    colors = [one.color for one in shapes(FOUND, "t") if isinstance(one, Line)]
    dots = [one.color for one in shapes(FOUND, "t") if isinstance(one, Circle) and one.title]
    assert [colors.count(dots[0]), colors.count(dots[3])] == [2, 1]


def test_it_is_written(tmp_path):
    written = draw(FOUND, "t", tmp_path / "w.svg")
    assert "<svg" in written[0].read_text()
    assert all(path.stat().st_size for path in written)

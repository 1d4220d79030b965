"""Cache lines that accesses touch, against what one counts by hand."""

from __future__ import annotations

import pytest

from dcpy.ir.analysis.costs.cache_lines import AddressPattern, lines_by_container


def lines(*patterns, trips, depth=0, unit=64):
    return lines_by_container([(pattern, trips) for pattern in patterns], depth, unit).get("A", 0.0)


def pattern(steps, base=0, size=1 << 30, itemsize=8, **more):
    return AddressPattern("A", base, tuple(steps), itemsize, size, **more)


def test_a_row_is_one_run():
    assert lines(pattern([8]), trips=(800,)) == 100


def test_one_element_is_one_line():
    assert lines(pattern([0, 0]), trips=(50, 60)) == 1


def test_a_column_has_a_line_for_each_element():
    assert lines(pattern([8000]), trips=(100,)) == 100
    assert lines(pattern([16]), trips=(100,)) == pytest.approx(25, abs=0.5)  # every other element: all lines


def test_rows_end_to_end_are_one_run():
    assert lines(pattern([800, 8]), trips=(100, 100)) == 1250
    assert lines(pattern([1600, 8]), trips=(100, 100)) == 100 * 12.5


def test_tiles_are_what_they_are_tiles_of():
    assert lines(pattern([64 * 8, 8]), trips=(10, 64)) == 80


def test_columns_inside_share_lines():
    """The order of axes does not matter for what is touched in all."""
    assert lines(pattern([8, 8000]), trips=(1000, 50)) == lines(pattern([8000, 8]), trips=(50, 1000)) == 50 * 125


def test_only_axes_from_a_depth_on():
    assert lines(pattern([8000, 8]), trips=(50, 1000), depth=1) == 125
    assert lines(pattern([8000, 8]), trips=(50, 1000), depth=2) == 1


def test_a_stencil_touches_an_array_once():
    around = [pattern([8000, 8], base) for base in (0, 8, -8, 8000, -8000)]
    assert lines(*around, trips=(998, 998)) == lines(around[0], trips=(998, 998))


def test_a_stencil_touches_three_rows():
    around = [pattern([8000, 8], base) for base in (0, 8, -8, 8000, -8000)]
    assert lines(*around, trips=(998, 998), depth=1) == pytest.approx(3 * 998 / 8)


def test_windows_overlap():
    """``A[i + k]``: not the product of both numbers of iterations."""
    assert lines(pattern([8, 8]), trips=(800, 80)) == pytest.approx(880 / 8, abs=1)
    assert lines(pattern([8000, 8000]), trips=(100, 10)) == 109


def test_never_more_than_the_container_has():
    assert lines(pattern([8000], size=6400), trips=(1000,)) == 100


def test_places_that_data_choose():
    assert lines(pattern([0], scattered=True), trips=(1000,)) == 1000
    assert lines(pattern([0], scattered=True, size=640), trips=(1000,)) == 10


def test_elements_within_one_access():
    assert lines(pattern([], inside=((8, 80),)), trips=()) == 10


def test_pages_are_lines_of_another_size():
    assert lines(pattern([8000]), trips=(100,), unit=4096) == 100
    assert lines(pattern([512]), trips=(80,), unit=4096) == pytest.approx(10, abs=0.2)


def test_who_jumps_is_not_foreseen():
    assert pattern([8, 8000]).jumps
    assert not pattern([8000, 8]).jumps
    assert pattern([0], scattered=True).jumps
    assert not pattern([]).jumps

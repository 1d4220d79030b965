"""The programs of the gallery are short, and give what plain NumPy gives; pages are made of them."""

from __future__ import annotations

import copy
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

from docs.gallery_pages import NAMES, Measured, index, module_of, page, text_of


def test_there_are_twelve():
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_short_and_says_what_it_is(name):
    assert len(Path(module_of(name).__file__).read_text().splitlines()) < 60
    assert all(text_of(name))


@pytest.mark.cc
@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_what_numpy_gives(name):
    module = module_of(name)
    program, arguments = getattr(module, name), module.initialize(module.SMALL)
    expected = program.function(**copy.deepcopy(arguments))
    result = program(**arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
    assert result.dtype == expected.dtype
    assert np.ptp(result) > 0
    axes = MagicMock()
    module.draw(axes, result)
    assert axes.method_calls


def test_a_page_shows_times_figure_and_source():
    text = page("fdtd", Measured(numpy=0.5, compiled=0.002, first=1.25))
    assert "**250.0 times as fast as NumPy**" in text
    assert "| NumPy | 500 ms |" in text
    assert "![FDTD](fdtd.png)" in text
    assert "def fdtd(ez, hx, hy, open_cells, steps):" in text
    assert "fdtd.png" not in page("fdtd")


def test_the_index_has_all_programs():
    measured = {name: Measured(1.0, 0.5, 1.0) for name in NAMES}
    for text in (index(), index(measured)):
        assert all(f"]({name}.md)" in text for name in NAMES)

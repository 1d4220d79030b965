"""Axis descriptions: messages name loops and axes as the program does, whatever the compiler calls them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dcpy
from dcpy.ir.editing.axis_descriptions import with_axes

INTERNAL = re.compile(r"\bi\d+(_\d+)*\b")


def smoothed(a, b, steps):
    for t in range(steps):
        a[1:-1, 1:-1] = b[:-2, 1:-1] + b[2:, 1:-1]
        b[1:-1, 1:-1] = a[1:-1, :-2] * 0.5
    for row in range(b.shape[0]):
        b[row, 0] = np.sum(a[row])
    return a @ b


@pytest.fixture(name="sdfg", scope="module")
def graph():
    return dcpy.program(smoothed).to_sdfg(np.ones((8, 8)), np.ones((8, 8)), 2)


TEXTS = {
    "map i0, i1: threads along i0": "array operation over axes 0 and 1: threads along axis 0",
    "loop t: the range of 't' depends on 'i1'": "loop over t: the range of 't' depends on axis 1",
    "there is a map i0 inside": "there is an array operation over axis 0 inside",
    "iteration i0 writes a[i0 + 1, i1], iteration i0 + 1 reads it": (
        "iteration i writes a[i + 1, j], iteration i + 1 reads it"
    ),
    "a row begins at M*i0 + i1": "a row begins at M*i + j",
    "smoothed_i0_tile": "smoothed_i0_tile",
}


@pytest.mark.parametrize("text", TEXTS)
def test_parameters_in_words(sdfg, text):
    assert with_axes(text, sdfg) == TEXTS[text]


@pytest.mark.parametrize("options", [{}, {"device": "gpu", "gpu_backend": "simulator"}], ids=["cpu", "gpu"])
def test_explanations_have_no_internal_parameters(options):
    program = dcpy.program(smoothed, auto_optimize=True, **options)
    text = str(program.explain(np.ones((80, 80)), np.ones((80, 80)), 10))
    assert "loop over t" in text
    assert [line for line in text.splitlines() if INTERNAL.search(line)] == []


def test_the_text_of_an_sdfg_has_names_of_its_own():
    sdfg = dcpy.parse("sdfg @f(x: f64[N]) symbols(N: size) { map i0 = 0:N { tasklet () -> (o -> x[i0]) { o = 0.0 } } }")
    assert with_axes("map i0: threads along i0", sdfg) == "map i0: threads along i0"


def test_steps_of_libraries_have_the_line_of_their_call(sdfg):
    lines = sdfg.explain("assign-schedules").splitlines()[1:]
    assert lines
    assert all(line.lstrip().startswith("test_axis_descriptions.py:") for line in lines)

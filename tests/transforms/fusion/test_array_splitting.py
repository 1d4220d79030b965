"""ArraySplitting: arrays of components become an array for each; shape, value, and what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.text.printer import print_sdfg
from dcpy.transforms.fusion.array_splitting import ArraySplitting
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N], k: i64) symbols(N: size)"
WRITES = """map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i, 0]) { o = a }
                          tasklet (a <- B[i]) -> (o -> t[i, 1]) { o = a } }"""
READS = "map j = 0:N { tasklet (a <- t[j, 0], b <- t[j, 1]) -> (o -> C[j]) { o = a * b } }"


def split(body, data="data t: f64[N, 2] transient"):
    sdfg = parse(f"{HEAD} {{ {data} state {{ {body} }} }}")
    run_pipeline(sdfg, Pipeline("split", ArraySplitting()), check=True)
    return print_sdfg(sdfg)


def test_an_array_becomes_one_for_each_component():
    expected = (WRITES + READS)
    for param in "ij":
        expected = expected.replace(f"t[{param}, 0]", f"t_0[{param}]").replace(f"t[{param}, 1]", f"t_1[{param}]")
    data = "data t_0: f64[N] transient data t_1: f64[N] transient"
    assert split(WRITES + READS) == print_sdfg(parse(f"{HEAD} {{ {data} state {{ {expected} }} }}"))


def test_matrices_are_split_along_both_axes_and_unused_components_are_gone():
    body = """map i = 0:N { tasklet (a <- A[i]) -> (o -> t[1, i, 0]) { o = a }
                            tasklet (a <- t[1, i, 0]) -> (o -> C[i]) { o = a } }"""
    text = split(body, "data t: f64[3, N, 2] transient")
    assert text.count("data t_") == 1
    assert ": f64[N] transient" in text


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (WRITES + READS.replace("t[j, 1]", "t[j, k]"), "data t: f64[N, 2] transient"),
        (WRITES + READS + "copy t[0:N, 0] -> C[0:N]", "data t: f64[N, 2] transient"),
        (WRITES + READS, "data t: f64[N, 9] transient"),
        (WRITES + READS, "data t: f64[N, 2] transient view v: f64[2*N] of t"),
    ],
    ids=["index of the run time", "copied", "many components", "view"],
)
def test_stays_as_it_is(body, data):
    assert "data t: f64[N, " in split(body, data)


# -- programs: what fusion makes of components ------------------------------------------------------------------------


def rotated(p, axis):
    return p * 0.5 + np.cross(axis, p) * 0.7


def grey_and_back(image):
    grey = image[:, :, 0] * 0.3 + image[:, :, 1] * 0.6 + image[:, :, 2] * 0.1
    return np.stack((grey, 1 - grey, grey * grey), axis=2) * image


def polar(z):
    parts = np.empty((len(z), 2))
    parts[:, 0] = np.hypot(z[:, 0], z[:, 1])
    parts[:, 1] = np.arctan2(z[:, 1], z[:, 0])
    return parts * parts[:, ::-1]


RNG = np.random.default_rng(0)
CALLS = {
    rotated: (RNG.random((50, 3)), RNG.random(3)),
    grey_and_back: (RNG.random((9, 31, 3)),),
    polar: (RNG.random((40, 2)),),
}


@pytest.mark.cc
@pytest.mark.parametrize("function", CALLS)
def test_values(function):
    arguments = CALLS[function]
    found = dcpy.program(function, auto_optimize=True)(*arguments)
    np.testing.assert_allclose(found, function(*arguments), rtol=1e-13)


@pytest.mark.parametrize("function", CALLS)
def test_no_array_is_left_between_the_components(function):
    sdfg = dcpy.program(function, auto_optimize=True).to_sdfg(*CALLS[function], as_called=True)
    assert "data tmp" not in "\n".join(line for line in str(sdfg).splitlines() if "[" in line.split("transient")[0])

"""Stencils read an array once: for random taps in one to three dimensions, and what is declined."""

import random

import pytest

from dcpy.ir.verify import FPGA_FORM, problems
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from tests.support.passes import Passed


def stencil(sizes, taps, starts, stops):
    """``y[p] = sum of x[p + tap]``, each term with a factor of its own, for the points of a box."""
    params = "ijk"[: len(sizes)]
    reads, terms = [], []
    for number, tap in enumerate(taps):
        index = ", ".join(f"{param} + {offset}" for param, offset in zip(params, tap))
        reads.append(f"a{number} <- x[{index}]")
        terms.append(f"a{number} * {number + 1}.0")
    domain = ", ".join(f"{param} = {start}:{stop}" for param, start, stop in zip(params, starts, stops))
    shape, at = ", ".join(map(str, sizes)), ", ".join(params)
    code = " + ".join(terms)
    return f"""sdfg @f(x: f64[{shape}], y: f64[{shape}]) {{
        state {{ map {domain} {{ tasklet ({", ".join(reads)}) -> (o -> y[{at}]) {{ o = {code} }} }} }} }}"""


def random_stencil(seed):
    choose = random.Random(seed)
    dims = choose.randint(1, 3)
    sizes = [choose.randint(4, 7) for _ in range(dims)]
    taps = list({tuple(choose.randint(0, 2) for _ in range(dims)) for _ in range(choose.randint(2, 5))})
    starts = [choose.randint(0, 1) for _ in range(dims)]
    stops = [choose.randint(start + 1, size - 2) for start, size in zip(starts, sizes)]
    return len(taps), stencil(sizes, taps, starts, stops)


@pytest.mark.parametrize("seed", range(25))
def test_random_stencils(seed):
    count, text = random_stencil(seed)
    found = Passed(text, StreamingMemory(), PipelineLoops()).same_values()
    assert not [problem for problem in problems(found.after, FPGA_FORM) if problem.rule == "fpga.tokens"]
    if count > 1 and "window_x" in found.text:
        assert found.text.count("process read_x") == 1
        found.says("'x' is read once, its window has")


FIVE = [(1, 1), (1, 0), (1, 2), (0, 1), (2, 1)]


def test_five_points_need_two_rows():
    found = Passed(stencil((8, 9), FIVE, (0, 0), (6, 7)), StreamingMemory())
    assert "f64[19] transient @local @shift_register" in found.text
    found.same_values().says("its window has 19 elements")


def of_any_size(text):
    return text.replace(") {", ") symbols(N: size) {", 1)


@pytest.mark.parametrize(
    ("sizes", "taps", "starts", "stops", "width"),
    [
        (("N",), [(0,), (1,), (2,)], (0,), ("N - 2",), 3),
        (("N",), [(-1,), (2,)], (1,), ("N - 2",), 4),
        (("N", 9), FIVE, (0, 0), ("N - 2", 7), 19),
        (("N", 5, 6), [(0, 0, 0), (1, 1, 0), (2, 0, 1)], (0, 1, 2), ("N - 2", 3, 4), 20),
    ],
)
def test_there_may_be_any_number_of_rows(sizes, taps, starts, stops, width):
    """What waits is as long as rows are, however many there are. Without points nothing is read."""
    found = Passed(of_any_size(stencil(sizes, taps, starts, stops)), StreamingMemory(), PipelineLoops())
    found.same_values(N=[0, 1, 2, 3, 4, 9]).says(f"its window has {width} elements")
    assert found.text.count("process read_x") == 1
    assert not [problem for problem in problems(found.after, FPGA_FORM) if problem.rule == "fpga.tokens"]


def declined(text, *reasons):
    found = Passed(text, StreamingMemory())
    assert "window_x" not in found.text
    found.says(*reasons, applied=False)


def test_what_is_read_several_times():
    columns = of_any_size(stencil((9, "N"), FIVE, (0, 0), (7, "N - 2")))
    declined(columns, "'x' is read 5 times: a shift register needs rows of", "or sdfg.specialize({'N': 1024})")
    declined(stencil((600, 700), FIVE, (0, 0), (598, 698)), "its window has 1401 elements, more than 1024")
    declined(
        "sdfg @f(x: f64[9], y: f64[4]) { state { map i = 0:4 { tasklet (a <- x[i], b <- x[2*i]) -> (o -> y[i]) "
        "{ o = a + b } } } }",
        "it is not read at constant distances",
    )

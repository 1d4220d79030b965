"""Time steps as chains: the same bits, the grid read and written once for all steps, and what is declined."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.verify import FPGA_FORM, problems
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from dcpy.transforms.fpga.temporal_pipelining import TemporalPipelining
from tests.support.passes import Passed

f32 = dcpy.float32
SUM = "o = a * 0.5 + b * 0.25 + c"
THERE = f"map i = 1:15 {{ tasklet (a <- A[i - 1], b <- A[i], c <- A[i + 1]) -> (o -> B[i]) {{ {SUM} }} }}"
BACK = "map j = 1:15 { tasklet (a <- B[j - 1], b <- B[j + 1]) -> (o -> A[j]) { o = a - b * 0.5 } }"


def program(*maps, sizes="16", steps="0:9", more=""):
    inside = " ".join(f"state {{ {one} }}" for one in maps)
    symbols = "" if sizes.isdigit() else f"symbols({sizes}: size) "
    return f"""sdfg @f(A: f64[{sizes}], B: f64[{sizes}], C: f64[{sizes}]) {symbols}{{
        loop t = {steps} {{ {inside} {more} }} }}"""


@pytest.mark.parametrize("steps", ["0:0", "0:1", "0:4", "2:11", "0:14"])
@pytest.mark.parametrize("chained", [1, 2])
def test_the_same_bits(steps, chained):
    """Also with no step, fewer steps than a chain has, and such as do not divide."""
    found = Passed(program(THERE, BACK, steps=steps), TemporalPipelining(chained), StreamingMemory(), PipelineLoops())
    found.same_values()
    rules = ("fpga.tokens", "fpga.memory")
    assert not [problem for problem in problems(found.after, FPGA_FORM) if problem.rule in rules]


def test_what_is_left_is_a_shorter_chain():
    found = Passed(program(THERE, BACK, steps="0:30"), TemporalPipelining(6)).same_values()
    found.says("6 time steps are a chain of 12 stages", "3 time steps are a chain of 6 stages")
    assert found.text.count("A_next[0:16]") == 1, "there is one other array, and one copy to it"


def test_stages_that_need_no_frame():
    """What one stage writes is what the next one reads: a copy back, for instance."""
    there = "map i = 1:15 { tasklet (a <- A[i - 1], b <- A[i + 1]) -> (o -> B[i]) { o = a - b } }"
    back = "map j = 1:15 { tasklet (a <- B[j]) -> (o -> A[j]) { o = a } }"
    found = Passed(program(there, back), TemporalPipelining(2)).same_values()
    assert found.text.count("process frame_") == 2, "around A, in both chains; none around B"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (program(THERE, BACK, steps="0:9:2"), "time steps are not counted one by one"),
        (program(THERE, BACK.replace("- b * 0.5", "- b * f64(t)")), "depends on t"),
        (program(THERE, BACK.replace("B[j", "C[j")), "'C' is not what the map before writes"),
        (program(THERE, BACK.replace("b <- B[j + 1]", "b <- C[j + 1]")), "a map reads 2 arrays"),
        (program(THERE, BACK.replace("B[j - 1]", "B[15 - j]")), "not read at constant distances"),
        (program(THERE, BACK.replace("j = 1:15", "j = 3:11")), "not all of 'B' that is written is read again"),
        (
            program(THERE.replace("15", "N - 1"), BACK.replace("15", "N - 1"), sizes="N"),
            "the sizes of the grid are not constant",
        ),
        (program(THERE, BACK, more="if t > 3 { copy A[0] -> C[0] }"), "there is a branch in a time step"),
        (program(THERE, BACK, "copy A[0] -> C[0]"), "there is a copy in a time step"),
    ],
)
def test_declined(text, why):
    found = Passed(text, TemporalPipelining(2))
    found.says(why, applied=False)
    assert "process" not in found.text


@pytest.mark.cc
def test_a_grid_is_read_and_written_once_for_all_steps():
    def jacobi_2d(T: dcpy.int64, A: f32[9, 12], B: f32[9, 12]):
        for _ in range(T):
            B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
            A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])

    random = np.random.default_rng(5)
    A, B = random.random((2, 9, 12), np.float32)
    mine, numpys = (A.copy(), B.copy()), (A.copy(), B.copy())
    compiled = dcpy.program(jacobi_2d, device="fpga", **{"fpga.steps": 2})
    compiled(7, *mine)
    jacobi_2d(7, *numpys)
    assert all(map(np.array_equal, mine, numpys))
    told = compiled.explain(7, A, B)
    (chain,) = [part for part in told.split("jacobi_2d_kernel") if part.startswith(": ")]
    moved = {words[0]: words[-2:] for line in chain.splitlines() if len(words := line.split()) == 8}
    assert moved["jacobi_2d_read_A"] == [str(4 * 9 * 12), "0"]
    assert moved["jacobi_2d_write_A_next"] == ["0", str(4 * 7 * 10)]
    assert moved["jacobi_2d_frame_B"] == [str(4 * (9 * 12 - 7 * 10)), "0"], "what is around"

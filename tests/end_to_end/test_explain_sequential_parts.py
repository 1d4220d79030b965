"""``explain`` on CPUs names the loops that are not parallel, with the reason, and the calls of Python functions."""

import math

import numpy as np

import dcpy

FILE = "test_explain_sequential_parts.py"
LOOPS = "loops whose iterations run one after the other:"
CALLS = "calls of Python, some microseconds each:"


def towers(x):
    n, m = x.shape
    total = 0.0
    for i in range(n):
        value = 1.0
        for j in range(m):
            value *= math.exp(x[i, j])
        total += value
    return total


def running(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


def squares(x):
    for i in range(len(x)):
        x[i] = x[i] * x[i]


def histogram(x, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for i in range(len(x)):
        k = int(x[i])
        if 0 <= k < bins:
            counts[k] += 1
    return counts


def drawn(n):
    total = 0.0
    for _ in range(n):
        total += np.random.normal()
    return total


def part(text, title):
    lines = text[text.index(title) :].splitlines()[1:]
    return [line.split("  ") for line in lines[: next((k for k, line in enumerate(lines) if line[:2] != "  "), None)]]


def line_of(function, below):
    return f"{FILE}:{function.__code__.co_firstlineno + below}"


def test_a_loop_with_a_check_says_which_exception_it_raises():
    ((_, place, _, reason),) = part(dcpy.program(towers, auto_optimize=True).explain(np.ones((9, 9))), LOOPS)
    assert place == line_of(towers, 3)
    assert reason == f"a check inside may end it early, by OverflowError ({line_of(towers, 6)})"


def test_a_loop_with_a_dependence_says_between_which_iterations():
    ((_, place, _, reason),) = part(dcpy.program(running, auto_optimize=True).explain(np.ones(9)), LOOPS)
    assert place == line_of(running, 1)
    assert reason.startswith("iteration i writes x[i], iteration i + 1 reads x[i - 1]")


def test_a_parallel_loop_is_not_listed_and_before_the_optimizer_the_remedy_is():
    assert LOOPS not in dcpy.program(squares, auto_optimize=True).explain(np.ones(9))
    ((_, _, _, reason),) = part(dcpy.program(squares).explain(np.ones(9)), LOOPS)
    assert reason == "parallel with auto_optimize=True"


def test_draws_by_numpy_itself_are_calls_of_python():
    ((_, place, name),) = part(dcpy.program(drawn, auto_optimize=True).explain(9), CALLS)
    assert (place, name) == (line_of(drawn, 3), "normal")
    assert CALLS not in dcpy.program(squares).explain(np.ones(9))


def test_transformations_that_apply_nowhere_are_left_out():
    told = dcpy.program(running, auto_optimize=True).explain(np.ones(9))
    assert "0 of" not in told
    assert "loop-to-map: 0 of 1 match apply" in dcpy.program(running).to_sdfg(np.ones(9)).explain("loop-to-map")


def test_a_loop_that_lowering_gives_to_threads_in_blocks_is_parallel():
    said = dcpy.program(histogram, auto_optimize=True).explain(np.ones(9), 4)
    assert "yes  scatter-privatization: loop over i" in said
    assert LOOPS not in said

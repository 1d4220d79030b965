"""KernelUnion: independent kernels over ranges of different lengths are one launch, and move what they moved."""

import numpy as np
import pytest

import dcpy
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.transforms.gpu.kernels.kernel_union import KernelUnion
from tests.support.passes import Passed

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[M], D: f64[M], E: f64[N, M]) symbols(N: size, M: size)"


def joined(*kernels, largest=32):
    return Passed(f"{HEAD} {{ state {{ {' '.join(kernels)} }} }}", KernelUnion(largest))


LONG = """
    map b = 0:N:256 @grid { map i = b:min(N, b + 256) @block {
      tasklet (a <- A[i]) -> (o -> B[i]) { o = 2.0 * a } } }"""
SHORT = """
    map c = 0:M:256 @grid { map j = c:min(M, c + 256) @block {
      tasklet (a <- C[j]) -> (o -> D[j]) { o = a * a } } }"""


def test_kernels_of_different_lengths_are_one_launch():
    joined(LONG, SHORT).becomes(f"""{HEAD} {{ state {{
        map b = 0:max(M, N):256 @grid {{
          map i = b:min(N, b + 256) @block {{ tasklet (a <- A[i]) -> (o -> B[i]) {{ o = 2.0 * a }} }}
          map j = b:min(M, b + 256) @block {{ tasklet (a <- C[j]) -> (o -> D[j]) {{ o = a * a }} }}
        }} }} }}""").same_values(N=[0, 3, 600], M=[0, 300]).says("map b: one launch with the kernel over c")


def test_three_are_one():
    third = "map d = 0:N - 1:256 @grid { map k = d:min(N - 1, d + 256) @block {"
    third += " tasklet () -> (o -> E[k, 0]) { o = 1.0 } } }"
    found = joined(LONG, SHORT, third).same_values(N=[1, 300], M=[1, 600])
    assert found.text.count("@grid") == 1
    assert "map b = 0:max(M, N):256 @grid" in found.text


def plane(array, rows, columns, *params):
    b, c, i, j = params
    return f"""
        map {b} = 0:{rows}:8, {c} = 0:{columns}:32 @grid {{
          map {i} = {b}:min({rows}, {b} + 8), {j} = {c}:min({columns}, {c} + 32) @block {{
            tasklet () -> (o -> {array}[{i}, {j}]) {{ o = 1.0 }} }} }}"""


@pytest.mark.parametrize(("rows", "columns", "kernels"), [("N", "K", 1), ("K", "M", 1), ("K", "L", 2)])
def test_unions_of_rectangles_have_no_more_blocks_than_both(rows, columns, kernels):
    head = f"sdfg @f(E: f64[N, M], F: f64[{rows}, {columns}]) symbols(N: size, M: size, K: size, L: size)"
    maps = plane("E", "N", "M", *"bcij") + plane("F", rows, columns, *"dekl")
    assert Passed(f"{head} {{ state {{ {maps} }} }}", KernelUnion()).text.count("@grid") == kernels


@pytest.mark.parametrize(
    "second",
    [
        SHORT.replace("C[j]", "B[min(j, N - 1)]"),  # reads what the first one writes
        SHORT.replace("D[j]", "B[min(j, N - 1)]"),  # writes it, too
        SHORT.replace("256", "128"),  # other tiles
        SHORT.replace("min(M, c + 256)", "c + 1"),  # threads that know no end
        SHORT.replace("@block {", "@block { check C[j] > 0.0 else ValueError \"no\" ()"),  # may fail
        SHORT.replace("@grid {", "@grid { data t: f64[256] transient @shared @stack"),  # threads share something
        SHORT.replace("M", "N"),  # no different lengths: KernelFusion has declined it
    ],
)
def test_others_are_launched_by_themselves(second):
    assert joined(LONG, second).text.count("@grid") == 2


def test_nothing_between_them_is_passed_by():
    between = "copy D[0:M] -> C[0:M]"
    assert joined(LONG, between, SHORT).text.count("@grid") == 2


def test_kernels_have_a_limited_size():
    assert joined(LONG, SHORT, largest=1).text.count("@grid") == 2


def both(x, y, doubled, more):
    doubled[:] = 2 * x
    more[:] = y + 1


@pytest.mark.cc
def test_a_union_moves_what_its_parts_move():
    arguments = [np.arange(700.0), np.arange(300.0), np.zeros(700), np.zeros(300)]
    program = dcpy.program(both, device="gpu", gpu_backend="simulator", gpu_hooks=True, auto_optimize=True)
    with watching() as seen:
        program(*arguments)
    assert np.array_equal(arguments[2], 2 * arguments[0])
    assert np.array_equal(arguments[3], arguments[1] + 1)
    (kernel,) = seen.report.kernels
    assert (kernel.launches, kernel.moved_bytes) == (1, sum(each.nbytes for each in arguments))

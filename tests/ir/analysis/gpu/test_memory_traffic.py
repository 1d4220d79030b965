"""What a kernel moves: elements that have to, sectors that do, in closed forms and counted."""

from __future__ import annotations

import pytest

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.analysis.gpu.kernel_launches import launches
from dcpy.ir.analysis.gpu.kernel_operations import operations_of
from dcpy.ir.analysis.gpu.memory_traffic import traffic_of
from dcpy.ir.analysis.gpu.sector_counts import SectorCount, counted
from dcpy.ir.machine_model import Costs
from dcpy.ir.text import parse_sdfg

SIZES = {"N": 40, "M": 24}


def kernel_in(body, arguments=""):
    """The only kernel of a program over A and B of N by M elements, x and y of N, and the index of uses."""
    arrays = "A: f64[N, M] @global, B: f64[N, M] @global, x: f64[N] @global, y: f64[N] @global, k: i64[N] @global"
    sdfg = parse_sdfg(f"sdfg @f({arrays}{arguments}) symbols(N: size, M: size) {{ {body} }}")
    (kernel,) = kernels(sdfg)
    return kernel, Uses(sdfg)


def traffic(body, arguments=""):
    return traffic_of(*kernel_in(f"state {{ {body} }}", arguments))


def elementwise(code, reads, target, domain="i = 0:N, j = 0:M"):
    return f"map {domain} @grid {{ tasklet ({reads}) -> (o -> {target}) {{ o = {code} }} }}"


def test_each_element_once():
    found = traffic(elementwise("a", "a <- A[i, j]", "B[i, j]"))
    assert str(found.floor) == "16*max(0, M*N)"
    assert counted(found, SIZES) == SectorCount(16 * 40 * 24, 16 * 40 * 24)


def test_what_is_read_again_is_read_once():
    found = traffic(elementwise("a + b", "a <- x[i], b <- A[i, j]", "B[i, j]"))
    assert counted(found, SIZES).floor == 8 * (2 * 40 * 24 + 40)


def test_a_stencil_reads_neither_corners_nor_anything_twice():
    reads = "a <- A[i - 1, j], b <- A[i + 1, j], c <- A[i, j - 1], d <- A[i, j + 1]"
    found = traffic(elementwise("a + b + c + d", reads, "B[i, j]", "i = 1:N - 1, j = 1:M - 1"))
    read, written = (counted(type(found)((move,)), SIZES) for move in found.moves)
    assert read == SectorCount(8 * (40 * 24 - 4), 8 * 40 * 24)
    assert written == SectorCount(8 * 38 * 22, 8 * 38 * 24)


def test_a_column_moves_a_sector_for_each_element():
    found = traffic(elementwise("a", "a <- A[i, 3]", "y[i]", "i = 0:N"))
    assert counted(found, SIZES) == SectorCount(2 * 8 * 40, 32 * 40 + 8 * 40)
    assert found.moved.evaluate(SIZES) == 32 * 40 + 8 * 40


def test_every_other_element_moves_all_sectors():
    found = traffic(elementwise("1.0", "", "x[2 * i]", "i = 0:20"))
    assert counted(found, SIZES) == SectorCount(8 * 20, 8 * 40)


def test_rows_that_begin_within_a_sector():
    sizes = {"N": 40, "M": 23}  # every row begins a word further on
    found = traffic(elementwise("1.0", "", "A[i, j]", "i = 0:N, j = 4:8"))
    count = counted(found, sizes)
    assert count.floor == 8 * 40 * 4
    assert count.floor < count.moved <= found.moved.evaluate(sizes) == 32 * 40 * 2


TILED = """map b = 0:N:8, c = 0:M:32 @grid {
  map i = b:min(N, b + 8), j = c:min(M, c + 32) @block { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } }"""
TURNS = """map i = 0:N @grid { map t = 0:32 @block { map j = t:M:32 @sequential {
  tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a } } } }"""


@pytest.mark.parametrize("body", [TILED, TURNS])
def test_tiles_and_turns_of_threads_change_nothing(body):
    assert str(traffic(body).floor) == "16*max(0, M*N)"
    assert str(traffic(body).moved) == str(traffic(elementwise("a", "a <- A[i, j]", "B[i, j]")).moved)


def test_half_of_a_matrix():
    found = traffic("map i = 0:N @grid { map j = 0:i + 1 { tasklet (a <- x[j]) -> (o -> C[i, j]) { o = a } } }",
                    ", C: f64[N, N] @global")  # fmt: skip
    assert counted(found, SIZES).floor == 8 * (40 * 41 // 2 + 40)
    assert found.moved.evaluate(SIZES) >= counted(found, SIZES).moved


def test_what_the_kernel_has_written_needs_not_come():
    found = traffic("""map i = 0:N @grid { tasklet () -> (o -> y[i]) { o = 0.0 }
      map j = 0:M @sequential { tasklet (a <- A[i, j]) -> (o -> y[i] (add)) { o = a } } }""")
    assert counted(found, SIZES) == SectorCount(8 * (40 * 24 + 40), 8 * (40 * 24 + 2 * 40))


def test_an_update_reads_and_writes():
    found = traffic(elementwise("a + b", "a <- x[i], b <- y[i]", "y[i]", "i = 0:N"))
    assert counted(found, SIZES) == SectorCount(3 * 8 * 40, 3 * 8 * 40)


def test_private_data_move_nothing():
    found = traffic("""map i = 0:N @grid { data t: f64 transient @register
      tasklet (a <- x[i]) -> (o -> t) { o = a } tasklet (a <- t) -> (o -> y[i]) { o = a } }""")
    assert [move.container for move in found.moves] == ["x", "y"]


def test_places_that_the_data_choose():
    """At least nothing, at most everything."""
    body = "map i = 0:N @grid { let n = k[i]  state { tasklet (a <- x[n]) -> (o -> y[i]) { o = a } } }"
    found = traffic(body)
    assert found.data_dependent == ("x",)
    assert counted(found, SIZES) == SectorCount(8 * 40 + 8 * 40, 3 * 8 * 40, exact=False)


def test_what_a_choice_may_not_take():
    found = traffic(elementwise("select(a > 0.0, b, 1.0)", "a <- x[i], b <- y[i]", "B[i, 0]", "i = 0:N"))
    assert found.data_dependent == ("y",)
    assert counted(found, SIZES).floor == 8 * (40 + 40)


def test_sizes_that_nobody_knows():
    found = traffic(elementwise("a", "a <- A[i, j]", "B[i, j]"))
    assert counted(found, {"N": 40}) == SectorCount(0, 0, exact=False)


def test_launches_in_loops():
    body = """loop t = 0:3 { let m = N - t  loop s = t:3 {
      state { map i = 0:m - 38 @grid { tasklet (a <- x[i + t]) -> (o -> y[i]) { o = a } } } } }"""
    kernel, _ = kernel_in(body)
    found = [tuple(launch.symbols[name] for name in "tsm") for launch in launches(kernel, SIZES)]
    assert found == [(0, 0, 40), (0, 1, 40), (0, 2, 40), (1, 1, 39), (1, 2, 39)]  # no block is left in the last one


def test_some_of_many_launches():
    kernel, _ = kernel_in("""loop t = 0:1000 { state {
      map i = 0:N @grid { tasklet (a <- x[i]) -> (o -> y[i]) { o = a } } } }""")
    found = list(launches(kernel, SIZES, most=10))
    assert [launch.symbols["t"] for launch in found] == list(range(0, 1000, 100))
    assert sum(launch.times for launch in found) == 1000


def test_operations_are_counted_once_per_point():
    kernel, _ = kernel_in("state { map b = 0:N:8 @grid { map i = b:min(N, b + 8) @block { map j = 0:i @sequential {"
                          " tasklet (a <- x[j]) -> (o -> y[i] (add)) { o = 2.0 * a + sqrt(a) } } } } }")  # fmt: skip
    found = operations_of(kernel, Costs())
    assert found.evaluate(SIZES) == 40 * 19 * (2 + Costs().operations.sqrt)

"""The time of nests on a processor with round numbers, against what one computes by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.ir.analysis.costs.nest_time import nest_times, seconds
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.machine_model import Costs, Latencies, OperationCosts, Processor
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import SEQUENTIAL, Parallel
from dcpy.ir.text import parse_sdfg

PROCESSOR = Processor(
    cores=4, vector_bytes=32, operation=100, gather=1000, loop=1_000_000, l1_bytes=1 << 15, l1_speed=100_000,
    l2_bytes=1 << 20, l2_speed=50_000, l2_line=2000, l3_bytes=1 << 25, l3_speed=20_000, l3_line=5000,
    memory_speed=10_000, memory_speed_all=20_000, memory_line=20_000, pages=1024, page=3000, fork=2_000_000,
    wake=10_000_000, barrier=1_000_000, fault=1_000_000, call=100_000, product_speed=50_000, product_speed_all=100_000,
    latencies=Latencies(add=1000, mul=2000, div=5000, sqrt=6000, exp=10_000, pow=20_000),
)  # fmt: skip
COSTS = Costs(processor=PROCESSOR, operations=OperationCosts(div=5, exp=20))
ARRAYS = "A: f64[N, M], B: f64[N, M], x: f64[N], y: f64[N], k: i64[N]"


def program(body, data=""):
    return parse_sdfg(f"sdfg @f({ARRAYS}) symbols(N: size, M: size) {{ {data} {body} }}")


def times(body, n=100, m=1, costs=COSTS, data=""):
    sdfg = program(body, data)
    return nest_times(sdfg.body, {"N": n, "M": m}, Uses(sdfg), costs)


def the_time(body, n=100, m=1, costs=COSTS, data=""):
    (found,) = [time for time in times(body, n, m, costs, data) if time.nest is not None]
    return found


def elementwise(code, schedule="@vector", reads="a <- x[i]", target="y[i]"):
    return f"state {{ map i = 0:N {schedule} {{ tasklet ({reads}) -> (o -> {target}) {{ o = {code} }} }} }}"


def test_operations_in_vectors():
    found = the_time(elementwise("a * a * a + 1.0"), n=1000)
    assert found.operations == 3 * 1000
    assert found.bounds["operations"] == pytest.approx(3 * 1000 * 100e-12)


def test_operations_one_by_one_take_as_long_as_vectors():
    found = the_time(elementwise("a * a * a + 1.0", "@sequential"), n=1000)
    assert found.bounds["operations"] == pytest.approx(4 * 3 * 1000 * 100e-12)


def test_costly_operations_are_in_the_table():
    assert the_time(elementwise("exp(a) / a"), n=1000).bounds["operations"] == pytest.approx(
        1000 * (2000 + 500) * 1e-12
    )
    assert the_time(elementwise("exp(a)"), n=1000).bound == "operations"


def test_accesses():
    """Sixteen bytes for each element, at 100 GB/s."""
    assert the_time(elementwise("a"), n=1000).bounds["accesses"] == pytest.approx(1000 * 16 / 100e9)


def test_strided_accesses_are_gathered():
    found = the_time("state { map i = 0:N @vector { tasklet (a <- A[i, 0]) -> (o -> y[i]) { o = a } } }", n=1000, m=3)
    assert found.bounds["accesses"] == pytest.approx(1000 * (1000e-12 + 8 / 100e9))


def test_data_in_the_second_level():
    """What is read comes once, what is written comes and goes."""
    n = 40_000
    found = the_time(elementwise("a"), n)
    assert found.moved == {"L2": 3 * 8 * n, "L3": 0, "memory": 0}
    assert found.bounds["L2"] == pytest.approx(24 * n / 50e9)
    assert found.bound == "L2"


@pytest.mark.parametrize(("n", "level", "speed"), [(1_000_000, "L3", 20e9), (8_000_000, "memory", 10e9)])
def test_data_further_away(n, level, speed):
    found = the_time(elementwise("a"), n)
    assert found.bound == level
    assert found.seconds == pytest.approx(24 * n / speed, rel=0.01)


def test_data_that_stay_are_there_in_the_next_sweep():
    """A loop around the map touches all of them again; another array of the loop throws them out."""
    sweep = elementwise("a * 2.0")
    other = "state { map j = 0:N, l = 0:M @vector { tasklet () -> (o -> A[j, l]) { o = 0.0 } } }"
    assert the_time(f"loop t = 0:10 {{ {sweep} }}", n=1000).moved["L2"] == 0
    first = times(f"loop t = 0:10 {{ {sweep} {other} }}", n=1000, m=100)[0]
    assert first.times == 10
    assert first.moved["L2"] == 3 * 8000


def test_a_row_that_is_read_again_comes_once():
    body = """state { map i = 0:N @sequential { map j = 0:M @vector {
      tasklet (a <- A[i, j], b <- B[0, j]) -> (o -> A[i, j]) { o = a + b } } } }"""
    found = the_time(body, n=1000, m=1000)
    assert found.moved["L3"] == pytest.approx(2 * 8e6 + 8000, rel=0.01)


def test_a_matrix_that_does_not_fit_comes_again():
    body = """state { map i = 0:N @sequential { map j = 0:N @sequential { map l = 0:M @vector {
      tasklet (a <- A[i, l], b <- B[j, l]) -> (o -> y[j] (add)) { o = a * b } } } } }"""
    found = the_time(body, n=1000, m=1000)
    assert found.moved["L3"] == pytest.approx(1000 * 8e6, rel=0.01)


def test_columns_bring_lines_from_here_and_there():
    body = (
        "state { map j = 0:M @sequential { map i = 0:N @vector { tasklet (a <- A[i, j]) -> (o -> y[i]) { o = a } } } }"
    )
    found = the_time(body, n=512, m=512)
    assert found.bounds["L2"] > the_time(body.replace("A[i, j]", "x[i]"), n=512, m=512).bounds["L2"]


def test_pages_whose_places_are_forgotten():
    body = (
        "state { map j = 0:M @sequential { map i = 0:N @vector { tasklet (a <- A[i, j]) -> (o -> y[i]) { o = a } } } }"
    )
    assert the_time(body, n=2000, m=600).overheads["pages"] == pytest.approx(2000 * 600 * 3000e-12, rel=0.02)
    assert "pages" not in the_time(body, n=200, m=600).overheads


def test_places_that_data_choose():
    body = "state { map i = 0:N @vector { let p = k[i] state { tasklet (a <- x[p]) -> (o -> y[i]) { o = a } } } }"
    found = the_time(body, n=20_000_000)
    assert found.bound == "memory"
    assert found.bounds["memory"] > 20e6 * 0.7 * 20e-9  # three quarters of the lines of x are in no cache


# -- chains ------------------------------------------------------------------------------------------------------------


def test_a_recurrence_waits_for_each_operation():
    body = """loop i = 1:N { state { tasklet (a <- x[i - 1], b <- y[i]) -> (o -> x[i]) { o = a * 0.5 + b } } }"""
    found = the_time(body, n=1001)
    assert found.bounds["chain"] == pytest.approx(1000 * 3000e-12)
    assert (found.bound, found.least) == ("chain", "chain")
    assert found.distance == pytest.approx(1.0, abs=0.4)


def test_only_the_operations_on_the_way_count():
    body = "loop i = 1:N { state { tasklet (a <- x[i - 1], b <- y[i]) -> (o -> x[i]) { o = a + exp(b) } } }"
    assert the_time(body, n=1001).bounds["chain"] == pytest.approx(1000 * 1000e-12)


def test_a_distance_of_two_is_two_chains():
    body = "loop i = 2:N { state { tasklet (a <- x[i - 2]) -> (o -> x[i]) { o = a + 1.0 } } }"
    assert the_time(body, n=1002).bounds["chain"] == pytest.approx(1000 * 1000e-12 / 2)


def test_points_inside_are_chains_of_their_own():
    body = """loop t = 1:M { state { map i = 0:N @vector {
      tasklet (a <- A[i, t - 1]) -> (o -> A[i, t]) { o = a + 1.0 } } } }"""
    found = the_time(body, n=100, m=101)
    assert found.bounds["chain"] == 0


def test_a_chain_through_a_scalar():
    body = """loop i = 0:N { state { tasklet (s <- total, a <- x[i]) -> (o -> t) { o = s * a }
      tasklet (a <- t) -> (o -> total) { o = a + 1.0 } } }"""
    data = "data total: f64 transient @register data t: f64 transient @register"
    assert the_time(body, n=1000, data=data).bounds["chain"] == pytest.approx(1000 * 3000e-12)


def test_what_an_iteration_has_written_itself_is_no_chain():
    body = """loop i = 0:N { state { tasklet (a <- x[i]) -> (o -> t) { o = a * 2.0 }
      tasklet (a <- t) -> (o -> y[i]) { o = a + 1.0 } } }"""
    assert the_time(body, n=1000, data="data t: f64 transient @register").bounds["chain"] == 0


def test_a_sum_has_a_partial_sum_in_each_lane():
    total = "data s: f64 transient @register"
    body = "state { map i = 0:N SCHEDULE { tasklet (a <- x[i]) -> (o -> s (add)) { o = a } } }"
    assert the_time(body.replace("SCHEDULE", "@vector"), 1000, data=total).bounds["chain"] == pytest.approx(250e-9)
    assert the_time(body.replace("SCHEDULE", "@sequential"), 1000, data=total).bounds["chain"] == pytest.approx(1000e-9)


# -- overheads ---------------------------------------------------------------------------------------------------------

ROWS = (
    "state { map i = 0:N SCHEDULE { map j = 0:M @vector { tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = exp(a) } } } }"
)


def test_each_start_of_a_loop():
    assert the_time(ROWS.replace("SCHEDULE", "@sequential"), n=70, m=4).overheads["loops"] == pytest.approx(70 * 1e-6)


def test_threads_divide_what_cores_do():
    quiet = replace(COSTS, processor=replace(PROCESSOR, loop=1))
    alone = the_time(ROWS.replace("SCHEDULE", "@sequential"), 400, 100, quiet)
    found = the_time(ROWS.replace("SCHEDULE", "@parallel"), 400, 100, quiet)
    assert (alone.cores, found.cores) == (1, 4)
    assert found.bounds["operations"] == pytest.approx(alone.bounds["operations"] / 4)
    assert found.seconds == pytest.approx(alone.limit / 4 + 10e-6, rel=0.1)  # a team that slept


def test_a_team_in_a_loop_is_awake():
    found = the_time(f"loop t = 0:5 {{ {ROWS.replace('SCHEDULE', '@parallel')} }}", 400, 100)
    assert (found.times, found.overheads["fork"]) == (5, pytest.approx(2e-6))


def test_memory_is_shared():
    found = the_time(elementwise("a", "@parallel{width = 0}"), 8_000_000)
    assert found.seconds == pytest.approx(24 * 8e6 / 20e9, rel=0.01)


def test_no_team_for_a_few_iterations():
    assert the_time(ROWS.replace("SCHEDULE", "@parallel{above = 1000}"), 30, 30).cores == 1
    assert the_time(ROWS.replace("SCHEDULE", "@parallel{above = 1000}"), 40, 30).cores == 4


def test_no_more_cores_than_iterations():
    assert the_time(ROWS.replace("SCHEDULE", "@parallel"), 3, 10_000).cores == 3


def test_a_product_is_computed_at_the_rate_of_products():
    body = """state { foreign (a <- A[0:N, 0:M], b <- B[0:N, 0:M]) -> (c -> C[0:N, 0:N]) from openblas {
      scipy_cblas_dgemm(i32(N), &a, &b, &c) } }"""
    (found,) = times(body, 300, 200, data="data C: f64[N, N] transient @heap lifetime persistent")
    assert found.operations == pytest.approx(2 * 300 * 300 * 200)
    assert found.bounds["operations"] == pytest.approx(2 * 300 * 300 * 200 / 100e9 + 100e-9, rel=1e-4)


# -- choices -----------------------------------------------------------------------------------------------------------


def test_another_schedule_in_its_place():
    sdfg = program(ROWS.replace("SCHEDULE", "@sequential"))
    (node,) = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.params == ("i",)]

    def pays(n):
        sizes, uses = {"N": n, "M": 100}, Uses(sdfg)
        return seconds(node, sizes, uses, COSTS, Parallel()) < seconds(node, sizes, uses, COSTS, SEQUENTIAL)

    assert [pays(n) for n in (2, 20, 200)] == [False, True, True]


def test_half_of_a_matrix_is_half_of_the_work():
    half = ROWS.replace("0:M", "0:i").replace("SCHEDULE", "@sequential")
    assert the_time(half, 400, 400).operations == pytest.approx(
        the_time(half.replace("0:i", "0:M"), 400, 400).operations / 2
    )


def test_one_side_of_a_branch_that_is_known():
    side = elementwise("exp(a)")
    body = f"if N > 10 {{ {elementwise('a').replace('i =', 'p =').replace('[i]', '[p]')} }} else {{ {side} }}"
    assert the_time(body, 100).bounds["operations"] == 0
    assert the_time(body, 5).bounds["operations"] > 0


def test_how_far_it_is_from_the_least():
    """A walk along columns moves all lines of a row for each element of it."""
    rows = the_time(ROWS.replace("SCHEDULE", "@sequential").replace("exp(a)", "a"), 3000, 3000)
    columns = the_time(
        ROWS.replace("SCHEDULE", "@sequential").replace("exp(a)", "a").replace("[i, j]", "[j, i]"), 3000, 3000
    )
    assert rows.least == columns.least == "memory"
    assert rows.distance < 4 < 8 < columns.distance

"""distribute-map, insert-communication, localize: shape, and a refusal for each reason."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import CommunicationError, TransformationRefused
from dcpy.ir.interp.virtual_ranks import run_ranks
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.communication.insert_communication import InsertCommunication
from dcpy.transforms.distributed.local_form.localize import Localize
from dcpy.transforms.distributed.owner_computes.distribute_map import DistributeMap
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import assert_same_text, expect
from tests.support.ranks import check, distributed, localized

BY = "((N + P - 1) // P)"
ARGUMENTS = "x: f64[N] on g(block 0 by {by}), y: f64[N]{y}, k: i64[N]"
HEAD = f"sdfg @f({ARGUMENTS}) symbols(N: size, P: size{{{{least = 1}}}}) grids(g[P])"


def program(body, y=f" on g(block 0 by {BY})"):
    return parse_sdfg(f"{HEAD.format(by=BY, y=y)} {{ {body} }}")


def homed(home="", read="x[i]", write="y[i]", domain="0:N"):
    return f"map i = {domain} {home} {{ tasklet (v <- {read}) -> (o -> {write}) {{ o = v }} }}"


def after(sdfg, step):
    run_pipeline(sdfg, Pipeline("test", step), check=True)
    return print_sdfg(sdfg)


# -- distribute-map --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "domain", "home"),
    [
        ("y[i]", "0:N", f"g(block 0 by {BY})"),
        ("y[i + 1]", "0:N - 1", f"g(block 0 by {BY} offset 1)"),
        ("y[i]", "0:N:2", f"g(block 0 by {BY})"),
    ],
)
def test_a_map_runs_where_it_writes(write, domain, home):
    sdfg = program(homed(write=write, domain=domain))
    expected = program(homed(f"home {home}", write=write, domain=domain))
    expect(DistributeMap(), on=sdfg).becomes(print_sdfg(expected)).same_values(N=[0, 1, 7], P=[1, 2])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (homed(f"home g(block 0 by {BY})"), "it has a home"),
        (homed(write="k2[i]").replace("map", "data k2: f64[N] transient map"), "it writes nothing that is distributed"),
        (homed(write="y[N - 1 - i]"), "N - i - 1 is no parameter plus a number"),
        (homed(write="y[0]", domain="0:1"), "0 is no parameter plus a number"),
        (homed(domain="N - 1:-1:-1"), "does not count upwards"),
        (homed(write="y[i - 1]", domain="1:N"), "iterations would be before the first block"),
        (f"map j = 0:2 {{ {homed()} }}", "it is inside of another map"),
        ('map i = 0:N { callback (v <- x[i]) -> (r -> y[i]) {function = "m:f", call = "v", returns = "r"} }', "effect"),
    ],
)
def test_maps_without_a_home(body, reason):
    expect(DistributeMap(), on=program(body)).is_refused(reason)


def test_ranges_of_dealt_blocks_count_one_by_one():
    sdfg = program(homed(domain="0:N:2"), y=" on g(cyclic 0)")
    expect(DistributeMap(), on=sdfg).is_refused("does not count one by one, and blocks are dealt out")


# -- insert-communication --------------------------------------------------------------------------------------------


def served(body, y=f" on g(block 0 by {BY})"):
    """What is declared and copied around the node of a body."""
    sdfg = program(body, y)
    text = after(sdfg, InsertCommunication())
    assert after(parse_sdfg(text), InsertCommunication()) == text  # what is there is there
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line.startswith(("data ", "copy ", "map ", "tasklet"))]


def test_what_is_there_is_not_sent():
    assert served(homed(f"home g(block 0 by {BY})"))[0].startswith("map i")


def test_neighbours_come_with_a_halo():
    home = f"home g(block 0 by {BY} offset 1)"
    body = f"map i = 0:N - 2 {home} {{ tasklet (v <- x[i], w <- x[i + 2]) -> (o -> y[i + 1]) {{ o = v + w }} }}"
    assert served(body)[:2] == [
        f"data x_part: f64[N] transient on g(block 0 by {BY}) halo (1:1)",
        "copy x[0:N] -> x_part[0:N]",
    ]


@pytest.mark.parametrize(
    ("read", "data", "sent"),
    [
        ("x[N - 1 - i]", "f64[N] transient", "copy x[0:N] -> x_part[0:N]"),
        ("x[0]", "f64[1] transient", "copy x[0:1] -> x_part[0:1]"),
        ("x[N - 1]", "f64[1] transient", "copy x[N - 1:N] -> x_part[0:1]"),
    ],
)
def test_what_follows_no_parameter_is_sent_as_far_as_it_is_needed(read, data, sent):
    assert served(homed(f"home g(block 0 by {BY})", read=read))[:2] == [f"data x_part: {data}", sent]


def test_results_go_where_they_live():
    lines = served(homed(f"home g(block 0 by {BY})"), y="")
    assert lines[0] == f"data y_part: f64[N] transient on g(block 0 by {BY})"
    assert lines[-1] == "copy y_part[0:N] -> y[0:N]"
    assert served(homed(f"home g(block 0 by {BY})", domain="1:N - 1"), y="")[-1] == "copy y_part[1:N - 1] -> y[1:N - 1]"


def test_what_may_not_be_written_is_fetched_first():
    body = f"map i = 0:N home g(block 0 by {BY}) {{ if k[i] > 0 {{ tasklet () -> (o -> y[i]) {{ o = 1.0 }} }} }}"
    lines = served(body, y="")
    assert "copy y[0:N] -> y_part[0:N]" in lines
    assert "copy y_part[0:N] -> y[0:N]" in lines[-2:]


def test_sums_over_ranks_are_combined():
    lines = served(homed(f"home g(block 0 by {BY})", write="y[0] (add)"), y="")
    assert lines[0] == "data y_part: f64[N] transient on g(whole) partial 0 add"
    assert lines[-1] == "copy y_part[0:N] -> y[0:N] (add)"


def test_a_map_whose_results_cannot_be_placed_runs_everywhere():
    body = f"map i = 0:N home g(block 0 by {BY}) {{ let q = wrap(k[i], N, 0) tasklet () -> (o -> y[q]) {{ o = 1.0 }} }}"
    sdfg = program(body)
    assert "home" not in after(sdfg, InsertCommunication())


# -- localize --------------------------------------------------------------------------------------------------------


def test_the_program_of_one_rank():
    sdfg = parse_sdfg("""
      sdfg @f(x: f64[N] on g(block 0 by b), y: f64[N] on g(block 0 by b), z: f64[N])
        symbols(N: size, b: size, P: size) grids(g[P]) {
        map i = 0:N home g(block 0 by b) { tasklet (v <- x[i]) -> (o -> y[i]) { o = 2.0 * v } }
        copy y[0:N] -> z[0:N]
      }""")
    assert_same_text(print_sdfg(localized(sdfg)), """\
sdfg @f(x: f64[max(0, min(N, b*g_c0 + b) - max(0, b*g_c0))], \
y: f64[max(0, min(N, b*g_c0 + b) - max(0, b*g_c0))], z: f64[N]) \
symbols(N: size, b: size, P: size, g_c0: i64) grids(g[P]) {
  state {
    map i = max(0, b*g_c0):min(N, b*g_c0 + b) {
      tasklet (v <- x[i - max(0, b*g_c0)]) -> (o -> y[i - max(0, b*g_c0)]) { o = 2.0 * v }
    }
    comm.copy (src <- y[0:max(0, min(N, b*g_c0 + b) - max(0, b*g_c0))]) -> (dst -> z[0:N]) \
{source = [N] at [0:N] on g(block 0 by b), target = [N] at [0:N]}
  }
}""")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (homed(f"home g(block 0 by {BY})", read="x[i + 1]", domain="0:N - 1"), "it reaches 1 elements beyond"),
        (homed(f"home g(block 0 by {BY})", write="k2[i]", read="x[i]").replace(
            "map", "data k2: f64[N] transient map"), "each rank has a copy, and only one writes it"),
        (homed(), "dimension 0 is distributed, and i is not known to be there"),
        ("reduce (x <- x[0:N]) -> (out -> y[0]) {axes = (0,)}", "x[0:N] of a reduce is not on the rank"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(body, message):
    sdfg = program(body)
    text = print_sdfg(sdfg)
    with pytest.raises(TransformationRefused) as caught:
        after(sdfg, Localize())
    assert message in str(caught.value)
    assert print_sdfg(sdfg) == text  # nothing was done


def test_users_say_where_arrays_live():
    sdfg = dcpy.parse("sdfg @f(x: f64[N], y: f64[N]) { map i = 0:N { tasklet (v <- x[i]) -> (o -> y[i]) { o = v } } }")
    sdfg.distribute({"x": "g(block 0)", "y": "g(block 0)"}, {"g": ["P"]})
    assert "home g(block 0 by" in str(sdfg)
    assert str(sdfg.erased()).startswith("sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {")
    with pytest.raises(dcpy.InvalidSdfg, match="it has a comm"):
        dcpy.parse("sdfg @f() grids(g[2]) { comm.barrier () }").erased()
    assert "g_c0" in str(sdfg.localize())


@pytest.mark.parametrize(
    ("plan", "grids", "message"),
    [
        ({"x": "g(block 0)"}, {}, "'x' is on the grid 'g', which does not exist"),
        ({"x": "g(block 0, whole)"}, {"g": ["P"]}, "'x' has 1 dimensions, its distribution has 2"),
        ({"x": "g(block 0) twice"}, {"g": ["P"]}, "unexpected"),
        ({"a": "g(block 0)"}, {"g": ["P"]}, "'a' is a scalar: only arrays are distributed"),
        ({"x": "x(block 0)"}, {"x": ["P"]}, "no grid can be called so"),
    ],
)
def test_plans_that_do_not_fit(plan, grids, message):
    sdfg = dcpy.parse("sdfg @f(x: f64[N], a: f64) { copy x[0:N] -> x[0:N] }")
    text = str(sdfg)
    with pytest.raises(dcpy.DcpyError) as caught:
        sdfg.distribute(plan, grids)
    assert message in str(caught.value)
    assert str(sdfg) == text


def test_blocks_that_do_not_hold_all_elements_are_found_when_it_runs():
    sdfg = parse_sdfg("sdfg @f(x: f64[N] on g(block 0 by 2), y: f64[N]) symbols(N: size, P: size) grids(g[P]) "
                      "{ copy x[0:N] -> y[0:N] }")  # fmt: skip
    local = localized(sdfg)
    given = [{"x": np.zeros(2), "y": np.zeros(5)} for _ in range(2)]
    with pytest.raises(CommunicationError, match="2 blocks of 2 elements do not hold 5 elements"):
        run_ranks(local, given, {"N": 5})


def test_operands_of_one_array_take_different_parts():
    sdfg = parse_sdfg("""sdfg @f(A: f64[N, K], C: f64[N, N]) {
      blas.gemm (a <- A[0:N, 0:K], b <- A[0:N, 0:K]) -> (c -> C[0:N, 0:N]) {trans_b = true} }""")
    made = distributed(sdfg, {"C": "g(whole, block 0)"}, {"g": ["P"]})
    arguments = {"A": np.arange(21.0).reshape(7, 3), "C": np.zeros((7, 7))}
    for ranks in (1, 3):
        check(sdfg, made, arguments, {"N": 7, "K": 3, "P": ranks}, ranks)

"""Passes use what is assumed of symbols: each declines, or keeps a remainder, without it, and is exact with it."""

from __future__ import annotations

import pytest

from dcpy import driver
from dcpy.base.options import Options
from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.machine_model import COSTS
from dcpy.ir.nodes import Map
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_once
from dcpy.transforms.fusion.stencil_tiling import StencilTiling
from dcpy.transforms.loops.loop_interchange import LoopInterchange
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.loops.loop_unroll import LoopUnroll
from dcpy.transforms.loops.strip_mining import StripMining
from dcpy.transforms.loops.time_tiling import TimeTiling
from dcpy.transforms.loops.unroll_and_jam import UnrollAndJam
from dcpy.transforms.maps.map_expansion import MapExpansion
from dcpy.transforms.maps.map_tiling import MapTiling
from dcpy.transforms.maps.vectorization import Vectorization
from dcpy.transforms.simplify.control_flow.dead_branch_elimination import DeadBranchElimination
from dcpy.transforms.simplify.control_flow.dead_state_elimination import DeadStateElimination
from dcpy.transforms.simplify.control_flow.trivial_loop_elimination import TrivialLoopElimination
from dcpy.transforms.simplify.control_flow.trivial_map_elimination import TrivialMapElimination
from tests.support.expect import expect, parse

PLAIN = "N: size, M: size, k: i64"


def program(body: str, symbols: str = PLAIN) -> str:
    return f"sdfg @f(A: f64[N, M], B: f64[N], k) symbols({symbols}) {{ {body} }}"


def known(**assumed: str) -> str:
    """The symbols, with what is assumed of them."""
    return ", ".join(f"{one}{{{assumed[one[0]]}}}" if one[0] in assumed else one for one in PLAIN.split(", "))


EIGHTS = known(N="multiple_of = 8", M="multiple_of = 4")


FILL = "map i = 0:N { tasklet () -> (o -> B[i]) { o = 1.0 } }"
TILED = "map i_tile = 0:N:8 { map i = i_tile:END { tasklet () -> (o -> B[i]) { o = 1.0 } } }"


def test_tiles_that_divide_need_no_remainder():
    cut_off, exact = TILED.replace("END", "min(i_tile + 8, N)"), TILED.replace("END", "i_tile + 8")
    expect(MapTiling((8,)), on=parse(program(FILL))).becomes(program(cut_off))
    expect(MapTiling((16,)), on=parse(program(FILL, EIGHTS))).becomes(
        program(cut_off.replace("8", "16"), EIGHTS)
    )  # a multiple of 8 need not be one of 16
    expect(MapTiling((8,)), on=parse(program(FILL, EIGHTS))).becomes(program(exact, EIGHTS)).same_values(
        N=[0, 8, 16], M=[0], k=[0]
    )


def test_vectors_that_divide_need_no_remainder():
    """Strip-mining by the width leaves vectors that are always full."""
    split = "map i_tile = 0:N:4, i = i_tile:i_tile + 4 { tasklet () -> (o -> B[i]) { o = 1.0 } }"
    expect(StripMining(size=4), on=parse(program(FILL, EIGHTS))).becomes(program(split, EIGHTS))
    sdfg = parse(program(FILL, EIGHTS))
    apply_once(sdfg, StripMining(size=4), check=True)
    apply_once(sdfg, MapExpansion(), check=True)
    inner = next(node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and node.params == ("i",))
    apply_once(sdfg, Vectorization(width=4), check=True, map=inner)
    assert "map i = i_tile:i_tile + 4 @vector{width = 4}" in print_sdfg(sdfg)


LOOP = "loop i = 0:N { state { tasklet (b <- B[i]) -> (o -> A[i, 0]) { o = b } } }"


def after(transformation, body, symbols=PLAIN):
    sdfg = parse(program(body, symbols))
    apply_once(sdfg, transformation, check=True)
    return print_sdfg(sdfg)


def test_unrolled_loops_have_no_rest():
    assert after(LoopUnroll(factor=2), LOOP).count("loop ") == 2
    assert after(LoopUnroll(factor=4), LOOP, known(N="multiple_of = 2")).count("loop ") == 2
    assert after(LoopUnroll(factor=2), LOOP, known(N="multiple_of = 2")).count("loop ") == 1


def test_unroll_and_jam_has_no_rest():
    body = "loop i = 0:N { loop j = 0:M { state { tasklet () -> (o -> A[i, j]) { o = 1.0 } } } }"
    assert after(UnrollAndJam(factor=2), body).count("loop ") == 4
    assert after(UnrollAndJam(factor=2), body, EIGHTS).count("loop ") == 2


# -- dependences -------------------------------------------------------------------------------------------------------

SHIFTED = "loop i = 0:8 { state { tasklet (b <- B[i]) -> (o -> B[i + k]) { o = b } } }"


def test_a_range_shows_that_iterations_are_apart():
    """What is written is at least 8 further on, or before, where that is assumed."""
    symbols = known(N="least = 100", k="least = 8, most = 90")
    expect(LoopToMap(), on=parse(program(SHIFTED))).is_refused("B")
    expect(LoopToMap(), on=parse(program(SHIFTED, known(N="least = 100", k="least = 7, most = 90")))).is_refused("B")
    expect(LoopToMap(), on=parse(program(SHIFTED, symbols))).becomes(
        program("state { map i = 0:8 { tasklet (b <- B[i]) -> (o -> B[i + k]) { o = b } } }", symbols)
    ).same_values(N=[100], M=[0], k=[8, 13, 90])


STRIDED = "loop i = 0:N:8 { state { tasklet (b <- B[i + k]) -> (o -> B[i + 1]) { o = b } } }"


def test_a_multiple_shows_that_iterations_are_apart():
    """Places that 8 divides are never one beside such a place."""
    symbols = known(N="least = 2", k="least = 0, multiple_of = 8")
    expect(LoopToMap(), on=parse(program(STRIDED, known(N="least = 2", k="least = 0")))).is_refused("B")
    expect(LoopToMap(), on=parse(program(STRIDED, symbols))).becomes(
        program("state { map i = 0:N:8 { tasklet (b <- B[i + k]) -> (o -> B[i + 1]) { o = b } } }", symbols)
    )


def test_distance_vectors_know_ranges():
    body = """loop i = 1:N { loop j = 0:M { state {
        tasklet (a <- A[i - 1, j + 1 - k]) -> (o -> A[i, j]) { o = a } } } }"""
    expect(LoopInterchange(), on=parse(program(body))).is_refused("distance")
    expect(LoopInterchange(), on=parse(program(body, known(k="least = 0")))).is_refused("distance")
    symbols = known(k="least = 1")
    swapped = """loop j = 0:M { loop i = 1:N { state {
        tasklet (a <- A[i - 1, j + 1 - k]) -> (o -> A[i, j]) { o = a } } } }"""
    expect(LoopInterchange(), on=parse(program(body, symbols))).becomes(program(swapped, symbols))


# -- conditions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "symbols"),
    [
        ("N > 0", known(N="least = 1")),
        ("N % 8 == 0", EIGHTS),
        ("N % 4 != 1", EIGHTS),
        ("N >= 8", known(N="least = 1, multiple_of = 8")),
        ("N == 5", known(N="least = 5, most = 5")),
        ("k < 0", known(k="most = -1")),
    ],
)
def test_dead_branches_go(condition, symbols):
    body = f"if {condition} {{ state {{ tasklet () -> (o -> B[0]) {{ o = 1.0 }} }} }}"
    expect(DeadBranchElimination(), on=parse(program(body))).is_refused("no condition has an answer")
    taken = program("state { tasklet () -> (o -> B[0]) { o = 1.0 } }", symbols)
    expect(DeadBranchElimination(), on=parse(program(body, symbols))).becomes(taken)


@pytest.mark.parametrize(("condition", "symbols"), [("N >= 4", known(N="least = 4")), ("N % 8 == 0", EIGHTS)])
def test_checks_that_hold_go(condition, symbols):
    body = f'check {condition} else ValueError "no" state {{ tasklet () -> (o -> B[0]) {{ o = 1.0 }} }}'
    assert "check" in print_sdfg(expect(DeadStateElimination(), on=parse(program(body))).after)
    expect(DeadStateElimination(), on=parse(program(body, symbols))).becomes(
        program("state { tasklet () -> (o -> B[0]) { o = 1.0 } }", symbols)
    )


def test_loops_and_maps_of_one_iteration_go():
    symbols = known(N="least = 1, most = 8, multiple_of = 8")
    loop = "loop i = 0:N:8 { state { tasklet () -> (o -> B[i]) { o = 1.0 } } }"
    expect(TrivialLoopElimination(), on=parse(program(loop))).is_refused("")
    expect(TrivialLoopElimination(), on=parse(program(loop, symbols))).becomes(
        program("state { tasklet () -> (o -> B[0]) { o = 1.0 } }", symbols)
    )
    mapped = "map i = 0:N:8 { tasklet () -> (o -> B[i]) { o = 1.0 } }"
    expect(TrivialMapElimination(), on=parse(program(mapped, symbols))).becomes(
        program("tasklet () -> (o -> B[0]) { o = 1.0 }", symbols)
    )


# -- costs -------------------------------------------------------------------------------------------------------------

WORK = "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> A[i, j]) { o = exp(a) } }"


def lowered(body, symbols):
    graph, report = driver.lower(parse(program(body, symbols)), Options(), explain=True)
    return print_sdfg(graph), "\n".join(map(str, report.remarks or []))


def test_a_typical_value_says_whether_threads_pay():
    assert "@parallel" in lowered(WORK, PLAIN)[0]
    assert "@parallel" in lowered(WORK, known(N="typical = 1000"))[0]  # of M nothing is said
    text, remarks = lowered(WORK, known(N="typical = 100", M="typical = 100"))
    assert "@parallel" not in text
    assert "no threads: about 140000 units of work where M = 100, N = 100, which is typical, do not pay" in remarks
    text, _ = lowered(WORK, known(N="typical = 1000", M="typical = 100"))
    assert "@parallel{above" in text  # a small one still runs alone


def test_a_range_says_that_threads_never_pay():
    text, remarks = lowered(WORK, known(N="most = 100", M="most = 100"))
    assert "@parallel" not in text
    assert "no threads: at most 300000 units of work, for all sizes: too few to pay for starting threads" in remarks
    assert "@parallel" in lowered(WORK, known(N="most = 100"))[0]


OUTER = """map i = 0:N, j = 0:M {
    tasklet (a <- B[i], b <- B[i], c <- A[0, j]) -> (o -> A[i, j]) { o = a*b + c } }"""


@pytest.mark.parametrize("short", ["typical = 4", "most = 4"])
def test_vectors_run_along_what_is_long(short):
    assert "map j = 0:M @vector" in lowered(OUTER, PLAIN)[0]
    text, remarks = lowered(OUTER, known(M=short))
    assert "map i = 0:N @vector" in text
    assert ("no vectors along j: about 4 values where M = 4, which is typical" in remarks) == ("typical" in short)


def test_the_longer_one_of_two_inner_maps_counts_as_the_work():
    body = """map i = 0:10 {
        map a = 0:N { tasklet () -> (o -> B[a]) { o = 1.0 } }
        map b = 0:M { tasklet () -> (o -> A[0, b]) { o = 1.0 } } }"""
    for short, long in (("N", "M"), ("M", "N")):
        sdfg = parse(program(body, known(**{short: "typical = 2", long: "typical = 2000"})))
        node = next(sdfg.body.walk_nodes())
        assert [str(factor) for factor in work_of(node, sdfg, COSTS)[0]] == ["10", long]


# -- tiles with halos --------------------------------------------------------------------------------------------------


def test_stencils_in_tiles_that_divide():
    head = "sdfg @f(A: f64[N + 2], B: f64[N]) symbols(N: size{multiple_of = 4})"
    sdfg = parse(f"""{head} {{ data t: f64[N + 2] transient state {{
        map i = 0:N + 2 {{ tasklet (a <- A[i]) -> (o -> t[i]) {{ o = a*a }} }}
        map j = 0:N {{ tasklet (l <- t[j], r <- t[j + 2]) -> (o -> B[j]) {{ o = l - r }} }} }} }}""")
    tiled = expect(StencilTiling(size=4), on=sdfg).becomes(f"""{head} {{ state {{
        map j_tile = 0:N:4 {{ data t_tile: f64[6] transient
            map i_1 = j_tile:j_tile + 6 {{ tasklet (a <- A[i_1]) -> (o -> t_tile[i_1 - j_tile]) {{ o = a*a }} }}
            map j = j_tile:j_tile + 4 {{
                tasklet (l <- t_tile[j - j_tile], r <- t_tile[j - j_tile + 2]) -> (o -> B[j]) {{ o = l - r }}
        }} }} }} }}""")
    tiled.same_values(N=[0, 4, 8, 20])


def test_steps_in_bands_that_divide():
    head = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size{multiple_of = 4}, T: size{multiple_of = 3})"
    sdfg = parse(f"""{head} {{ loop t = 0:T {{ state {{
        map i = 1:N - 1 {{ tasklet (l <- A[i - 1], r <- A[i + 1]) -> (o -> B[i]) {{ o = 0.5*(l + r) }} }}
        map j = 1:N - 1 {{ tasklet (b <- B[j]) -> (o -> A[j]) {{ o = b }} }} }} }} }}""")
    tiled = expect(TimeTiling(steps=3, sizes=(4,)), on=sdfg)
    apply_once(tiled.after, TimeTiling(steps=3, sizes=(4,)), check=True)
    assert "min(3," not in print_sdfg(tiled.after)
    tiled.same_values(N=[4, 8, 16], T=[0, 3, 6])

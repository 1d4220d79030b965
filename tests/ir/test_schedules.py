"""Schedules as values: their text, JSON, equality, and what is refused."""

import pytest

from dcpy.base.errors import ParseError
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.schedules import PARALLEL, SCHEDULES, SEQUENTIAL, UNDECIDED, Parallel, Recorded, Unrolled, Vector
from dcpy.ir.text import parse_sdfg, print_sdfg

SCHEDULED = (
    "@sequential", "@parallel", "@parallel{chunk = 64}", "@vector", "@vector{width = 4}", "@unrolled",
    "@unrolled{factor = 2}", "@grid", "@block", "@warp", "@recorded{width = 32, graphs = one}", "@pipelined",
    "@pipelined{ii = 2, style = frp}", "",
)  # fmt: skip


def mapped(schedule):
    return parse_sdfg(f"sdfg @f(A: f64[8]) {{ map i = 0:8 {schedule} {{ copy A[i] -> A[i] }} }}")


def schedule_in(sdfg):
    return next(iter(sdfg.body.walk_nodes())).schedule


@pytest.mark.parametrize("text", SCHEDULED)
def test_text_and_json_keep_them(text):
    sdfg = mapped(text)
    schedule = schedule_in(sdfg)
    assert str(schedule) == text
    assert schedule_in(parse_sdfg(print_sdfg(sdfg))) == schedule
    assert schedule_in(from_json(to_json(sdfg))) == schedule


@pytest.mark.parametrize("schedule", [Unrolled(4), Recorded(32), Recorded(8, "one")])
def test_loops_have_schedules_that_keep_their_order(schedule):
    sdfg = parse_sdfg(f"sdfg @f(A: f64[9]) {{ loop i = 0:8 {schedule} {{ copy A[i] -> A[i + 1] }} }}")
    (loop,) = sdfg.body.blocks
    assert loop.schedule == schedule
    again = parse_sdfg(print_sdfg(sdfg))
    assert again.body.blocks[0].schedule == schedule
    assert from_json(to_json(sdfg)).body.blocks[0].schedule == schedule
    assert parse_sdfg("sdfg @f() { loop i = 0:8 { } }").body.blocks[0].schedule == SEQUENTIAL


def test_they_are_values():
    assert Parallel() == PARALLEL
    assert Parallel(64) != PARALLEL
    assert Vector(4) != Unrolled(4)
    assert len({Parallel(), Parallel(0), Parallel(8), UNDECIDED, SEQUENTIAL}) == 4
    assert {kind.word for kind in SCHEDULES.values()} == set(SCHEDULES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@simd", "no schedule is called 'simd'"),
        ("@vector{width = wide}", "expected a number"),
        ("@pipelined{style = fast}", "no style is called 'fast'"),
        ("@pipelined{ii = stp}", "expected a number"),
        ("@parallel{chunk = 8, team = 2}", "@parallel has no parameter 'team'"),
    ],
)
def test_others_are_refused(text, message):
    with pytest.raises(ParseError, match=message):
        mapped(text)

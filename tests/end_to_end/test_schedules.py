"""Schedules by hand, as in docs/how-to/schedules.md: values, replay from the printed history, handles."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import Map
from dcpy.ir.text import print_sdfg
from dcpy.transforms.history import replay
from examples import schedules

PROGRAMS = {
    "product": (schedules.product, schedules.schedule_product, schedules.initialize_product, {"rows": 3, "terms": 5}),
    "relaxation": (
        schedules.relaxation,
        schedules.schedule_relaxation,
        schedules.initialize_relaxation,
        {"steps": 3, "rows": 2},
    ),
    "jacobi_2d": (
        schedules.jacobi_2d,
        schedules.schedule_jacobi_2d,
        schedules.initialize_jacobi_2d,
        {"steps": 3, "rows": 2},
    ),
    "jacobi_2d, overlapped": (
        schedules.jacobi_2d,
        schedules.schedule_jacobi_2d_overlapped,
        schedules.initialize_jacobi_2d,
        {"steps": 2, "rows": 3, "columns": 4},
    ),
}


def fresh(program):
    return dcpy.parse(print_sdfg(program.to_sdfg()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_schedule_of_twelve_steps_is_interpreted_to_the_same_bits(name):
    program, schedule, initialize, tiles = PROGRAMS[name]
    plain, scheduled = fresh(program), schedule(fresh(program), **tiles)
    assert len(scheduled.history) >= 12
    scheduled.validate()
    for size in (1, 2, 4, 7):
        given = initialize(size) if name == "product" else initialize(size, steps=5)
        expected, found = ({key: np.array(value) for key, value in given.items()} for _ in range(2))
        plain.interpret(**expected)
        scheduled.interpret(**found)
        for key, value in expected.items():
            np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_schedule_is_replayed_from_its_printed_history(name):
    program, schedule, _, tiles = PROGRAMS[name]
    scheduled = schedule(fresh(program), **tiles)
    printed = json.dumps(scheduled.history)
    assert print_sdfg(replay(fresh(program), json.loads(printed))) == print_sdfg(scheduled)


@pytest.mark.cc
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_schedule_computes_what_numpy_does(name):
    _, schedule, initialize, _ = PROGRAMS[name]
    program = PROGRAMS[name][0]
    compiled = schedule(fresh(program)).compile()
    given = initialize(70)
    mine = copy.deepcopy(given)
    compiled(**mine)
    if name == "product":
        np.testing.assert_allclose(mine["C"], given["C"] + given["A"] @ given["B"], rtol=1e-12)
        return
    program.function(**given)  # the very function, in Python
    np.testing.assert_array_equal(mine["A"], given["A"])


def test_handles_survive():
    sdfg = fresh(schedules.relaxation)
    t = sdfg.scope("t")
    first, last = sdfg.maps()["i0"], sdfg.maps()["i0_4"]
    for _ in range(4):
        sdfg.apply("map-fusion")
    outer, inner = sdfg.transform("map-to-for-loop", map=last)
    assert sdfg.current(first) is sdfg.current(last) is outer
    assert sdfg.scope("t") is t
    sdfg.apply("loop-skewing", loop=first)  # fused, and then made a loop
    sdfg.apply("strip-mining", scope=t, size=4)
    sdfg.apply("loop-interchange", loop=t)
    assert (sdfg.scope(outer.param), sdfg.scope(inner.param)) == (outer, inner)
    sdfg.apply("loop-to-map", loop=inner)
    assert isinstance(sdfg.current(inner), Map)
    sdfg.apply("vectorization", map=inner)
    with pytest.raises(dcpy.InvalidSdfg, match="has no map or loop over 'x'"):
        sdfg.scope("x")


def test_what_could_go_on_for_ever_is_not_applied_everywhere():
    with pytest.raises(dcpy.TransformationRefused, match="again and again"):
        fresh(schedules.product).apply_repeated("strip-mining")

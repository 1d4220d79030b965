"""Targets: found by name or device, refuse what they do not know, and list the way to their code."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dcpy
from dcpy import driver
from dcpy.base.errors import CodegenError, ParseError
from dcpy.base.options import Options
from dcpy.ir.data import Allocation
from dcpy.ir.machine_model import Costs, Limits, OperationCosts, entries
from dcpy.ir.schedules import Sequential
from dcpy.ir.text import print_sdfg
from dcpy.targets import catalog
from dcpy.targets.catalog import TARGETS, UnsupportedDevice, target_for
from dcpy.targets.cpu.target import CPU
from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS
from dcpy.transforms.history import replay
from tests.support.expect import parse


def test_a_device_has_a_target():
    assert target_for(dcpy.DeviceType.CPU) is TARGETS["cpu"] is CPU


def test_a_device_without_one_is_refused(monkeypatch):
    monkeypatch.setattr(catalog, "TARGETS", {})
    with pytest.raises(UnsupportedDevice, match="not for fpga"):
        target_for(dcpy.DeviceType.FPGA)


def test_fpgas_have_a_target():
    assert target_for(dcpy.DeviceType.FPGA).name == "fpga"


def test_every_step_of_the_pipeline_is_in_a_catalog():
    names = [step.name for step in CPU.passes(Options()).parts()]
    assert [name for name in names if name not in PASSES and name not in TRANSFORMATIONS] == []


SCHEDULED = """
    sdfg @f(A: f64[N]) symbols(N: size) {
      data t: f64[4] transient @stack
      state { map i = 0:N @parallel { tasklet () -> (o -> A[i]) { o = 1.0 } } }
    }"""


def test_what_a_target_does_not_know_is_refused():
    sdfg = parse(SCHEDULED)
    CPU.require_printable(sdfg)
    with pytest.raises(CodegenError, match="the target 'one' has no schedule @parallel") as refusal:
        replace(CPU, name="one", schedules=(Sequential,)).require_printable(sdfg)
    assert "it has @sequential" in str(refusal.value)
    with pytest.raises(CodegenError, match="has no allocation @stack, which 't' has"):
        replace(CPU, name="one", allocations=(Allocation.HEAP,)).require_printable(sdfg)


@pytest.mark.parametrize("space", ["@pinned", "@global", "@shared"])
def test_memory_of_a_device_is_not_for_cpus(space):
    sdfg = parse(SCHEDULED.replace("A: f64[N]", f"A: f64[N] {space}"))
    with pytest.raises(CodegenError, match=f"the target 'cpu' has no memory {space}, which 'A' is in"):
        CPU.require_printable(sdfg)


@pytest.mark.parametrize("schedule", ["@grid", "@block", "@warp"])
def test_schedules_of_a_device_are_not_for_cpus(schedule):
    with pytest.raises(CodegenError, match=f"the target 'cpu' has no schedule {schedule}"):
        CPU.require_printable(parse(SCHEDULED.replace("@parallel", schedule)))


# -- the numbers that passes decide by ---------------------------------------------------------------------------------


def lowered(text, costs=None, limits=None):
    target = replace(CPU, name="other", costs=costs or CPU.costs, limits=limits or CPU.limits)
    return print_sdfg(driver.lower(parse(text), Options(), target=target)[0])


SMALL = """
    sdfg @f(A: f64[1000], B: f64[1000]) {
      state { map i = 0:1000 { tasklet (a <- A[i]) -> (o -> B[i]) { o = exp(a) } } }
    }"""


def test_where_a_team_costs_nothing_all_maps_have_one():
    assert "map i = 0:1000 @vector" in lowered(SMALL)
    assert "map i = 0:1000 @parallel{width = 0}" in lowered(SMALL, Costs(threads_pay_above=0))


def test_an_operation_that_costs_more_pays_for_a_team():
    costs = Costs(operations=OperationCosts(exp=1000))
    assert f"@parallel{{above = {300_000 // 1004}, width = 0}}" in lowered(SMALL, costs)


OUTER = """
    sdfg @f(x: f64[N], y: f64[N], u: f64[6], v: f64[6], B: f64[N, 6]) symbols(N: size) {
      state { map i = 0:N, j = 0:6 {
        tasklet (a <- x[i], b <- y[i], c <- u[j], d <- v[j]) -> (o -> B[i, j]) { o = a*c + b*d } } }
    }"""


def test_lanes_say_which_axis_is_long_enough_for_vectors():
    assert "map i = 0:N @vector" in lowered(OUTER)
    assert "map j = 0:6 @vector" in lowered(OUTER, Costs(lanes=4))


COLUMNS = """
    sdfg @f(A: f64[N, M], s: f64[M]) symbols(N: size, M: size) {
      state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> s[j] (add)) { o = a } } }
    }"""


def test_tiles_for_threads():
    assert "= 0:M:256 @parallel" in lowered(COLUMNS)
    assert "= 0:M:64 @parallel" in lowered(COLUMNS, Costs(tile=64))


ROWS = """
    sdfg @f(A: f64[N, 100], s: f64[N]) symbols(N: size) {
      state { map i = 0:N {
        data acc: f64 transient
        state { tasklet () -> (o -> acc) { o = 0.0 } }
        state { map k = 0:100 { tasklet (a <- A[i, k]) -> (o -> acc (add)) { o = a } } }
        state { tasklet (a <- acc) -> (o -> s[i]) { o = a } }
      } }
    }"""


def test_partial_sums():
    assert ":16" not in lowered(ROWS)
    assert "0:100:16" in lowered(ROWS, Costs(partial_sum=16))


STENCIL = """
    sdfg @f(A: f64[N + 3], w: f64[3], B: f64[N]) symbols(N: size) {
      state { map i = 0:N, k = 0:3 {
        tasklet (a <- A[i + k], x <- w[k]) -> (o -> B[i] (add)) { o = a * x } } }
    }"""


def test_terms_that_are_written_out():
    assert "map k = 0:3 @unrolled" in lowered(STENCIL)
    assert "@unrolled" not in lowered(STENCIL, Costs(unrolled_terms=2))


STACK = """
    sdfg @f(A: f64[4]) {
      data t: f64[4] transient
      state { copy A[0:4] -> t[0:4] }
      state { copy t[0:4] -> A[0:4] }
    }"""


def test_what_fits_on_the_stack():
    assert "data t: f64[4] transient @stack" in lowered(STACK)
    assert "data t: f64[4] transient @heap" in lowered(STACK, limits=Limits(stack_bytes=31))
    assert "data t: f64[4] transient @heap" in lowered(STACK, limits=Limits(all_stack_bytes=31))


def test_the_history_has_the_numbers_that_differ():
    costs = replace(CPU.costs, lanes=4, operations=replace(CPU.costs.operations, exp=30))
    graph, _ = driver.lower(parse(SMALL), Options(), target=replace(CPU, costs=costs))
    assert graph.history[-1] == "assign-schedules{costs.lanes=4 costs.operations.exp=30}"
    assert print_sdfg(replay(parse(SMALL), graph.history)) == print_sdfg(graph)
    with pytest.raises(ParseError, match=r"has no parameter 'costs[.]wings'"):
        replay(parse(SMALL), ["assign-schedules{costs.wings=4}"])


def test_all_numbers_have_names():
    names = [name for name, _ in entries(Costs())]
    assert names[:2] == ["threads_pay_above", "lanes"]
    assert "operations.exp" in names

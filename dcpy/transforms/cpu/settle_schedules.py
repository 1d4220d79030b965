"""The parameters of schedules, once all maps have one: when a team pays, what it divides, and where vectors fit.

They stand in the schedules, so code generation has nothing to decide.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.analysis.lanes import why_no_lanes
from dcpy.ir.analysis.work import work_of
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine import Costs
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import SEQUENTIAL, Parallel, Vector


def settle_schedules(rw: Rewriter, *, checks: bool, costs: Costs) -> None:
    """Settles the schedules of all maps, outer ones first.

    before   map i = 0:N @parallel { ... }        after   map i = 0:N @parallel{above = 10000, width = 0} { ... }
             map j = 0:M @vector { loop ... }             map j = 0:M @sequential { loop ... }
    """
    for node in list(rw.sdfg.body.walk_nodes()):
        if isinstance(node, Map) and isinstance(node.schedule, Parallel | Vector):
            _settle(node, rw, checks, costs)


def _settle(node: Map, rw: Rewriter, checks: bool, costs: Costs) -> None:
    if isinstance(node.schedule, Vector):
        refusal = why_no_lanes(node, rw.uses, checks=checks)
        if refusal is not None:
            rw.remark(node, False, f"no vectors: {refusal}")
            rw.update(node, schedule=SEQUENTIAL)
        return
    schedule = node.schedule
    assert isinstance(schedule, Parallel)  # the caller asked
    if not schedule.above:
        schedule = replace(schedule, above=costs.threads_pay_above // work_of(node, rw.sdfg, costs)[1])
    if schedule.width == 1 and not why_no_lanes(node, rw.uses, checks=checks):
        schedule = replace(schedule, width=0)
    if len(node.params) > 1:
        schedule = replace(schedule, collapse=_collapse(node, schedule, rw))
    rw.update(node, schedule=schedule)


def _collapse(node: Map, schedule: Parallel, rw: Rewriter) -> int:
    """How many parameters threads divide: as many as ranges allow, but for the one that vectors take."""
    independent = _independent(node)
    if independent < len(node.params):
        outer = ", ".join(node.params[:independent])
        rw.remark(node, False, f"threads divide {outer} only: the range of {node.params[independent]} depends on it")
    most = min(independent, len(node.params) - (schedule.width != 1))
    return min(schedule.collapse or most, most)


def _independent(node: Map) -> int:
    """How many of the outer parameters have ranges that mention no other."""
    inside = set(node.params)
    independent = [not inside & set(dim.symbols) for dim in node.domain]
    return independent.index(False) if False in independent else len(independent)

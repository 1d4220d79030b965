"""Schedule parameters: thread thresholds, collapsed dimensions and vector widths.

They are stored in the schedules, so code generation decides nothing.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.analysis.costs.nest_time import modelled_units
from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.analysis.parallelism.vectorizability import why_no_lanes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import Costs
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import SEQUENTIAL, Parallel, Vector

MOST_DIVIDED = 8  #: parameters that threads divide unless a schedule says more: clang's memory doubles with each


def settle_schedules(rw: Rewriter, *, checks: bool, costs: Costs) -> None:
    """Set the parameters of all schedules, outer maps first.

    before   map i = 0:N @parallel { ... }        after   map i = 0:N @parallel{above = 10000, width = 0} { ... }
             map j = 0:M @vector { loop ... }             map j = 0:M @sequential { loop ... }
    """
    maps = [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]
    for node in maps:
        if isinstance(node.schedule, Vector):
            _settle_vector(node, rw, checks)
    for node in maps:  # how long they take depends on the vectors inside
        if isinstance(node.schedule, Parallel):
            _settle_team(node, node.schedule, rw, checks, costs)


def _settle_vector(node: Map, rw: Rewriter, checks: bool) -> None:
    refusal = why_no_lanes(node, rw.uses, checks=checks)
    if refusal is not None:
        rw.remark(node, False, f"no vectors: {refusal}")
        rw.update(node, schedule=SEQUENTIAL)


def _settle_team(node: Map, schedule: Parallel, rw: Rewriter, checks: bool, costs: Costs) -> None:
    if schedule.width == 1 and not why_no_lanes(node, rw.uses, checks=checks):
        schedule = replace(schedule, width=0)
    if not schedule.above:
        schedule = replace(schedule, above=costs.threads_pay_above // _units(node, schedule, rw, costs))
    if len(node.params) > 1:
        schedule = replace(schedule, collapse=_collapse(node, schedule, rw))
    rw.update(node, schedule=schedule)


def _units(node: Map, schedule: Parallel, rw: Rewriter, costs: Costs) -> int:
    """The work of an iteration, in units of vector code; without vectors, the time model may give more."""
    units = work_of(node, rw.sdfg, costs)[1]
    inside = (inner.schedule for inner in node.body.walk_nodes() if isinstance(inner, Map))
    if schedule.width != 1 or any(isinstance(each, Vector) for each in inside):
        return units
    return max(units, modelled_units(node, rw.uses, costs))


def _collapse(node: Map, schedule: Parallel, rw: Rewriter) -> int:
    """The number of parameters that threads divide: as ranges allow, within limits, without the vector parameter."""
    independent = _independent(node)
    if independent < len(node.params):
        outer = ", ".join(node.params[:independent])
        rw.remark(node, False, f"threads divide {outer} only: the range of {node.params[independent]} depends on it")
    most = min(independent, len(node.params) - (schedule.width != 1))
    return min(schedule.collapse or MOST_DIVIDED, most)


def _independent(node: Map) -> int:
    """The number of outer parameters whose ranges mention no other parameter."""
    inside = set(node.params)
    independent = [not inside & set(dim.symbols) for dim in node.domain]
    return independent.index(False) if False in independent else len(independent)

"""Check deferral: whether checks may fail on the device, and whether the host waits at the end to know that none did.

A program that returns while its kernels run leaves the failure of a check to a later call (`gpu.errors`), unless the
device reads or writes memory of the host, which is the host's again when the program ends.
"""

from __future__ import annotations

from dcpy.base.option_groups.gpu import Failures
from dcpy.codegen.lir import tree
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.host_synchronization import end, ends, leave_after_failure
from dcpy.codegen.lower.gpu.program_state import FunctionNotes, GpuProgram, program_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import side_of
from dcpy.ir.analysis.gpu.data_validity import lost_by_failing_kernels
from dcpy.ir.expressions.scalar import ScalarExpr, WrapIndex, walk
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import Check
from dcpy.ir.schedules import Grid
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import subtree


def decide_waits(program: GpuProgram, sdfg: Sdfg) -> None:
    """Set what the program knows about checks on the device, and about the wait at the end."""
    program.kernels_may_fail = any(map(_checks_in_kernels, sdfg.with_callees()))
    reaches = any(map(_reaches_host, sdfg.with_callees()))
    program.defers_checks = program.kernels_may_fail and not reaches and program.options.errors is Failures.DEFERRED
    program.host_waits = reaches or (program.kernels_may_fail and not program.defers_checks)


def note_lost_arguments(context: Context) -> None:
    """Note the arguments that the device alone has where a kernel fails."""
    fails = program_of(context.module).kernels_may_fail
    context.device_notes = FunctionNotes(lost_by_failing_kernels(context.uses)) if fails else FunctionNotes()


def around_program(context: Context, body: list[tree.Statement]) -> list[tree.Statement]:
    """Return the program between its beginning, which may raise what failed in an earlier call, and its end.

    At the end the host waits, unless it has just done so or need not.
    """
    with context.capture() as begin:
        if program_of(context.module).defers_checks:
            leave_after_failure(context)
    with context.capture() as finish:
        if not (body and isinstance(body[-1], tree.Return)) and not ends(body):
            end(context)
    return [*begin, *body, *finish]


def _checks_in_kernels(sdfg: Sdfg) -> bool:
    """Return whether a check may fail on the device."""
    grids = (node for node in sdfg.body.walk_nodes() if isinstance(node, Map) and isinstance(node.schedule, Grid))
    inside = (element for grid in grids for element in subtree(grid))
    return any(isinstance(element, Check) or any(map(_wraps, element.exprs())) for element in inside)


def _reaches_host(sdfg: Sdfg) -> bool:
    """Return whether a device reads or writes memory of the host, which is the host's again when the program ends."""
    uses = Uses(sdfg)
    copies = (node for node in sdfg.body.walk_nodes() if isinstance(node, Copy))
    sides = ({side_of(uses.desc(uses.root(end.container))) for end in (copy.src, copy.dst)} for copy in copies)
    return any(len(found) > 1 for found in sides)


def _wraps(expr: ScalarExpr) -> bool:
    return any(isinstance(part, WrapIndex) for part in walk(expr))

"""Frontend form: a program in which no decision has been taken yet."""

from __future__ import annotations

from dcpy.ir.data import Allocation, Array, Scalar
from dcpy.ir.nodes import ForeignCall, Map
from dcpy.ir.schedules import Grid, Parallel, Sequential, ThreadBlock, Undecided
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope


@rule("frontend.schedules", Map)
def schedules_are_open(node: Map, scope: Scope) -> Findings:
    """The frontend decides no schedule, except that the user asked for one."""
    if not isinstance(node.schedule, Undecided | Sequential | Parallel | Grid | ThreadBlock):
        yield f"a map of the frontend has the schedule {node.schedule}"


@rule("frontend.storage", Declaration)
def storages_are_open(subject: Declaration, scope: Scope) -> Findings:
    """The frontend decides no storage."""
    if isinstance(subject.desc, Scalar | Array) and subject.desc.allocation is not Allocation.UNDECIDED:
        yield f"{subject.name!r} of the frontend has the storage {subject.desc.allocation.value!r}"


@rule("frontend.foreign", ForeignCall)
def foreign_calls_come_from_expansions(node: ForeignCall, scope: Scope) -> Findings:
    """The frontend makes library nodes, not foreign calls."""
    yield f"the frontend made a foreign call of {node.function}"

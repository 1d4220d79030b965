"""Opaque handles: memory that holds addresses comes from the caller, and only nodes of its library write it."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.analysis.dataflow.opaque_handles import handle_connectors, handles_of
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import MemletUse, Scope


@rule("memory.handles", MemletUse)
def handles_are_passed_and_kept(use: MemletUse, scope: Scope) -> Findings:
    """A handle, as the struct of a random generator, is an argument, and nothing but what takes handles writes it."""
    *_, container = (use.memlet.container, *shown_by(use.memlet.container, scope.desc))
    if use.connector in handle_connectors(use.node, scope.handles):
        if not _is_passed(container, scope.sdfg):
            yield f"{use.connector!r} of {use.node.kind} holds addresses, and {container!r} is no argument"
    elif use.is_write and container in handles_of(scope.sdfg, scope.handles):
        yield f"{use.node.kind} writes {container!r}, which holds addresses"


def _is_passed(container: str, sdfg: Sdfg) -> bool:
    """Return whether it is the caller's memory."""
    desc = sdfg.containers.get(container)
    made = (*sdfg.constants, *(result.container for result in sdfg.results))
    return desc is not None and not getattr(desc, "transient", False) and container not in made

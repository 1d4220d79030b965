"""What code generation takes: all decisions are taken, and only what a target can print is left."""

from __future__ import annotations

from dcpy.ir.data import Array, Scalar, Storage, Stream
from dcpy.ir.nodes import Consume, LibraryNode, Map
from dcpy.ir.schedules import Undecided
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.scope import Declaration, Scope


@rule("codegen.libraries", LibraryNode)
def library_nodes_are_expanded(node: LibraryNode, scope: Scope) -> Findings:
    """No library node is left."""
    yield f"{node.kind} is not expanded", "sdfg.expand_library_nodes() expands what is left"


@rule("codegen.schedules", Map)
def schedules_are_decided(node: Map, scope: Scope) -> Findings:
    """Every map has a schedule."""
    if isinstance(node.schedule, Undecided):
        yield f"the map over {', '.join(node.params)} has no schedule"


@rule("codegen.storage", Declaration)
def storages_are_decided(subject: Declaration, scope: Scope) -> Findings:
    """Every transient scalar and array has a storage."""
    desc = subject.desc
    if not isinstance(desc, Scalar | Array) or subject.name in scope.sdfg.constants:
        return
    if desc.transient and desc.storage is Storage.DEFAULT:
        yield f"{subject.name!r} has no storage"


@rule("codegen.containers", Declaration)
def containers_can_be_printed(subject: Declaration, scope: Scope) -> Findings:
    """Streams are interpreted, not compiled yet."""
    if isinstance(subject.desc, Stream):
        yield (
            f"{subject.name!r} is a stream, which cannot be compiled yet",
            "use arrays, or interpret the SDFG",
        )


@rule("codegen.consume", Consume)
def consume_scopes_are_interpreted(node: Consume, scope: Scope) -> Findings:
    """Consume scopes are interpreted, not compiled yet."""
    yield f"the stream {node.stream!r} is consumed, which cannot be compiled yet", "use a loop, or interpret the SDFG"

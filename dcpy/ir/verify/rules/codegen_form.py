"""Codegen form: all decisions are taken, and every element is one that a target can print."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.vectorizability import why_no_lanes
from dcpy.ir.data import Allocation, Array, Scalar, Stream
from dcpy.ir.nodes import LibraryNode, Map
from dcpy.ir.schedules import Undecided
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope


@rule("codegen.libraries", LibraryNode)
def library_nodes_are_expanded(node: LibraryNode, scope: Scope) -> Findings:
    """No library node is left."""
    yield f"{node.kind} is not expanded", "sdfg.expand_library_nodes() expands what is left"


@rule("codegen.schedules", Map)
def schedules_are_decided(node: Map, scope: Scope) -> Findings:
    """Every map has a schedule."""
    if isinstance(node.schedule, Undecided):
        yield f"the map over {', '.join(node.params)} has no schedule"


@rule("codegen.vectors", Sdfg)
def vectors_fit(sdfg: Sdfg, scope: Scope) -> Findings:
    """Vector instructions run straight-line code whose iterations do not depend on each other."""
    uses = None
    for node in sdfg.body.walk_nodes():
        if isinstance(node, Map) and getattr(node.schedule, "width", 1) != 1:
            uses = uses or Uses(sdfg)
            if refusal := why_no_lanes(node, uses, checks=False):
                yield f"the map over {', '.join(node.params)} has no room for vectors: {refusal}"


@rule("codegen.storage", Declaration)
def storages_are_decided(subject: Declaration, scope: Scope) -> Findings:
    """Every transient scalar and array has a storage."""
    desc = subject.desc
    if not isinstance(desc, Scalar | Array) or subject.name in scope.sdfg.constants:
        return
    if desc.transient and desc.allocation is Allocation.UNDECIDED:
        yield f"{subject.name!r} has no storage"


@rule("codegen.containers", Declaration)
def streams_are_no_arguments(subject: Declaration, scope: Scope) -> Findings:
    """A compiled program has streams of its own, and takes none as an argument."""
    if isinstance(subject.desc, Stream) and not subject.desc.transient:
        yield f"the argument {subject.name!r} is a stream", "define it in the program, and pass arrays"

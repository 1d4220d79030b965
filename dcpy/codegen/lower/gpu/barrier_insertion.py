"""Insertion of barriers: which memory that threads share a part of a kernel touches, and where threads meet."""

from __future__ import annotations

from dcpy.codegen.lir import tree
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.kernel_context import SharedAccesses
from dcpy.codegen.lower.gpu.program_state import kernel_of
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.data import Array, Scalar, Space
from dcpy.ir.tree import Element, subtree

SHARED = (Space.GLOBAL, Space.SHARED)


def shared_by_threads(context: Context, part: Element, *, inside: bool = True) -> SharedAccesses:
    """Return the accesses of a part to shared memory; `inside`: with all parts in it, else those of the part itself."""
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    for element in subtree(part) if inside else (part,):
        accesses = context.uses.accesses(element)
        for table, names in ((reads, accesses.reads), (writes, accesses.writes)):
            table |= {memory_of(name, context.uses.desc): None for name in names if _is_shared(context, name)}
    return SharedAccesses(frozenset(reads), frozenset(writes))


def _is_shared(context: Context, name: str) -> bool:
    desc = context.uses.desc(context.uses.root(name))
    return isinstance(desc, Array | Scalar) and desc.space in SHARED


def insert_barrier_before(context: Context, part: Element, *, inside: bool = True) -> None:
    """A barrier before a part of a block, where its threads need one."""
    kernel = kernel_of(context)
    assert kernel is not None  # the caller asked
    if kernel.meets_before(shared_by_threads(context, part, inside=inside)) and kernel.geometry.threads != (1, 1, 1):
        context.emit(tree.BlockBarrier())

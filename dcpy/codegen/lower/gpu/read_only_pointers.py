"""Read-only pointers: const where a kernel only reads, so that chips may use their read-only caches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.types import Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.barrier_insertion import shared_by_threads
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.data import Space
from dcpy.ir.nodes import Map


@contextmanager
def reading_only(context: Context, kernel: Map) -> Iterator[frozenset[str]]:
    """Inside, what a kernel only reads has const pointers; yields their names in C.

    No thread writes there while the kernel runs, under this name or under another one: views and arguments that may
    overlap count as written together. So these pointers are also restrict, whatever else points there.
    """
    found = {name: place for name, place in context.locations.items() if _is_global(place)}
    written = shared_by_threads(context, kernel).writes
    memory = {name: memory_of(name, context.uses.desc) for name in found}
    kept = {place.base.name for name, place in found.items() if memory[name] in written or place.viewed}
    constant = {name: _constant(place) for name, place in found.items() if place.base.name not in kept}
    outer, context.locations = context.locations, context.locations | constant
    try:
        yield frozenset(place.base.name for place in constant.values())
    finally:
        context.locations = outer


def _is_global(place: StorageLocation) -> bool:
    kind = place.base.type
    return isinstance(kind, Pointer) and kind.space is Space.GLOBAL and not place.is_value


def _constant(place: StorageLocation) -> StorageLocation:
    kind = place.base.type
    assert isinstance(kind, Pointer)  # the caller asked
    return replace(place, base=Name(place.base.name, replace(kind, const=True)))

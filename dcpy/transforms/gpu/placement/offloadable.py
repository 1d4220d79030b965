"""Offload legality: why a node is for the host alone, and which parameters of a map its threads can have."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions, reducible
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.data import Array, Data, Space, Stream
from dcpy.ir.editing.remarks import described
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Op, ScalarExpr, walk
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Dataflow, Process, Resize
from dcpy.ir.schedules import Sequential
from dcpy.ir.symbolic import product_of
from dcpy.ir.tree import subtree
from dcpy.ir.types import float16

#: operations that the text of kernels has no words for, by the kind of number
MISSING = {
    "f": ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"),
    "i": ("powmod",),
    "u": ("powmod",),
}  # fmt: skip
NO_BLOCKS = (Dataflow, Process, Resize)


def why_on_host(node: Node, uses: Uses) -> Refusal | None:
    """Return why a device cannot run a node of a state; None where it can."""
    if not isinstance(node, Map | Tasklet | Copy):
        return Refusal(f"the host runs {described(node)}")
    effects = effects_of(node)
    if effects & (Effect.ORDERED | Effect.CALLS_OUT):
        words = effects & (Effect.ORDERED | Effect.CALLS_OUT)
        return Refusal(f"something inside {words.words}" if isinstance(node, Map) else f"it {words.words}")
    for element in subtree(node):
        if isinstance(element, NO_BLOCKS) or element.callees():
            return Refusal(f"there is a {described(element)} inside", (element,))
        for part in (part for expr in element.exprs() for part in walk(expr)):
            if reason := _why_no_words(part):
                return Refusal(reason, (element,))
    for name in dict.fromkeys(_accessed(node, uses)):
        reason = _why_not_there(name, uses)
        if reason:
            return Refusal(reason)
    return why_unbounded(node, uses) if isinstance(node, Map) else None


def _accessed(node: Node, uses: Uses) -> Iterator[str]:
    for element in subtree(node):
        accessed = uses.accesses(element)
        yield from (*accessed.reads, *accessed.writes)
    for body in node.regions():
        for region in body.walk_regions():
            yield from region.containers


def _why_not_there(name: str, uses: Uses) -> str:
    """Return why a container cannot be in the memory of a device."""
    desc = uses.desc(name)
    if isinstance(desc, Stream):
        return f"{name!r} is a queue"
    if desc.dtype == float16:
        return f"devices have no {desc.dtype}, of which {name!r} is made"
    if sized_by_paths(desc, uses):
        return f"the size of {name!r} is known on each path only, behind the place where its memory is allocated"
    memory = memory_of(name, uses.desc)
    in_place = getattr(uses.desc(uses.root(name)), "space", Space.HOST) is Space.GLOBAL
    if memory.startswith("alias ") and not in_place and any(uses.writers(other) for other in uses.overlapping(name)):
        return f"{name!r} may overlap another argument, and one of them is written"
    return ""


def sized_by_paths(desc: Data, uses: Uses) -> bool:
    """Return whether several assignments say what the size of an array is: which one counts is known where paths end.
    """
    symbols = {symbol for size in getattr(desc, "shape", ()) for symbol in size.symbols}
    if not isinstance(desc, Array) or symbols.isdisjoint(uses.sdfg.assigned_symbols):
        return False
    return any(len(uses.definers(symbol)) > 1 for symbol in symbols)


def _why_no_words(part: ScalarExpr) -> str:
    """Return why a device cannot compute a part of an expression."""
    if part.dtype == float16:
        return f"devices have no numbers of {float16}"
    if not isinstance(part, Op):
        return ""
    dtype = part.args[0].dtype if part.args else part.dtype
    return f"devices have no {part.name} of {dtype}" if part.name in MISSING.get(dtype.kind, ()) else ""


def why_unbounded(node: Map, uses: Uses) -> Refusal | None:
    """An array inside whose size differs between iterations: threads cannot allocate."""
    for region in (part for body in node.regions() for part in body.walk_regions()):
        for name, desc in region.containers.items():
            if _is_large(desc) and (reason := _why_not_outside(name, desc, node, uses)):
                return Refusal(reason)
    return None


def _is_large(desc: Data) -> bool:
    """Return whether the size of a private array is not a number."""
    return isinstance(desc, Array) and any(size.constant is None for size in desc.shape)


def _why_not_outside(name: str, desc: Data, node: Map, uses: Uses) -> str:
    inside = [part for body in node.regions() for part in body.walk_regions()]
    varying = {*(p for part in inside for p in part.params), *(s for part in inside for s in symbols_assigned_in(part))}
    if any(symbol in varying for size in desc.shape for symbol in size.symbols):
        return f"the size of {name!r} differs between iterations"
    if uses.views_of(name):
        return f"there are views of {name!r}, of which each iteration has one"
    if any(not varying.isdisjoint(dim.symbols) for dim in node.domain):
        return f"the number of iterations, each with an array {name!r} of its own, is not known before"
    return ""


def why_one_thread(node: Map, uses: Uses, *, any_order: bool = False) -> Refusal | None:
    """Return why a map would be the work of one thread, which is slower than a core; None where it is not."""
    if isinstance(node.schedule, Sequential) or free_params(node, uses, any_order=any_order):
        return None
    writes = conflict_resolutions(uses, node)
    place = next((memlet for memlet in writes.resolved if memlet not in reducible(writes)), None)
    if place is None or product_of(*(dim.size for dim in node.domain)).constant is not None:
        return None
    return Refusal(f"iterations may add to the same element, {place}: on a GPU their order, and rounding, would vary")

"""Rules for placement on devices: kernels, their threads, and the accesses of each side."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import Side, is_kernel, is_library_call, kernels, places_of, run_by_host, side_of
from dcpy.ir.analysis.gpu.data_validity import ProgramPoint, is_transfer, needs_of
from dcpy.ir.analysis.gpu.graph_capture import launches_in, why_not_recorded
from dcpy.ir.data import Allocation, Array, Scalar, Space
from dcpy.ir.editing.remarks import described
from dcpy.ir.effects import Effect
from dcpy.ir.gpu.costs import GPU_LIMITS
from dcpy.ir.nodes import ForeignCall, Map
from dcpy.ir.region import Check, Loop, Region
from dcpy.ir.schedules import Grid, Recorded, ThreadBlock, Warp
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import product_of
from dcpy.ir.tree import Element, is_inside, owners_around, sdfg_of, subtree
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope


@rule("placement.nesting", Map)
def kernels_are_nests(node: Map, scope: Scope) -> Findings:
    """A map over blocks is in no other, one over threads is in one over blocks, one over lanes in one of these."""
    if not isinstance(node.schedule, Grid | ThreadBlock | Warp):
        return
    around = _schedules_around(node)
    if isinstance(node.schedule, Grid):
        if Grid in around or ThreadBlock in around:
            yield f"the kernel over {', '.join(node.params)} is inside of a kernel", "lower a program once"
    elif Grid not in around:
        yield f"the map over {', '.join(node.params)} is {node.schedule}, but in no map that is @grid"


def _schedules_around(node: Map | Loop) -> list[type]:
    return [type(getattr(owner, "schedule", None)) for owner in owners_around(node)]


@rule("placement.barriers", Map)
def threads_meet(node: Map, scope: Scope) -> Findings:
    """A map over threads is in no other one: not all threads would come to the barriers before and behind it."""
    if isinstance(node.schedule, ThreadBlock) and ThreadBlock in _schedules_around(node):
        yield f"threads of a block may differ in whether they come to the map over {', '.join(node.params)}"


@rule("placement.recorded", Loop)
def recorded_loops_launch(loop: Loop, scope: Scope) -> Findings:
    """A recorded loop is the host's, launches kernels, and does nothing that a graph cannot hold."""
    if not isinstance(loop.schedule, Recorded):
        return
    if Grid in _schedules_around(loop):
        yield f"{loop.title} is {loop.schedule}, but in a kernel"
    elif not launches_in(loop):
        yield f"{loop.title} is {loop.schedule}, but launches no kernel"
    elif reason := why_not_recorded(loop, Uses(sdfg_of(loop))):
        yield f"{loop.title} is {loop.schedule}: {reason}"


@rule("placement.sides", Sdfg)
def sides_touch_their_memory(sdfg: Sdfg, scope: Scope) -> Findings:
    """Kernels and libraries of a device touch its memory, and take scalars by value; the host its own; copies cross."""
    if not _has_device(sdfg):
        return
    uses = Uses(sdfg)
    for element in run_by_host(sdfg.body):
        if is_kernel(element):
            for part in subtree(element):
                yield from _foreign_to_device(part, element, uses)
        elif is_library_call(element):
            yield from _foreign_to_library(element, uses)
        elif not is_transfer(element):
            accessed = uses.accesses(element)
            for name in dict.fromkeys((*accessed.reads, *accessed.writes)):
                if side_of(uses.desc(uses.root(name))) is Side.DEVICE:
                    yield f"the host runs {described(element)}, but {name!r} is in the memory of a device"


def _foreign_to_device(part: Element, kernel: Element, uses: Uses) -> Iterator[str]:
    if Effect.CALLS_OUT in part.effects:
        yield f"{described(part)} is in a kernel"
    accessed = uses.accesses(part)
    for name in dict.fromkeys((*accessed.reads, *accessed.writes)):
        root = uses.root(name)
        desc = uses.desc(root)
        if side_of(desc) is Side.DEVICE or is_inside(uses.home(root), kernel):
            continue
        if not _by_value(desc, root, uses):
            yield f"a kernel runs {described(part)}, but {name!r} is in the memory of the host"


def _foreign_to_library(call: ForeignCall, uses: Uses) -> Iterator[str]:
    places, accessed = places_of(call), uses.accesses(call)
    for name in dict.fromkeys((*accessed.reads, *accessed.writes)):
        of_device = side_of(uses.desc(uses.root(name))) is Side.DEVICE
        if of_device and name not in places:
            yield f"the host reads {name!r} for {call.title}, but it is in the memory of a device"
        elif not of_device and name in places:
            yield f"{call.title} works on {name!r}, but that is in the memory of the host"


def _by_value(desc: object, name: str, uses: Uses) -> bool:
    """Return whether a kernel gets a number, which it only reads."""
    number = isinstance(desc, Scalar) or (isinstance(desc, Array) and not desc.shape and desc.transient)
    kernel_writes = (any(map(is_kernel, owners_around(writer))) for writer in uses.writers(name))
    return number and not any(kernel_writes)


@rule("placement.shared", Map)
def shared_memory_fits(node: Map, scope: Scope) -> Findings:
    """Memory that the threads of a block share has a constant size, and fits on the chip."""
    if not isinstance(node.schedule, Grid):
        return
    total = 0
    for region in node.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Scalar | Array) and desc.space is Space.SHARED:
                count = product_of(*desc.shape).constant
                if count is None:
                    yield f"{name!r} is shared by a block, but its size is not a number"
                total += (count or 0) * desc.dtype.itemsize
    if total > GPU_LIMITS.shared_bytes:
        yield f"the threads of a block share {total} bytes; {GPU_LIMITS.shared_bytes} are the most"


@rule("placement.private", Map)
def threads_allocate_nothing(node: Map, scope: Scope) -> Findings:
    """Containers that a kernel declares, unless a block shares them, are in registers or of constant size."""
    if not isinstance(node.schedule, Grid):
        return
    for region in node.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Scalar | Array) and desc.space is not Space.SHARED:
                if desc.space is Space.GLOBAL:
                    yield f"{name!r} is declared in a kernel, but in the memory of the whole device"
                elif desc.allocation is Allocation.HEAP:
                    yield f"{name!r} is declared in a kernel and on the heap: threads cannot allocate"


@rule("placement.validity", Sdfg)
def copies_are_there(sdfg: Sdfg, scope: Scope) -> Findings:
    """Data read on a side are valid there: after a write on the other side, a copy comes between."""
    if not _has_device(sdfg):
        return
    found: list[str] = []

    def note(name: str, side: Side, place: ProgramPoint) -> None:
        where = "at the end" if isinstance(place, Region) else f"at {described(place)}"
        words = "the host" if side is Side.HOST else "the device"
        found.append(f"{name!r} is not valid on {words} {where}: a copy is missing")

    def failing(name: str, check: Check) -> None:
        found.append(f"{name!r} is not valid for the caller where {described(check)} fails: a copy is missing")

    needs_of(Uses(sdfg), note, failing)
    yield from found


def _has_device(sdfg: Sdfg) -> bool:
    if kernels(sdfg):
        return True
    descs = (desc for region in sdfg.body.walk_regions() for desc in region.containers.values())
    return any(side_of(desc) is Side.DEVICE for desc in descs)

"""Graph capture of a loop of launches: which elements such a loop may hold, and whether all iterations launch alike.

While a graph is recorded the host runs the loop as always, but the device only takes note of what it gets. So the loop
asks nothing of the device but kernels, waits for none of them, and never leaves early.
"""

from __future__ import annotations

from collections.abc import Set

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.device_side import is_kernel, is_library_call, run_by_host
from dcpy.ir.data import Allocation, Array, Scalar, Space
from dcpy.ir.editing.remarks import described
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import loads_of, symbols_of
from dcpy.ir.field_roles import Role, Runs
from dcpy.ir.nodes import Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop
from dcpy.ir.tree import Element, bodies_of, children, owners_around, subtree


def launches_in(loop: Loop) -> list[Element]:
    """The kernels that the host launches in a loop, or in what is inside of it."""
    return [element for element in run_by_host(loop.body) if is_kernel(element)]


def why_not_recorded(loop: Loop, uses: Uses) -> Refusal | None:
    """Return why the launches of a host loop cannot be a graph; None where they can."""
    step = loop.range.step.constant
    if step is None or step < 1:
        return Refusal(f"it does not count upwards in steps that are a number, but in steps of {loop.range.step}")
    changing = {loop.param, *symbols_assigned_in(loop.body)}
    for element in run_by_host(loop.body):
        if reason := _why_not_this(element, changing, uses):
            return reason
    leaver = next(leavers(loop.body), None)
    if leaver is not None:
        return Refusal(f"an iteration may end the loop: {described(leaver)}")
    for region in loop.body.walk_regions():
        if region is not loop.body and any(map(is_kernel, owners_around(region))):
            continue
        for name, desc in region.containers.items():
            if not isinstance(desc, Scalar | Array) or desc.allocation is Allocation.HEAP:
                return Refusal(f"memory for {name!r} is asked for in each iteration")
    return None


def _why_not_this(element: Element, changing: Set[str], uses: Uses) -> Refusal | None:
    """Return why the host may not run an element while a graph is recorded, in a loop that changes these symbols."""
    assert isinstance(element, Node | Block)
    effects = effects_of(element) if is_kernel(element) or not children(element) else Effect.NOTHING
    if effects is not Effect.NOTHING:
        return Refusal(f"{described(element)} {effects.words}", (element,))
    if is_kernel(element):
        return None
    if _chooses_alike(element, changing):
        return None
    if isinstance(element, Block) and bodies_of(element):
        return Refusal(f"a {described(element)} is inside", (element,))
    if bodies_of(element) or element.callees() or is_library_call(element):
        return Refusal(f"the host does more than launch and compute numbers: {described(element)}", (element,))
    for name in dict.fromkeys((*uses.accesses(element).reads, *uses.accesses(element).writes)):
        desc = uses.desc(uses.root(name))
        if getattr(desc, "space", Space.HOST) is not Space.HOST:
            return Refusal(f"{described(element)} is no kernel, and touches {name!r} on the device", (element,))
    return None


def _chooses_alike(element: Element, changing: Set[str]) -> bool:
    """Return whether it is a choice that falls the same way in each iteration: by numbers that the loop does not
    change.
    """
    if element.runs is not Runs.PERHAPS:
        return False
    conditions = list(element.all_of(Role.SCALAR))
    loads = any(True for condition in conditions for _ in loads_of(condition))
    return not loads and all(changing.isdisjoint(symbols_of(condition)) for condition in conditions)


def launches_alike(loop: Loop, uses: Uses) -> bool:
    """Return whether a loop that may be recorded does the same in each iteration: launch kernels in which no counter
    is.
    """
    computed = (uses.accesses(element) for element in run_by_host(loop.body) if not is_kernel(element))
    if any(accessed.writes or accessed.defines for accessed in computed):
        return False
    sizes = set(uses.described_by(loop.param))
    for element in (part for kernel in launches_in(loop) for part in subtree(kernel)):
        accessed = uses.accesses(element)
        names = {name for each in (*accessed.reads, *accessed.writes) for name in (each, uses.root(each))}
        if loop.param in accessed.symbols or not sizes.isdisjoint(names):
            return False
    return True

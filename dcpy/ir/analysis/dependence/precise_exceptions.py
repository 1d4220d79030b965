"""Precise exceptions: which iterations of a loop may run although one before them raises.

An exception ends the program. What it has written into arguments is seen by the caller; transients and results are
not, as nothing is returned. So iterations of which only these know anything may run in any order, before the exception
of the lowest iteration that fails is raised: precise exceptions, for the state that is seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.base.articles import with_article
from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop
from dcpy.ir.tree import Element, children, subtree


def why_failures_are_seen(loop: Loop, uses: Uses) -> Refusal | None:
    """Return why no iteration may run where one before it raises; None where the caller cannot see the difference."""
    exits = list(leavers(loop.body))
    for part in exits:
        if effects_of(part) != Effect.MAY_RAISE or part.callees():
            return Refusal(f"{with_article(part.kind)} inside may end it early", (part,))
    if exits and not (loop.range.step.constant or 0) > 0:
        return Refusal("its values do not go up, so the first iteration that fails is not the lowest one")
    if exits and not is_bounded(loop, exits):
        return Refusal("no array that it looks at first bounds the number of iterations behind one that raises")
    for access in accesses_of_body(loop, uses) if exits else ():
        if access.is_write and not _is_unseen(access.root, uses):
            return Refusal(f"an iteration may raise, and the caller would see what later ones write to {access.root!r}")
    return None


def is_bounded(loop: Loop, exits: Sequence[Element]) -> bool:
    """Return whether each iteration, before it can end, reads an element that is its own.

    Then there are no more iterations than elements, and what does not stop at the first failure does not run much
    longer than the loop.
    """
    for block in loop.body.blocks:
        sure = [block] if block.regions() else [block, *children(block)]
        for element in subtree(block):
            if element in sure and _reads_at(loop.param, element):
                return True
            if element in exits:
                return False
    return False


def _reads_at(param: str, element: Element) -> bool:
    """Return whether an element itself reads memory at an index with this parameter in it."""
    loads = (load for expr in element.exprs() for load in loads_of(expr))
    if any(param in index.symbols for load in loads for index in load.indices):
        return True
    return any(param in memlet.subset.symbols for memlet in element.reads())


def _is_unseen(name: str, uses: Uses) -> bool:
    """Return whether a container is gone, or not handed out, when the program raises."""
    desc = uses.desc(name)
    if any(uses.desc(other).transient is False and not _is_new(other, uses) for other in uses.overlapping(name)):
        return False
    kept = isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE
    return not kept and (uses.is_private(name) or _is_new(name, uses))


def _is_new(name: str, uses: Uses) -> bool:
    """Return whether it is an array that the program returns, and that is no argument."""
    results = uses.sdfg.results
    return name not in uses.sdfg.arguments and any(
        result.container == name and result.kind in ("array", "scalar", "python") for result in results
    )

"""RedundantReshapeRemoval: what is copied in another shape is computed in the memory that it is copied to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array, Lifetime, View
from dcpy.ir.editing.view_rebasing import is_packed
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Copy
from dcpy.ir.region import State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO
from dcpy.ir.tree import Element, dominates, subtree
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class RedundantReshapeRemoval(Transformation[Legal]):
    """Make a temporary a view of the array that all of it is copied to, in another shape.

    before   g: f64[n, n, 3] transient          after   view g: f64[n, n, 3] of A
             view v: f64[n*n, 3] of g                    view v: f64[n*n, 3] of g
             map: g[...] = ...                           map: g[...] = ...
             copy v -> A

    Both are packed, with as many elements; and ``A`` is a new array of the program's that nothing but the copy touches,
    where nothing writes the temporary after it; or it is any array that nothing touches, and no exception leaves, from
    the first write of the temporary up to the copy, where nothing touches that after it: ``y[:] = (a @ x).reshape(n)``.
    This is `redundant-copy-removal` for what no subset can say: indices of a reshape are quotients and remainders.
    """

    name: ClassVar[str] = "redundant-reshape-removal"
    copy = capture(Copy)
    pattern = one(copy)

    def plan(self, m: Match) -> Legal | Refusal:
        copy, uses = m[self.copy], m.uses
        unfit = _unfit_view(copy, uses) or _unfit_target(copy, uses)
        if unfit is not None:
            return unfit
        of_result = _unfit_result(copy, uses) or _why_not_earlier(copy, uses)
        return LEGAL if of_result is None or _is_last_use(copy, uses) else of_result

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        copy = m[self.copy]
        tmp, result = rw.uses.root(copy.src.container), copy.dst.container
        desc = rw.uses.desc(tmp)
        assert isinstance(desc, Array)
        rw.erase(copy)
        rw.redeclare(tmp, View(result, desc.dtype, desc.shape, desc.strides, span=desc.span))


def _unfit_view(copy: Copy, uses: Uses) -> Refusal | None:
    """Return why the copied data are not all of a temporary in another shape; None where they are."""
    view, tmp = uses.desc(copy.src.container), uses.desc(uses.root(copy.src.container))
    if not isinstance(view, View) or not isinstance(tmp, Array):
        return Refusal("what is copied is no view")
    whole = copy.src.subset == Subset.whole(view.shape)  # a packed view without a window has as many elements
    if not whole or view.window is not None or view.of != uses.root(copy.src.container):
        return Refusal("what is copied is not all of a temporary, in order")
    if view.offset is not ZERO or not is_packed(view) or not is_packed(tmp) or view.dtype != tmp.dtype:
        return Refusal("what is copied is not all of a temporary, in order")
    if not uses.is_private(uses.root(copy.src.container)) or tmp.lifetime is not Lifetime.SCOPE:
        return Refusal("the temporary must stay in memory: it is an argument, a result, or has views")
    return None


def _unfit_target(copy: Copy, uses: Uses) -> Refusal | None:
    """Return why the temporary has no room in the target; None where it has."""
    name = copy.dst.container
    desc, tmp = uses.desc(name), uses.desc(uses.root(copy.src.container))
    if not isinstance(desc, Array) or not is_packed(desc) or copy.dst.subset != Subset.whole(desc.shape):
        return Refusal(f"{copy.dst} is not all of a packed array")
    if not isinstance(tmp, Array) or desc.dtype != tmp.dtype or desc.storage != tmp.storage:
        return Refusal(f"{name!r} is stored differently")
    return None


def _unfit_result(copy: Copy, uses: Uses) -> Refusal | None:
    """Return why the target is no new array that is made here; None where it is."""
    name, desc = copy.dst.container, uses.desc(copy.dst.container)
    assert isinstance(desc, Array)
    if uses.accessors(name) != (copy,) or uses.overlapping(name) != (name,) or copy.src.wcr or copy.dst.wcr:
        return Refusal(f"{name!r} is touched elsewhere")
    if not any(result.kind == "array" and result.container == name for result in uses.sdfg.results):
        return Refusal(f"{name!r} is no new array of the program's")
    if any(isinstance(definer, SymbolAssign) for symbol in _symbols(desc) for definer in uses.definers(symbol)):
        return Refusal(f"the size of {name!r} is known only on the way")
    return None


def _is_last_use(copy: Copy, uses: Uses) -> bool:
    """Whether, from the first write of the temporary up to the copy, no other statement touches what is copied to.

    Nor may anything raise: the caller would see an array that is changed already. Behind the copy, nothing touches the
    temporary.
    """
    tmp, state = uses.root(copy.src.container), copy.state
    region = uses.home(tmp)
    if state is None or state.region is not region or copy.src.wcr or copy.dst.wcr:
        return False
    own, others = _accessing(tmp, uses), _accessing(copy.dst.container, uses)
    steps = [step for block in region.blocks for step in (block.nodes if isinstance(block, State) else [block])]
    place = {element: number for number, step in enumerate(steps) for element in subtree(step)}
    if not all(one in place for one in own):
        return False
    first, last = min(place[one] for one in own), max(place[one] for one in own)
    if last > place[copy] or any(first <= place[other] < last for other in others if other in place):
        return False
    return all(effects_of(step) is Effect.NOTHING for step in steps[first:last])


def _accessing(container: str, uses: Uses) -> list[Element]:
    """All that may touch memory of a container."""
    return [element for name in uses.overlapping(container) for element in uses.accessors(name)]


def _symbols(desc: Array) -> list[str]:
    return [symbol for size in desc.shape for symbol in size.symbols]


def _why_not_earlier(copy: Copy, uses: Uses) -> Refusal | None:
    """Return whether something writes the temporary after the copy, which must be made once; None where nothing does.
    """
    state = copy.state
    if state is None or state.region is not uses.sdfg.body:
        return Refusal("the copy may be made several times, or not at all")
    tmp = uses.root(copy.src.container)
    if uses.home(tmp) is not uses.sdfg.body:
        return Refusal(f"{tmp!r} is declared further in")
    for name in uses.overlapping(tmp):
        for writer in uses.writers(name):
            if dominates(copy, writer):
                return Refusal(f"{name!r} is written after the copy", (writer,))
    return None

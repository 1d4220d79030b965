"""RedundantReshapeRemoval: an array that is returned in another shape is computed in the memory of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.data import Array, Lifetime, View
from dcpy.ir.nodes import Copy
from dcpy.ir.places import block_in
from dcpy.ir.region import State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, product_of
from dcpy.ir.uses import Element, Uses
from dcpy.ir.views import is_packed
from dcpy.transforms.api import YES, Aspect, Match, Rewriter, Transformation, Verdict, capture, no, one
from dcpy.transforms.simplify.redundant_copy_removal import node_in


@dataclass(frozen=True)
class RedundantReshapeRemoval(Transformation):
    """Make a temporary a view of the array that all of it is copied to, in another shape.

    before   g: f64[n, n, 3] transient          after   view g: f64[n, n, 3] of A
             view v: f64[n*n, 3] of g                    view v: f64[n*n, 3] of g
             map: g[...] = ...                           map: g[...] = ...
             copy v -> A

    Both are packed, with as many elements; nothing but the copy touches ``A``, and nothing writes the temporary after
    it. This is `redundant-copy-removal` for what no subset can say: indices of a reshape are quotients and remainders.
    """

    name: ClassVar[str] = "redundant-reshape-removal"
    looks_at: ClassVar[Aspect] = Aspect.DATAFLOW | Aspect.CONTROL
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    copy = capture(Copy)
    pattern = one(copy)

    def can_be_applied(self, m: Match) -> Verdict:
        copy, uses = m[self.copy], m.uses
        reason = _unfit_view(copy, uses) or _unfit_result(copy, uses) or _why_not_earlier(copy, uses)
        return no(reason) if reason else YES

    def apply(self, m: Match, rw: Rewriter) -> None:
        copy = m[self.copy]
        tmp, result = rw.uses.root(copy.src.container), copy.dst.container
        desc = rw.uses.desc(tmp)
        assert isinstance(desc, Array)
        rw.erase(copy)
        rw.redeclare(tmp, View(result, desc.dtype, desc.shape, desc.strides, span=desc.span))


def _unfit_view(copy: Copy, uses: Uses) -> str:
    """Why what is copied is not all of a temporary in another shape; "" where it is."""
    view, tmp = uses.desc(copy.src.container), uses.desc(uses.root(copy.src.container))
    if not isinstance(view, View) or not isinstance(tmp, Array):
        return "what is copied is no view"
    whole = copy.src.subset == Subset.whole(view.shape) and product_of(*view.shape) is product_of(*tmp.shape)
    if not whole or view.offset is not ZERO or not is_packed(view) or not is_packed(tmp) or view.dtype != tmp.dtype:
        return "what is copied is not all of a temporary, in order"
    if not uses.is_private(uses.root(copy.src.container)) or tmp.lifetime is not Lifetime.SCOPE:
        return "the temporary is seen from elsewhere"
    return ""


def _unfit_result(copy: Copy, uses: Uses) -> str:
    """Why the temporary cannot live in what is copied to; "" where it can."""
    name = copy.dst.container
    desc, tmp = uses.desc(name), uses.desc(uses.root(copy.src.container))
    if not isinstance(desc, Array) or not is_packed(desc) or copy.dst.subset != Subset.whole(desc.shape):
        return f"{copy.dst} is not all of a packed array"
    if not isinstance(tmp, Array) or desc.dtype != tmp.dtype or desc.storage is not tmp.storage:
        return f"{name!r} is stored differently"
    if uses.touchers(name) != (copy,) or uses.overlapping(name) != (name,) or copy.src.wcr or copy.dst.wcr:
        return f"{name!r} is touched elsewhere"
    if not any(result.kind == "array" and result.container == name for result in uses.sdfg.results):
        return f"{name!r} is no new array of the program's"
    if any(isinstance(definer, SymbolAssign) for symbol in _symbols(desc) for definer in uses.definers(symbol)):
        return f"the size of {name!r} is known only on the way"
    return ""


def _symbols(desc: Array) -> list[str]:
    return [symbol for size in desc.shape for symbol in size.symbols]


def _why_not_earlier(copy: Copy, uses: Uses) -> str:
    """Whether something writes the temporary after the copy, which must be made once; "" where nothing does."""
    state = copy.state
    if state is None or state.region is not uses.sdfg.body:
        return "the copy may be made several times, or not at all"
    tmp = uses.root(copy.src.container)
    if uses.home(tmp) is not uses.sdfg.body:
        return f"{tmp!r} is declared further in"
    for name in uses.overlapping(tmp):
        for writer in uses.writers(name):
            if not _is_before(writer, state, copy):
                return f"{name!r} is written after the copy"
    return ""


def _is_before(writer: Element, state: State, copy: Copy) -> bool:
    node = node_in(state, writer)
    if node is not None:
        return state.index(node) < state.index(copy)
    block = block_in(state.region, writer) if state.region is not None else None
    return block is not None and state.region is not None and state.region.index(block) < state.region.index(state)

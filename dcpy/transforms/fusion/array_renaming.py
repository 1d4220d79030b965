"""ArrayRenaming: the first of two successive values of an array gets an array of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.map_fusion import fusion_of
from dcpy.transforms.fusion.matching import inverse, why_not_own
from dcpy.transforms.fusion.pointwise import only_result, why_not_later
from dcpy.transforms.fusion.temporaries import needed_elsewhere


@dataclass(frozen=True)
class ArrayRenaming(Transformation[Subset]):
    """Break an output dependence: a map whose result the next map updates in place writes a temporary instead.

    before   map i = 0:N { B[i] = A[i]*C[i] }        after   map i = 0:N { t[i] = A[i]*C[i] }
             map j = 0:N { B[j] = sqrt(B[j]) }               map j = 0:N { B[j] = sqrt(t[j]) }

    Applies where both maps consist of tasklets, where each iteration of the second one reads the element that one
    iteration of the first one has written, and writes it again, and where the maps could be fused if the array kept
    both values. Fusion then leaves nothing of the temporary. (Kuck et al., Dependence graphs and compiler
    optimizations, 1981.)
    """

    name: ClassVar[str] = "array-renaming"
    optional: ClassVar[bool] = True
    first = capture(Map)
    array = capture(Access)
    second = capture(Map)
    pattern = path(first, array, second)

    inline: bool = False  #: only where the first map can be computed where the second one reads its result

    def plan(self, m: Match) -> Subset | Refusal:
        """The element of the temporary that an iteration of the second map reads."""
        first, second, name, uses = m[self.first], m[self.second], m[self.array].container, m.uses
        if not any(is_inside(writer, second.body) for writer in uses.writers(name)):
            return Refusal(f"the second map does not write {name!r}")
        if needed_elsewhere(name, (first, second), uses) is None:
            return Refusal(f"no other statement uses {name!r}: another name does not help the maps to fuse")
        again = _update(second, name, uses, reads_before=True)
        written = again if isinstance(again, Refusal) else _update(first, name, uses, reads_before=False)
        if isinstance(written, Refusal):
            return written
        assert isinstance(again, Subset)  # or it would have been refused
        fusion = fusion_of(first, second, name, uses, keep=True)
        if isinstance(fusion, Refusal):
            return fusion
        points = inverse(fusion.renaming, first)
        if points is None or again.subs(fusion.renaming) != written:
            return Refusal(f"the second map does not write the elements of {name!r} that the first one has written")
        refusal = why_not_own(first, written, name)
        if self.inline:
            refusal = refusal or _why_not_inline(first, second, name, uses)
        return refusal or _place(first).subs(points)

    def apply(self, m: Match, plan: Subset, rw: Rewriter) -> str:
        """Return the name of the temporary."""
        first, second, array = m[self.first], m[self.second], m[self.array].container
        desc = rw.uses.desc(array)
        sizes = [values.size for values in first.domain]
        own = Array.packed(desc.dtype, sizes, transient=True, span=desc.span)
        name = rw.declare_fresh(f"{array}_first", own, m.state.region)
        for tasklet in _tasklets(first):
            rw.update(tasklet, outputs=_renamed(tasklet.outputs, array, Memlet(name, _place(first))))
        for tasklet in _tasklets(second):
            rw.update(tasklet, inputs=_renamed(tasklet.inputs, array, Memlet(name, plan)))
        return name


def _tasklets(node: Map) -> Iterator[Tasklet]:
    return (inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet))


def _renamed(memlets: dict[str, Memlet], old: str, new: Memlet) -> dict[str, Memlet]:
    return {connector: new if memlet.container == old else memlet for connector, memlet in memlets.items()}


def _place(first: Map) -> Subset:
    """The element of the temporary that an iteration of the first map writes."""
    return Subset(tuple(sym(param) - values.start for param, values in zip(first.params, first.domain, strict=True)))


def _update(node: Map, name: str, uses: Uses, *, reads_before: bool) -> Subset | Refusal:
    """The one element of an array that an iteration writes; with `reads_before`, the iteration also reads it, alone."""
    state = node.body.blocks[0] if len(node.body.blocks) == 1 else None
    if not isinstance(state, State) or not all(isinstance(inner, Tasklet) for inner in state.nodes):
        return Refusal("a map does more than tasklets")
    if len(uses.overlapping(name)) > 1 or not isinstance(uses.desc(name), Array):
        return Refusal(f"{name!r} has views, or is no array")
    numbered = list(enumerate(_tasklets(node)))
    writes = [(place, memlet) for place, each in numbered for memlet in each.writes() if memlet.container == name]
    reads = [(place, memlet) for place, each in numbered for memlet in each.reads() if memlet.container == name]
    if len(writes) != 1 or writes[0][1].wcr or writes[0][1].dynamic:
        return Refusal(f"an iteration does not write just one element of {name!r}")
    position, written = writes[0]
    if any(place > position for place, _ in reads):
        return Refusal(f"an iteration reads {name!r} behind what it writes there")
    if reads_before and {memlet.subset for _, memlet in reads} != {written.subset}:
        return Refusal(f"the second map does not read just the element of {name!r} that it writes")
    return written.subset


def _why_not_inline(first: Map, second: Map, name: str, uses: Uses) -> Refusal | None:
    """The reason that the second map cannot compute the results of the first one; None if it can."""
    result = only_result(first, uses)
    if isinstance(result, Refusal):
        return result
    if any(values.start is not ZERO for values in first.domain):
        return Refusal("the first map does not begin with 0")
    readers = tuple(each for each in _tasklets(second) if any(memlet.container == name for memlet in each.reads()))
    if len(readers) > 1:
        return Refusal(f"{name!r} is read by {len(readers)} tasklets: it would be computed for each")
    return why_not_later(first, readers, uses)

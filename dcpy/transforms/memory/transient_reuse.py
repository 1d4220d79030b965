"""TransientReuse: two transients that are never alive at the same time are one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.region import Region, State
from dcpy.ir.tree import Element, child_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, whole

Moment = tuple[int, int]  # the position of a block in its region, and of a node in a state


@dataclass(frozen=True)
class TransientReuse(Transformation["Reuse"]):
    """Give a transient the memory of a dead one (storage coalescing by live ranges).

    before   t = f(A); B = g(t); u = h(B); C = k(u)        after   t = f(A); B = g(t); t = h(B); C = k(t)

    Applies to arrays of the same region with equal descriptors that no view shows, where all that touches the first
    is over before anything touches the second: what a transient holds before it is written is undefined anyway.
    """

    name: ClassVar[str] = "transient-reuse"
    pattern = whole()

    second: str = ""  #: the transient that goes away; without a name the first one that may

    def plan(self, m: Match) -> Reuse | Refusal:
        """The first pair. Refuses where live ranges overlap, or nothing is alike."""
        refusal = Refusal("no two transients of a region are alike")
        for region in m.sdfg.body.walk_regions():
            for first, second in combinations(_candidates(region, m.uses), 2):
                for kept, gone in ((first, second), (second, first)):
                    if self.second not in ("", gone) or m.uses.desc(kept) != m.uses.desc(gone):
                        continue
                    if _last(kept, region, m.uses) < _first(gone, region, m.uses):
                        return Reuse(kept, gone)
                    refusal = Refusal(f"{kept!r} is still needed when {gone!r} is filled")
        return refusal

    def apply(self, m: Match, plan: Reuse, rw: Rewriter) -> None:
        rw.rename_container(plan.gone, plan.kept)
        rw.undeclare_unused([plan.gone])


@dataclass(frozen=True, slots=True)
class Reuse:
    """The transient that stays, and the one that takes its memory over."""

    kept: str
    gone: str


def _candidates(region: Region, uses: Uses) -> Iterator[str]:
    for name, desc in region.containers.items():
        if not isinstance(desc, Array) or not desc.transient or desc.lifetime is not Lifetime.SCOPE:
            continue
        if uses.is_private(name) and len(uses.overlapping(name)) == 1 and uses.accessors(name):
            yield name


def _first(name: str, region: Region, uses: Uses) -> Moment:
    return min(_moment(region, element) for element in uses.accessors(name))


def _last(name: str, region: Region, uses: Uses) -> Moment:
    return max(_moment(region, element) for element in uses.accessors(name))


def _moment(region: Region, element: Element) -> Moment:
    """Return the time of an element that touches a container of a region, as seen from there."""
    block = child_of(region, element)
    assert block is not None  # accesses of a container are inside of the region that declares it
    node = child_of(block, element) if isinstance(block, State) else None
    return region.index(block), block.index(node) if isinstance(block, State) and node is not None else 0

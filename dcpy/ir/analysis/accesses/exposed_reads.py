"""Upward exposed reads and must-writes: what one element does to each container that it touches, as a whole.

What an element reads is *exposed* unless it has surely written it before; a container that it surely overwrites
entirely need not hold anything when it begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import covers
from dcpy.ir.region import State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element

_KEY = "touched"  # what `Uses.facts` keeps of an element


@dataclass(frozen=True, slots=True)
class ExposedAccesses:
    """Accesses of an element to one container: `exposed`: it reads old values; `whole`: it overwrites all of them."""

    exposed: bool
    writes: bool
    whole: bool

    @property
    def needs(self) -> bool:
        """Return whether anything depends on what was there before."""
        return self.exposed or (self.writes and not self.whole)


def exposed_accesses(element: Element, uses: Uses) -> dict[str, ExposedAccesses]:
    """The accesses of a node or block, bodies included, to each container that it touches (no views)."""
    facts = uses.facts(element)
    if _KEY not in facts:
        accesses: dict[str, list[MemoryAccess]] = {}
        for access in accesses_in(element, uses):
            accesses.setdefault(access.root, []).append(access)
        facts[_KEY] = {name: _accessed(found, element, uses) for name, found in accesses.items()}
    found: dict[str, ExposedAccesses] = facts[_KEY]
    return found


def read_by_itself(element: Element, uses: Uses) -> dict[str, None]:
    """The containers that are read by what is written on an element itself: a condition, a bound."""
    return dict.fromkeys(uses.root(name) for name in uses.accesses(element).reads)


def exposed_arguments(sdfg: Sdfg) -> tuple[str, ...]:
    """The arguments whose elements may count when a program begins: that are read before all of them are written."""
    uses = Uses(sdfg)
    exposed: dict[str, None] = {}
    written: set[str] = set()
    for block in sdfg.body.blocks:
        for element in block.nodes if isinstance(block, State) else (block,):
            found = exposed_accesses(element, uses)
            exposed |= {name: None for name, accessed in found.items() if accessed.exposed and name not in written}
            written |= {name for name, accessed in found.items() if accessed.whole}
    return tuple(name for name in sdfg.arguments if name in exposed)


def _accessed(accesses: list[MemoryAccess], element: Element, uses: Uses) -> ExposedAccesses:
    desc = uses.desc(accesses[0].root)
    everything = Footprint(Subset.whole(desc.shape))
    ranges = uses.ranges_at(element)
    written: list[Footprint] = []
    exposed = whole = writes = False
    for access in accesses:
        exposed = exposed or (access.mode in (Mode.READ, Mode.COMBINE, Mode.POP, Mode.PUSH) and not whole)
        writes = writes or access.is_write
        footprint = access.footprint() if access.mode is Mode.WRITE and access.is_sure() else None
        if footprint is not None and not whole:
            written.append(footprint)
            whole = covers(written, everything, ranges).is_yes
    return ExposedAccesses(exposed, writes, whole)

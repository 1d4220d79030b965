"""Scopes: which containers a place sees, and which memory a name stands for there.

Everything climbs from the place asked about towards the outermost region (`ir.tree`). Questions about what is touched
are in `accesses`, about bounds of symbols in `ranges_at`.
"""

from __future__ import annotations

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.data import Array, Data, View
from dcpy.ir.region import Region, SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Place, regions_around, sdfg_of


def home_at(place: Place, name: str) -> Region | None:
    """The region around `place` that declares a container; None where none does."""
    return next((region for region in regions_around(place) if name in region.containers), None)


def desc_at(place: Place, name: str) -> Data:
    """The descriptor of a container as seen from `place`; `InvalidSdfg` where it is not visible."""
    home = home_at(place, name)
    if home is None:
        raise InvalidSdfg(f"no container {name!r} is visible here", span=getattr(place, "span", None))
    return home.containers[name]


def root_of(place: Place, name: str) -> str:
    """The container that stands for the memory of `name`: equal roots may overlap, different ones never do.

    A view has its base's root. Arguments that may alias share a root.
    For many questions about one SDFG build `Roots` once.
    """
    while isinstance(desc := desc_at(place, name), View):
        name = desc.of
    return Roots(sdfg_of(place))[name] if isinstance(desc, Array) and desc.alias else name


class Roots:
    """`root_of` for every container of an SDFG, as a table that is built in one pass; ``roots[name]``."""

    def __init__(self, sdfg: Sdfg) -> None:
        self._next: dict[str, str] = {}
        first: dict[str, str] = {}
        for region in sdfg.body.walk_regions():
            for name, desc in region.containers.items():
                match desc:
                    case View(of=base):
                        self._next[name] = base
                    case Array(alias=alias) if alias:
                        self._join(first.setdefault(alias, name), name)

    def __getitem__(self, name: str) -> str:
        """The root of a container; a name that nothing is known of is its own."""
        while name in self._next:
            name = self._next[name]
        return name

    def _join(self, kept: str, other: str) -> None:
        kept, other = self[kept], self[other]
        if kept != other:
            self._next[other] = kept


def symbols_assigned_in(region: Region) -> tuple[str, ...]:
    """Symbols that `SymbolAssign` blocks inside the region give values to, each once, in program order."""
    names = (block.symbol for block in region.walk_blocks() if isinstance(block, SymbolAssign))
    return tuple(dict.fromkeys(names))

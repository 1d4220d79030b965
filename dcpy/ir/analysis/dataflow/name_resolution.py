"""Name resolution: which container a name refers to at a place.

Everything climbs from the place asked about towards the outermost region (`ir.tree`). What memory a name stands for is
asked of `ir.analysis.dataflow.aliasing`, what is touched of `access_relations`, bounds of symbols of `value_ranges`.
"""

from __future__ import annotations

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.data import Data
from dcpy.ir.region import Region, SymbolAssign
from dcpy.ir.tree import TreeNode, regions_around


def home_at(place: TreeNode, name: str) -> Region | None:
    """The region around `place` that declares a container; None where none does."""
    return next((region for region in regions_around(place) if name in region.containers), None)


def desc_at(place: TreeNode, name: str) -> Data:
    """The descriptor of a container as seen from `place`; `InvalidSdfg` where it is not visible."""
    home = home_at(place, name)
    if home is None:
        raise InvalidSdfg(f"no container {name!r} is visible here", span=getattr(place, "span", None))
    return home.containers[name]


def symbols_assigned_in(region: Region) -> tuple[str, ...]:
    """Symbols that `SymbolAssign` blocks inside the region give values to, each once, in program order."""
    names = (block.symbol for block in region.walk_blocks() if isinstance(block, SymbolAssign))
    return tuple(dict.fromkeys(names))

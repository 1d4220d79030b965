"""PlaceInBanks: puts the arrays that options name into the banks of the board's memory that they choose."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.errors import TransformationRefused
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.fpga.memory import BANKS, Bank
from dcpy.transforms.passes import GraphPass

_PLACE = re.compile(r"(?P<array>\w+) *= *(?P<kind>\w+) +(?P<first>\d+)(:(?P<behind>\d+)( +axis +(?P<axis>\d+))?)?")
HOW = 'write: fpga.banks="x=ddr 1, A=hbm 0:4 axis 1", the last bank is not one of them'


@dataclass(frozen=True)
class PlaceInBanks(GraphPass):
    """Gives each named array its bank, or its banks, which divide a dimension evenly.

    places   x=ddr 1, A=hbm 0:4 axis 1
    before   x: f32[N], A: f32[64, N], y: f32[N]
    after    x: f32[N] bank ddr 1, A: f32[64, N] bank hbm 0:4 axis 1, y: f32[N]

    Others stay where they are. Raises `TransformationRefused` for what is no place, and for what is no array.
    """

    name: ClassVar[str] = "place-in-banks"
    places: str = ""  #: as above, with commas between

    def decide(self, rw: Rewriter) -> None:
        """Place by place."""
        for place in self.places.split(","):
            name, bank = _parsed(place.strip())
            desc = rw.uses.desc(name) if name in rw.sdfg.arguments else None
            if not isinstance(desc, Array):
                arrays = [other for other in rw.sdfg.arguments if isinstance(rw.uses.desc(other), Array)]
                raise TransformationRefused(
                    f"{rw.sdfg.name!r} has no array {name!r} to be in {bank}: "
                    f"there are {', '.join(map(repr, arrays)) or 'none'}",
                    help=HOW,
                )
            users = (*rw.uses.readers(name), *rw.uses.writers(name))
            span = desc.span or next((user.span for user in users if user.span), None)  # for the board that has it not
            rw.redeclare(name, replace(desc, bank=bank, span=span))


def _parsed(place: str) -> tuple[str, Bank]:
    found = _PLACE.fullmatch(place)
    kind = next((kind for kind in BANKS if found and found["kind"] == kind), None)
    if found is None or kind is None:
        kinds = ", ".join(BANKS)
        raise TransformationRefused(f"{place!r} is no array with its bank", notes=(f"kinds: {kinds}",), help=HOW)
    first = int(found["first"])
    count = int(found["behind"]) - first if found["behind"] else 1
    return found["array"], Bank(kind, first, count, int(found["axis"] or 0))

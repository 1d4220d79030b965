"""MapExpansion: a map of several parameters becomes two maps, one inside the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.nest_edits import expand_map
from dcpy.ir.nodes import Map
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MapExpansion(Transformation[Legal]):
    """Loop nest expansion: split the parameters of a map between an outer and an inner map. MapCollapse undoes it.

    before   map i = 0:N, j = 0:M { B[i, j] = f(A[i, j]) }
    after    map i = 0:N { map j = 0:M { B[i, j] = f(A[i, j]) } }

    The outer map keeps the first `count` parameters, and the schedule. Always keeps the meaning: the iterations of
    a map have no order, and an inner range may mention outer parameters.
    (Ben-Nun et al., Stateful Dataflow Multigraphs, SC 2019.)
    """

    name: ClassVar[str] = "map-expansion"
    map = capture(Map)
    pattern = one(map)

    count: int = 1  #: parameters of the outer map

    def plan(self, m: Match) -> Legal | Refusal:
        """The plan. Refuses maps that do not have more parameters than the outer map keeps."""
        params = m[self.map].params
        if not 0 < self.count < len(params):
            return Refusal(f"{self.count} of its {len(params)} parameters leave none for one of the maps")
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> tuple[Map, Map]:
        """Return both maps; the outer one is the original."""
        return m[self.map], expand_map(m[self.map], self.count, rw)

"""MapTiling: a map runs in blocks of its iteration space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_nests import Axis, axes_of
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, split_axis
from dcpy.ir.nodes import Map
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.strip_mining import cannot_be_split


@dataclass(frozen=True)
class MapTiling(Transformation[tuple[Axis, ...]]):
    """Loop tiling (blocking): strip-mine several parameters of a map and move the axes over tiles outside.

    before   map i = 0:N, j = 0:M { C[i, j] = f(A[i, j]) }
    after    map i_tile = 0:N:32, j_tile = 0:M:64 {
               map i = i_tile:min(i_tile + 32, N), j = j_tile:min(j_tile + 64, M) { C[i, j] = f(A[i, j]) } }

    `sizes` are of the first parameters, in order. Keeps the meaning: the iterations of a map have no order. The ranges
    of what is tiled may not mention each other. (Wolf and Lam, A Data Locality Optimizing Algorithm, PLDI 1991.)
    """

    name: ClassVar[str] = "map-tiling"
    map = capture(Map)
    pattern = one(map)
    settles = False

    sizes: tuple[int, ...] = (32,)  #: values of a tile, by parameter

    def plan(self, m: Match) -> tuple[Axis, ...] | Refusal:
        """The axes to tile."""
        axes = axes_of(m[self.map])
        if not 0 < len(self.sizes) <= len(axes):
            return Refusal(f"{len(self.sizes)} sizes for {len(axes)} parameters")
        tiled = axes[: len(self.sizes)]
        for axis, size in zip(tiled, self.sizes, strict=True):
            mentioned = [other.param for other in tiled if other.param in axis.range.symbols]
            if mentioned:
                return Refusal(
                    f"the range {axis.range} of {axis.param!r} depends on {mentioned[0]!r}, which is tiled too"
                )
            obstacle = cannot_be_split(axis, size)
            if obstacle:
                return obstacle
        return tiled

    def apply(self, m: Match, plan: tuple[Axis, ...], rw: Rewriter) -> tuple[Map, Map]:
        """Return the map over tiles, which is the original, and the map over the values of a tile."""
        node = m[self.map]
        names = [axis.param for axis in plan]
        tiles = [split_axis(node, name, size, rw) for name, size in zip(names, self.sizes, strict=True)]
        reorder_axes(node, (*tiles, *(param for param in node.params if param not in tiles)), rw)
        return node, expand_map(node, len(tiles), rw)

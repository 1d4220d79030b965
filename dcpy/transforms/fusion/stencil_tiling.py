"""StencilTiling: overlapped tiling. Each tile of a consumer computes the part of the producer that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.nodes import Map
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.compute_at import ReadWindow, compute_at, window_of


@dataclass(frozen=True)
class StencilTiling(Transformation[ReadWindow]):
    """Overlapped tiling: tile a stencil, and compute its input in each tile, including the halo (ghost zone).

    before   map i = 0:N { t[i] = f(A[i]) }
             map j = 1:N - 1 { B[j] = g(t[j - 1], t[j + 1]) }
    after    map T = 1:N - 1:32 { data u: f64[34]
                                  map i = T - 1:min(T + 33, N) { u[i - T + 1] = f(A[i]) }
                                  map j = T:min(T + 32, N - 1) { B[j] = g(u[j - T], u[j - T + 2]) } }

    Applied again to the producer of ``A``, it adds an earlier step to each tile: so stencils of several time steps are
    tiled in time. Applies if the producer computes each element of a transient by tasklets alone, only the consumer
    reads that, a box in each tile, and nothing writes the producer's inputs in between.
    (Krishnamoorthy et al., Effective automatic parallelization of stencil computations, PLDI 2007.)
    """

    name: ClassVar[str] = "stencil-tiling"
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    size: int = 32  #: values of each tiled parameter in a tile
    axes: int = 1  #: outer parameters of the consumer that are tiled, if it does not consist of tiles already

    def plan(self, m: Match) -> ReadWindow | Refusal:
        """The part that a tile needs. Refuses other producers, and consumers that read no box per tile."""
        if self.size < 1 or self.axes < 1:
            return Refusal(f"{self.axes} axes in tiles of {self.size} values")
        return window_of(m[self.first], m[self.second], self.axes, self.size, m.uses)

    def apply(self, m: Match, plan: ReadWindow, rw: Rewriter) -> Map:
        """Return the map over tiles, which is the consumer; its body computes the producer for a tile first."""
        compute_at(m[self.first], m[self.second], plan, self.size, rw)
        return m[self.second]

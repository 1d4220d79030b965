"""BufferTiling: the buffer between two maps has the size of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.nodes import Map
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.compute_at import ReadWindow, compute_at, window_of


@dataclass(frozen=True)
class BufferTiling(Transformation[ReadWindow]):
    """Tile two maps alike, and keep just a tile of what the one hands to the other.

    before   map i = 0:N { t[i] = f(A[i]) }        after   map T = 0:N:32 { data u: f64[32]
             map j = 0:N { B[j] = g(t[j]) }                    map i = T:min(T + 32, N) { u[i - T] = f(A[i]) }
                                                               map j = T:min(T + 32, N) { B[j] = g(u[j - T]) } }

    Unlike a fusion it leaves both loops alone, each with its own vectors; the buffer stays in a cache. Applies as
    StencilTiling does, where tiles share no element of the buffer: nothing is computed twice.
    """

    name: ClassVar[str] = "buffer-tiling"
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    size: int = 1024  #: values of each tiled parameter in a tile
    axes: int = 1  #: outer parameters of the consumer that are tiled

    def plan(self, m: Match) -> ReadWindow | Refusal:
        """Return the window of a tile. Refuses values that two tiles would compute."""
        if self.size < 1 or self.axes < 1:
            return Refusal(f"{self.axes} axes in tiles of {self.size} values")
        window = window_of(m[self.first], m[self.second], self.axes, self.size, m.uses)
        if isinstance(window, ReadWindow) and (window.shared or not window.tiled):
            return Refusal(f"tiles share elements of {window.part.array!r}: that is stencil-tiling")
        return window

    def apply(self, m: Match, plan: ReadWindow, rw: Rewriter) -> Map:
        """Return the tiles, which is the consumer."""
        compute_at(m[self.first], m[self.second], plan, self.size, rw)
        return m[self.second]

"""GraphCapture: a loop of launches becomes graphs of launches, which the device gets in one call each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.device_side import run_by_host
from dcpy.ir.analysis.gpu.graph_capture import launches_alike, launches_in, why_not_recorded
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop
from dcpy.ir.schedules import Recorded
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class GraphCapture(GraphPass):
    """Graphs of launches: the kernels of many iterations of a loop of the host are recorded, and started together.

    before   loop t = 0:T { map i = 0:N @grid { ... };  map j = 0:N @grid { ... } }
    after    loop t = 0:T @recorded{width = 32, graphs = one} { map i = 0:N @grid { ... };  map j = 0:N @grid { ... } }

    Applies to a loop that counts upwards, and in which the host does nothing but launch, compute numbers, and choose by
    what no iteration changes; no kernel may raise an exception. `most` launches are in a graph. One graph serves all
    bands of iterations where the host only launches, and the counter is in no kernel; else each band is recorded anew,
    while the host computes its numbers. A loop of fewer than two bands launches: that is known here, or asked when it
    runs.
    """

    name: ClassVar[str] = "graph-capture"
    optional: ClassVar[bool] = True
    most: int = 64  #: launches in a graph

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop."""
        for element in list(run_by_host(rw.sdfg.body)):
            if isinstance(element, Loop) and launches_in(element):
                self._try(element, rw)

    def _try(self, loop: Loop, rw: Rewriter) -> None:
        width = max(self.most // len(launches_in(loop)), 1)
        reason = why_not_recorded(loop, rw.uses) or _too_short(loop, width, rw)
        if reason:
            rw.remark(loop, False, f"kernels are launched one by one: {reason}")
            return
        alike = launches_alike(loop, rw.uses)
        rw.update(loop, schedule=Recorded(width, "one" if alike else ""))
        which = "one graph, which serves all bands" if alike else "a graph of its own"
        rw.remark(loop, True, f"the launches of {width} iterations are {which}")


def _too_short(loop: Loop, width: int, rw: Rewriter) -> Refusal | None:
    """Return a refusal if there are never two bands."""
    if rw.uses.ranges_at(loop).proves_lt(loop.range.size, 2 * width):
        return Refusal(f"{loop.range.size} iterations are fewer than two bands of {width}")
    return None

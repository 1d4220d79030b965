"""LoopSkewing: the range of an inner loop is shifted by a multiple of the outer parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_nests import Axis, MapOrLoop, axes_of, scopes_around
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class LoopSkewing(Transformation[Axis]):
    """Loop skewing: add a multiple of an outer parameter to the range of an inner loop.

    before   loop t = 0:T { loop i = 1:N { A[i] = f(A[i - 1], A[i], A[i + 1]) } }
    after    loop t = 0:T { loop i = t + 1:N + t { A[i - t] = f(A[i - t - 1], A[i - t], A[i - t + 1]) } }

    Always keeps the meaning: the same iterations run in the same order under other numbers. A dependence of distance
    (1, -1) becomes (1, 0), after which the loops can change places, or be tiled: time tiling of stencils, wavefronts.
    (Wolfe, Loop Skewing: The Wavefront Method Revisited, 1986.)
    """

    name: ClassVar[str] = "loop-skewing"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    factor: int = 1  #: so many times the outer parameter
    by: str = ""  #: the outer parameter; default: that of the next loop around

    def plan(self, m: Match) -> Axis | Refusal:
        """The outer axis. Refuses loops that are in no other loop, or not in the named one."""
        if self.factor == 0:
            return Refusal("0 times the outer parameter")
        around = [axis for scope in scopes_around(m[self.loop]) for axis in _own_axes(scope, self.by)]
        named = [axis for axis in around if axis.param == self.by or not self.by]
        return named[0] if named else Refusal(f"there is no loop {f'over {self.by!r} ' if self.by else ''}around it")

    def apply(self, m: Match, plan: Axis, rw: Rewriter) -> Loop:
        """Return the loop."""
        loop = m[self.loop]
        shift = sym(plan.param) * self.factor
        rw.substitute_symbols({loop.param: sym(loop.param) - shift}, within=loop.body)
        values = loop.range
        rw.update(loop, range=Range(values.start + shift, values.stop + shift, values.step))
        return loop


def _own_axes(scope: MapOrLoop, by: str) -> tuple[Axis, ...]:
    """The axes of a loop; those of a map only if one is named."""
    return axes_of(scope) if by or isinstance(scope, Loop) else ()

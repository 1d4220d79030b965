"""StripMining: one axis of a map, or a loop, runs in tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_nests import Axis, MapOrLoop, axes_of
from dcpy.ir.editing.nest_edits import split_axis
from dcpy.ir.nodes import Map
from dcpy.ir.region import Break, Loop
from dcpy.ir.tree import holder_of, jumps
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class StripMining(Transformation[Axis]):
    """Strip-mining (loop sectioning): run the values of one parameter tile by tile, in an axis of their own.

    before   map i = 0:N { B[i] = f(A[i]) }
    after    map i_tile = 0:N:32, i = i_tile:min(i_tile + 32, N) { B[i] = f(A[i]) }

    before   loop i = 0:N { s = s + A[i] }
    after    loop i_tile = 0:N:32 { loop i = i_tile:min(i_tile + 32, N) { s = s + A[i] } }

    Keeps the meaning: each value comes once, and a loop keeps its order. Needs a numeric step, and a loop without
    `break`.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "strip-mining"
    scope: ClassVar[Capture[Map | Loop]] = capture(Map, Loop)
    pattern = one(scope)
    settles = False

    param: str = ""  #: of a map with several parameters: which one; default: the last
    size: int = 32  #: values of a tile

    def plan(self, m: Match) -> Axis | Refusal:
        """The axis."""
        axis = axis_named(m[self.scope], self.param)
        return axis if isinstance(axis, Refusal) else cannot_be_split(axis, self.size) or axis

    def apply(self, m: Match, plan: Axis, rw: Rewriter) -> tuple[MapOrLoop, ...]:
        """Return the map, or both loops, the outer one first; the inner one is the original."""
        scope = plan.owner
        split_axis(scope, plan.param, self.size, rw)
        around = holder_of(scope)
        return (around, scope) if isinstance(scope, Loop) and isinstance(around, Loop) else (scope,)


def axis_named(scope: MapOrLoop, param: str) -> Axis | Refusal:
    """The axis of a map or loop with this parameter; by default the last one."""
    axes = axes_of(scope)
    named = [axis for axis in axes if axis.param == param] if param else axes[-1:]
    return named[0] if named else Refusal(f"it has no parameter {param!r}: only {', '.join(a.param for a in axes)}")


def cannot_be_split(axis: Axis, size: int) -> Refusal | None:
    """The reason that an axis cannot be divided into tiles of `size` values; None if it can."""
    if size < 1:
        return Refusal(f"a tile of {size} values")
    if not axis.sign:
        return Refusal(f"the step {axis.range.step} of {axis.param!r} is not a number")
    if isinstance(axis.owner, Loop):
        return broken_out_of(axis.owner)
    return None


def broken_out_of(loop: Loop) -> Refusal | None:
    """A block that ends a loop early, such as a `break`; None if all iterations run, or the program raises."""
    found = next((jump for jump in jumps(loop.body) if isinstance(jump, Break)), None)
    return None if found is None else Refusal("a break inside ends it early", (found,))

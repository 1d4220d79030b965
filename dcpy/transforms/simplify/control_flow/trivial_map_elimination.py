"""TrivialMapElimination: parameters of a map that have one value are replaced by it; a map of one point goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.nodes import Map
from dcpy.ir.region import State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, Ranges
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

Values = Mapping[str, Expr]  # of the parameters that have just one


@dataclass(frozen=True)
class TrivialMapElimination(Transformation[Values | None]):
    """Put the body of a map that runs once where the map was; erase a map that never runs.

    before   map i = 3:4, j = 0:N { B[i, j] = A[i] }        after   map j = 0:N { B[3, j] = A[3] }
             map k = 0:1 { C[k] = 1 }                               C[0] = 1

    Applies to each parameter whose range has one value, and to a map with a range proved to be empty.
    """

    name: ClassVar[str] = "trivial-map-elimination"
    map = capture(Map)
    pattern = one(map)

    def plan(self, m: Match) -> Values | Refusal | None:
        """The values of the parameters that have one; None where the map never runs. Refuses other maps."""
        node = m[self.map]
        ranges = m.uses.ranges_at(node)
        if any(never_runs(dim, ranges) for dim in node.domain):
            return None
        single = {
            param: dim.start for param, dim in zip(node.params, node.domain, strict=True) if runs_once(dim, ranges)
        }
        if not single:
            return Refusal("no parameter is proved to have just one value")
        for param in single:  # a range may mention parameters before it
            single[param] = single[param].subs(single)
        return single

    def apply(self, m: Match, plan: Values | None, rw: Rewriter) -> None:
        """Substitute the single values; a map without parameters left is replaced by its body."""
        node = m[self.map]
        if plan is None:
            rw.erase(node)
            return
        pairs = zip(node.params, node.domain, strict=True)
        rest = [(param, dim.subs(plan)) for param, dim in pairs if param not in plan]
        rw.substitute_symbols(plan, node.body)
        rw.update(node, params=tuple(param for param, _ in rest), domain=tuple(dim for _, dim in rest))
        if not rest:
            _unwrap(node, rw)


def runs_once(values: Range, ranges: Ranges) -> bool:
    """Return whether a range is proved to have exactly one value."""
    step = values.step.constant
    if values.size is ONE:
        return True
    if not step:
        return False
    first, end = (values.start, values.stop) if step > 0 else (values.stop, values.start)
    return ranges.proves_lt(first, end) and ranges.proves_le(end, first + abs(step))


def never_runs(values: Range, ranges: Ranges) -> bool:
    """Return whether a range is proved to be empty."""
    step = values.step.constant
    if not step:
        return False
    return ranges.proves_le(values.stop, values.start) if step > 0 else ranges.proves_le(values.start, values.stop)


def _unwrap(node: Map, rw: Rewriter) -> None:
    """Put the body of a map without parameters where the map is: into its state, or between two halves of it."""
    state = node.state
    if state is None or state.region is None:
        return
    rw.hoist_containers(node.body, state.region)
    blocks = list(node.body.blocks)
    match blocks:
        case [State() as only]:
            rw.move_nodes(list(only.nodes), state, state.index(node))
        case _:
            _, alone, _ = rw.split_state(node)
            rw.move_blocks(blocks, state.region, state.region.index(alone))
    rw.erase(node)

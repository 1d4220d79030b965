"""MapFission: the first part of a map's body becomes a map of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.symbolic import ExprLike, sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.cuts import BodyPartition, cut_blocks, cut_of, shared_by


@dataclass(frozen=True)
class MapFission(Transformation[BodyPartition]):
    """Loop fission of a parallel loop nest: give each part of a map's body a map of its own.

    before   map i = 0:N { A[i] = f(X[i]); B[i] = g(A[i]) }
    after    map i = 0:N { A[i] = f(X[i]) }
             map i_1 = 0:N { B[i_1] = g(A[i_1]) }

    The first part has `at` blocks of the body; nodes, where it is one state. No iteration of a map depends on another
    one, so this keeps the meaning where nothing that belongs to one iteration passes from the first part to the
    second (scalar-expansion makes it an array of all), and nothing inside may end the program early. (Ben-Nun et al.,
    Stateful Dataflow Multigraphs, SC 2019.)
    """

    name: ClassVar[str] = "map-fission"
    map = capture(Map)
    pattern = one(map)

    at: int = 1  #: blocks, or nodes, of the first part

    def plan(self, m: Match) -> BodyPartition | Refusal:
        """The parts."""
        node = m[self.map]
        cut = cut_of(node.body, self.at)
        if isinstance(cut, Refusal):
            return cut
        if Effect.ORDERED in effects_of(node):
            return Refusal(f"something inside {Effect.ORDERED.words}")
        for part in leavers(node.body):
            return Refusal(f"a {part.kind} inside may end it before the second part", (part,))
        return shared_by(cut, node.body, m.uses) or cut

    def apply(self, m: Match, plan: BodyPartition, rw: Rewriter) -> tuple[Map, Map]:
        """Return both maps; the first one is the original."""
        first = m[self.map]
        assert first.state is not None
        names: dict[str, ExprLike] = {param: sym(rw.fresh_name(param)) for param in first.params}
        params, domain = (
            tuple(str(name) for name in names.values()),
            tuple(values.subs(names) for values in first.domain),
        )
        second = Map(params, domain, Region(), first.schedule, first.claimed, span=first.span)
        rw.add_node(second, first.state, first.state.index(first) + 1)
        cut_blocks(plan, first.body, second.body, rw)
        rw.substitute_symbols(names, within=second.body)
        return first, second

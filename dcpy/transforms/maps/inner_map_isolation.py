"""IsolateInnerMap: loop fission gives an inner map an outer map of its own, if memory is contiguous along that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.data import Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.maps.map_collapse import MapCollapse
from dcpy.transforms.maps.map_fission import MapFission


@dataclass(frozen=True, slots=True)
class Isolation:
    """The inner map, and the scalars of an iteration that connect the parts of the body."""

    inner: Map
    shared: tuple[str, ...]


@dataclass(frozen=True)
class IsolateInnerMap(Transformation[Isolation]):
    """Loop fission that makes a perfect nest: give an inner map an outer map of its own.

    before   map j = 0:M { t = f(X[j]); map i = 0:N { A[i, j] = g(A[i, j], t) } }
    after    data t: f64[M]
             map j = 0:M { t[j] = f(X[j]) }
             map j = 0:M, i = 0:N { A[i, j] = g(A[i, j], t[j]) }

    In a perfect nest vectors may run along any parameter. Applies if most accesses of the inner map have stride one in
    the outer parameter and a larger stride in the inner one; if the inner range does not depend on the outer parameter;
    if only scalars connect the parts; and if nothing inside ends an iteration early. (Wolfe, High
    Performance Compilers for Parallel Computing, 1996, section 9.3.)
    """

    name: ClassVar[str] = "isolate-inner-map"
    optional: ClassVar[bool] = True
    map = capture(Map)
    pattern = one(map)

    def plan(self, m: Match) -> Isolation | Refusal:
        """The inner map, and the scalars that become arrays."""
        outer = m[self.map]
        if len(outer.params) > 1 or not isinstance(outer.schedule, Undecided):
            return Refusal("the map has several parameters, or a schedule")
        match outer.body.blocks:
            case [State(nodes=nodes)] if len(nodes) > 1:
                inner = next((node for node in nodes if _crosses_memory(node, outer, m.uses)), None)
            case _:
                return Refusal("the body is not a state of several nodes")
        if not isinstance(inner, Map):
            return Refusal(f"no map inside has its memory along {outer.params[0]!r}")
        if Effect.ORDERED in effects_of(outer):
            return Refusal(f"something inside {Effect.ORDERED.words}")
        for part in leavers(outer.body):
            return Refusal(f"a {part.kind} inside may end it before the second part", (part,))
        shared = tuple(name for name in outer.body.containers if len(set(_parts(name, inner, m.uses))) > 1)
        for name in shared:
            if not isinstance(m.uses.desc(name), Scalar):
                return Refusal(f"each iteration has its own array {name!r}, which passes between the parts")
            found = ScalarExpansion(name).plan(Match(m.sdfg, m.uses, {"scope": outer}))
            if isinstance(found, Refusal):
                return found
        return Isolation(inner, shared)

    def apply(self, m: Match, plan: Isolation, rw: Rewriter) -> Map:
        """Return the perfect nest, as one map."""
        outer, inner = m[self.map], plan.inner
        for name in plan.shared:
            _do(ScalarExpansion(name), "scope", outer, rw)
        assert inner.state is not None
        position = inner.state.index(inner)
        if position:
            _, outer = _do(MapFission(position), "map", outer, rw)
        if len(inner.state.nodes) > 1:
            outer, _ = _do(MapFission(1), "map", outer, rw)
        _do(MapCollapse(), "outer", outer, rw)
        return outer


def _do(step: Transformation[Any], name: str, scope: Map, rw: Rewriter) -> Any:
    """Apply a step of the transformation without an entry in the history."""
    match = Match(rw.sdfg, rw.uses, {name: scope})
    plan = step.plan(match)
    assert not isinstance(plan, Refusal), plan.reason
    return step.apply(match, plan, rw)


def _crosses_memory(node: Node, outer: Map, uses: Uses) -> bool:
    """Return whether a map of tasklets is contiguous in memory along the outer parameter, strided along its last one.
    """
    if not isinstance(node, Map) or not isinstance(node.schedule, Undecided):
        return False
    (param,) = outer.params
    tasklets = list(node.body.walk_nodes())
    if any(param in values.symbols for values in node.domain):
        return False
    if not all(isinstance(inner, Tasklet) for inner in tasklets):
        return False
    memlets = [memlet for inner in tasklets for memlet in (*inner.reads(), *inner.writes())]
    return _suits(param, memlets, uses) > 0 > _suits(node.params[-1], memlets, uses)


def _suits(param: str, memlets: Iterable[Memlet], uses: Uses) -> int:
    """The number of unit-stride accesses along a parameter, minus that of strided ones."""
    moving = [memlet for memlet in memlets if param in memlet.subset.symbols]
    return sum(1 if step_of(memlet, param, uses) is ONE else -1 for memlet in moving)


def _parts(name: str, inner: Map, uses: Uses) -> Iterator[int]:
    """The position of each use of a container relative to a map of the same state: -1 before, 0 inside, 1 after."""
    state = inner.state
    assert state is not None
    for user in uses.accessors(name):
        for position, node in enumerate(state.nodes):
            if node is user or is_inside(user, node):
                yield (position > state.index(inner)) - (position < state.index(inner))

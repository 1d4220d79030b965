"""MapVersioning: a version of a map without clamped indices, for operands that are not broadcast at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

from dcpy.ir.editing.cloning import clone
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.region import Branch, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in, replaced
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_versioning import is_the_rest


@dataclass(frozen=True)
class MapVersioning(Transformation["Unclamped"]):
    """Make two versions of a map whose operand may have one element, and choose before the map starts.

    before   map i = 0:T { B[i] = A[min(i, n - 1)] }      after   if T <= n { map i_1 = 0:T { B[i_1] = A[i_1] } }
                                                                  else { map i = 0:T { B[i] = A[min(i, n - 1)] } }

    ``min(i, n - 1)`` is the index into an operand that is as long as the others, or has one element that is repeated
    (`x[::2] + x[1::2]`); no vector instruction loads such elements. Applies if the program computes a size itself:
    checks at its entry handle sizes that are known at the call. Maps of at most `largest` nodes that are in no other
    map are versioned.
    """

    name: ClassVar[str] = "map-versioning"
    optional: ClassVar[bool] = True
    node = capture(Map)
    pattern = one(node)
    largest: int = 40

    def plan(self, m: Match) -> Unclamped | Refusal:
        node = m[self.node]
        if not m.sdfg.assigned_symbols:
            return Refusal("all sizes are known at the entry")
        clamps = tuple(dict.fromkeys(_clamps(node)))
        computed = m.sdfg.assigned_symbols
        if not any(name in computed for clamp in clamps for name in clamp.limit.symbols):
            return Refusal("no index in it depends on how a computed size compares with another one")
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("it is inside of another map")
        if sum(1 for _ in node.body.walk_nodes()) > self.largest:
            return Refusal(f"it has more than {self.largest} nodes")
        condition = _condition(node, clamps)
        if is_the_rest(m.state, condition):
            return Refusal("this version is for the runs in which an element is repeated")
        return Unclamped(condition, clamps)

    def apply(self, m: Match, plan: Unclamped, rw: Rewriter) -> State:
        """Return the state of the version without broadcasts."""
        before, alone, after = rw.split_state(m[self.node])
        fast = clone(alone, rw)
        (quick,) = fast.nodes
        assert isinstance(quick, Map)
        names = {old: sym(new) for old, new in zip(m[self.node].params, quick.params, strict=True)}
        parts = {clamp.index.subs(names): names[clamp.param] for clamp in plan.clamps}
        rest = Region()
        rw.insert_before(alone, Branch([(plan.condition, Region([fast]))], rest, span=alone.span))
        for inner in quick.body.walk_nodes():
            rw.replace_memlets(inner, lambda memlet: replace(memlet, subset=_without(memlet.subset, parts)))
        rw.move_blocks([alone], rest)
        for state in (before, after):
            if not state.nodes:
                rw.erase(state)
        return fast


@dataclass(frozen=True, slots=True)
class Clamp:
    """An index ``min(param, limit)``."""

    index: Expr
    param: str
    limit: Expr


@dataclass(frozen=True, slots=True)
class Unclamped:
    """The guard before the map, and the indices that it turns into plain parameters."""

    condition: ScalarExpr
    clamps: tuple[Clamp, ...]


def _clamps(node: Map) -> Iterator[Clamp]:
    """The clamped parameters in the body of a map, with limits that are known before it starts."""
    inside = {name for region in node.body.walk_regions() for name in region.params}
    fixed = [dim.step is ONE and inside.isdisjoint(dim.symbols) for dim in node.domain]
    params = [param for param, known in zip(node.params, fixed, strict=True) if known]
    for index in dict.fromkeys(part for memlet in _memlets(node) for part in _minima(memlet.subset)):
        for param in params:
            if sym(param) in arguments_of(index):
                limits = [limit for limit in arguments_of(index) if limit is not sym(param)]
                if len(limits) == 1 and inside.isdisjoint(limits[0].symbols):
                    yield Clamp(index, param, limits[0])


def _memlets(node: Map) -> Iterator[Memlet]:
    for inner in node.body.walk_nodes():
        yield from (*inner.reads(), *inner.writes())


def _minima(subset: Subset) -> Iterator[Expr]:
    return (part for dim in subset.dims if isinstance(dim, Expr) for part in functions_in(dim, "min"))


def _condition(node: Map, clamps: tuple[Clamp, ...]) -> ScalarExpr:
    """The condition that the last value of each parameter is within the limit of its index."""
    domain = dict(zip(node.params, node.domain, strict=True))
    pairs = dict.fromkeys((domain[clamp.param].stop, clamp.limit + 1) for clamp in clamps)
    return reduce(lambda a, b: op("and", a, b), [op("le", Index(stop), Index(size)) for stop, size in pairs])


def _without(subset: Subset, parts: dict[Expr, Expr]) -> Subset:
    return Subset(tuple(replaced(dim, parts) if isinstance(dim, Expr) else dim for dim in subset.dims))

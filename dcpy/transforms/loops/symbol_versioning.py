"""SymbolVersioning: a specialized version of a map or loop for assumed values of a symbol, such as multiples of 8."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from dcpy.base.assumptions import Assumption
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.editing.cloning import clone
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.nodes import Map
from dcpy.ir.region import Block, Branch, Loop, Region
from dcpy.ir.symbolic import Expr, Ranges, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_versioning import is_the_rest


@dataclass(frozen=True)
class SymbolVersioning(Transformation[ScalarExpr]):
    """Code versioning: make two versions of a map or loop, the first one under an assumption about a symbol.

    before   map i = 0:N { ... }        after   if N % 8 == 0 { map i_1 = 0:N { ... } }
                                                else { map i = 0:N { ... } }

    In the first version `symbol` lies between `least` and `most` and is a multiple of `multiple_of`; other
    transformations use that, and omit remainder loops, for instance. Keeps the meaning. The symbol must be constant
    in the map or loop, occur in it, and not satisfy the assumption already.
    (Byler et al., Multiple Version Loops, ICPP 1987.)
    """

    name: ClassVar[str] = "symbol-versioning"
    scope: ClassVar[Capture[Map | Loop]] = capture(Map, Loop)
    pattern = one(scope)

    symbol: str = ""
    multiple_of: int = 1
    least: int | None = None
    most: int | None = None

    def plan(self, m: Match) -> ScalarExpr | Refusal:
        """The guard of the first version. Refuses assumptions that are proved already, and symbols that change."""
        scope, assumed = m[self.scope], Assumption(self.least, self.most, self.multiple_of)
        if problem := assumed.problem():
            return Refusal(problem)
        if not any(user is scope or is_inside(user, scope) for user in m.uses.users(self.symbol)):
            return Refusal(f"it mentions no symbol {self.symbol!r}")
        if self.symbol in _changing_in(scope):
            return Refusal(f"{self.symbol!r} has more than one value while it runs")
        tests = _tests(sym(self.symbol), assumed, m.uses.ranges_at(scope))
        if not tests:
            return Refusal(f"of {self.symbol!r} that is known already")
        condition = reduce(lambda left, right: op("and", left, right), tests)
        if is_the_rest(_block_of(scope), condition):
            return Refusal("this version is for the other values")
        return condition

    def apply(self, m: Match, plan: ScalarExpr, rw: Rewriter) -> Block:
        """Return the loop, or the state of the map, of the first version."""
        scope = m[self.scope]
        before, block, after = rw.split_state(scope) if isinstance(scope, Map) else (None, scope, None)
        fast, rest = clone(block, rw), Region()
        rw.insert_before(block, Branch([(plan, Region([fast]))], rest, span=scope.span))
        rw.move_blocks([block], rest)
        for state in (before, after):
            if state is not None and not state.nodes:
                rw.erase(state)
        return fast


def _block_of(scope: Map | Loop) -> Block:
    block = scope.state if isinstance(scope, Map) else scope
    assert block is not None
    return block


def _changing_in(scope: Map | Loop) -> set[str]:
    inside = {name for region in scope.body.walk_regions() for name in region.params}
    return inside | set(symbols_assigned_in(scope.body))


def _tests(symbol: Expr, assumed: Assumption, ranges: Ranges) -> list[ScalarExpr]:
    """The conditions of an assumption that are not proved."""
    value = Index(symbol)
    found: list[ScalarExpr] = []
    if assumed.least is not None and not ranges.proves_le(assumed.least, symbol):
        found.append(op("ge", value, Const(assumed.least, types.int64)))
    if assumed.most is not None and not ranges.proves_le(symbol, assumed.most):
        found.append(op("le", value, Const(assumed.most, types.int64)))
    if ranges.remainder(symbol, assumed.multiple_of) != 0:
        found.append(op("eq", Index(symbol % assumed.multiple_of), Const(0, types.int64)))
    return found

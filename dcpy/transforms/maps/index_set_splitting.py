"""IndexSetSplitting: a map in which an index jumps becomes one map before the jump and one behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.nest_edits import expand_map
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of, min_of, sym
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in, replaced
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class Jump:
    """``max(0, min(1, end - i))``, which is 1 before `end` and 0 from there on."""

    part: Expr
    end: Expr


@dataclass(frozen=True)
class IndexSetSplitting(Transformation[Jump]):
    """Index-set splitting: split the range of a map's last parameter where an index in its body jumps.

    before   map i = 0:N { y[i] = x[i - 1 + N*max(0, min(1, 1 - i))] }
    after    map i = 0:1 { y[i] = x[i - 1 + N] }  map j = 1:N { y[j] = x[j - 1] }

    Applies to jumps ``max(0, min(1, end - i))`` at an `end` that no parameter of the map moves, in maps of at most
    `largest` nodes. Maps of several parameters are expanded first, so that both parts of a row follow each other; jumps
    of outer parameters stay, which loops compute once for each row. (Banerjee, Loop transformations for restructuring
    compilers, 1993.)
    """

    name: ClassVar[str] = "index-set-splitting"
    optional: ClassVar[bool] = True
    node = capture(Map)
    pattern = one(node)
    largest: int = 40

    def plan(self, m: Match) -> Jump | Refusal:
        """The jump. Refuses maps without one."""
        node = m[self.node]
        if node.schedule is not UNDECIDED or node.domain[-1].step is not ONE:
            return Refusal("its schedule is decided, or its steps are longer than 1")
        jump = next(jumps_of(node), None)
        if jump is None:
            return Refusal("no index jumps along its last parameter")
        if any(isinstance(inner, Map) for inner in node.body.walk_nodes()):
            return Refusal("maps are inside of it, which compute an index of outer parameters once for all iterations")
        if sum(1 for _ in node.body.walk_nodes()) > self.largest:
            return Refusal(f"it has more than {self.largest} nodes")
        return jump

    def apply(self, m: Match, plan: Jump, rw: Rewriter) -> tuple[Map, ...]:
        """Return both maps; the first one is the original, or the inner one of its expansion."""
        node = m[self.node]
        ranges, whole = rw.uses.ranges_at(node), node.domain[-1]
        if ranges.proves_le(whole.stop, plan.end) or ranges.proves_le(plan.end, whole.start):
            _replace(node, plan.part, ONE if ranges.proves_le(whole.stop, plan.end) else ZERO, rw)
            return (node,)
        first = expand_map(node, len(node.params) - 1, rw) if len(node.params) > 1 else node
        param, state = first.params[0], first.state
        assert state is not None
        end = ranges.simplify(min_of(max_of(plan.end, whole.start), whole.stop))
        fresh = rw.fresh_name(param)
        rest = clone_body(first.body, {param: sym(fresh)}, rw)
        second = Map((fresh,), (Range(end, whole.stop),), rest, span=first.span)
        rw.add_node(second, state, state.index(first) + 1)
        rw.update(first, domain=(Range(whole.start, end),))
        _replace(first, plan.part, ONE, rw)
        _replace(second, plan.part.subs({param: sym(fresh)}), ZERO, rw)
        return first, second


def _replace(node: Map, part: Expr, value: Expr, rw: Rewriter) -> None:
    """Give a part of indices in the body of a map a value."""

    def change(memlet: Memlet) -> Memlet:
        dims = tuple(replaced(dim, {part: value}) if isinstance(dim, Expr) else dim for dim in memlet.subset.dims)
        return memlet if dims == memlet.subset.dims else replace(memlet, subset=Subset(dims))

    for inner in node.body.walk_nodes():
        rw.replace_memlets(inner, change)


def jumps_of(node: Map) -> Iterator[Jump]:
    """The jumps of indices in the body of a map along its last parameter."""
    for inner in node.body.walk_nodes():
        yield from _jumps_in(inner, node)


def has_jump(inner: Node, node: Map) -> bool:
    """Return whether an index of a node in the body of a map jumps along the map's last parameter."""
    return next(_jumps_in(inner, node), None) is not None


def _jumps_in(inner: Node, node: Map) -> Iterator[Jump]:
    param = sym(node.params[-1])
    memlets = (*inner.inputs.values(), *inner.outputs.values()) if isinstance(inner, Tasklet) else ()
    for memlet in memlets or (*inner.reads(), *inner.writes()):
        for index in memlet.subset.dims:
            for part in _maxima(index) if isinstance(index, Expr) else ():
                room = _room(part)
                if room is not None and not _moves_with(room + param, node):
                    yield Jump(part, room + param)


def _maxima(index: Expr) -> list[Expr]:
    """The maxima in an index. Nearly all have none: each memlet of each map is looked at."""
    for monomial, _ in index.terms:
        for atom, _ in monomial:
            if atom.kind == "max":
                return list(functions_in(index, "max"))
    return []


def _moves_with(end: Expr, node: Map) -> bool:
    """Return whether a parameter of a map, or of one inside of it, moves the end of a jump."""
    inside = {*node.params, *(name for region in node.body.walk_regions() for name in region.params)}
    return not inside.isdisjoint(end.symbols)


def _room(part: Expr) -> Expr | None:
    """The expression that a jump compares with 0, ``end - i`` in ``max(0, min(1, end - i))``; None for other maxima."""
    least = next((arg for arg in arguments_of(part) if arg is not ZERO), ZERO)
    if max_of(ZERO, least) is not part or next(functions_in(least, "min"), None) is not least:
        return None
    room = next((arg for arg in arguments_of(least) if arg is not ONE), ONE)
    return room if min_of(ONE, room) is least else None

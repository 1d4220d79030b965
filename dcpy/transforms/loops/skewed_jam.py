"""SkewedJam: wavefront unroll-and-jam. Several rows of a recurrence run together, each some elements behind another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.dependence_vectors import NestDependences, dependences_between
from dcpy.ir.analysis.dependence.loop_dependences import iterations_have_order
from dcpy.ir.analysis.dependence.loop_nests import Axis, MapOrLoop, params_of, ranges_of
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.editing.nest_edits import groups_and_rest, place_at_end
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, Ranges, max_of, min_of, sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.loops.scatter_privatization import is_the_other_version

ROWS = 4  # that run together: what one waits for, an addition and a division, say, the others fill with theirs
SHIFTS = (1, 2, 3)  # elements by which a row may be behind the one before it
LONGEST = 24  # tasklets of an iteration: more of them have enough to do while one waits


@dataclass(frozen=True, slots=True)
class AlignedScope:
    """A map or loop over a row, and the shift of its parameter against that of the inner loop."""

    scope: MapOrLoop
    shift: Expr

    @property
    def param(self) -> str:
        return params_of(self.scope)[0]

    @property
    def range(self) -> Range:
        return ranges_of(self.scope)[0]


@dataclass(frozen=True, slots=True)
class Rows:
    """The scopes of a row, in order, the inner loop last; the shift between rows; the condition of equal ranges."""

    parts: tuple[AlignedScope, ...]
    inner: Loop
    shift: int
    temporaries: tuple[str, ...]
    condition: ScalarExpr | None
    groups: Range
    rest: Range | None


@dataclass(frozen=True)
class SkewedJam(Transformation[Rows]):
    """Loop skewing with unroll-and-jam: a wavefront of a few rows, whose chains of operations do not wait for another.

    before   loop i = 1:N { map j = 0:M { t[j] = g(A[i - 1, j + 1]) }
                            loop j = 1:M { A[i, j] = f(A[i, j - 1], t[j]) } }
    after    loop i = 1:N:2 { loop j = 1:3 { row i at j }                          (the head start that it needs)
                              loop j = 3:M { row i at j; row i + 1 at j - 2 }
                              loop j = M - 2:M { row i + 1 at j } }                (and what is left over for i + 1)

    A recurrence takes the latency of its operations for each element, while the processor could work on other elements:
    with four rows it does. Maps before the inner loop join it, and rows of temporaries become scalars. Applies where
    each element needs others at constant distances, none of them further ahead in the row before than three elements;
    the order of operations for each element stays what it is. (Wolfe, Loop Skewing: The Wavefront Method Revisited,
    1986; Callahan, Cocke and Kennedy, Estimating Interlock and Improving Balance, 1988.)
    """

    name: ClassVar[str] = "skewed-jam"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Rows | Refusal:
        """The parts of a row. Refuses dependences on elements further ahead, and names the accesses."""
        outer, uses = m[self.loop], m.uses
        parts = _parts_of(outer)
        if isinstance(parts, Refusal):
            return parts
        inner = parts[-1].scope
        assert isinstance(inner, Loop)
        obstacle = iterations_have_order(inner.body, outer.body, uses)
        if obstacle:
            return obstacle
        temporaries = _rows_of_scalars(outer, parts, uses)
        if isinstance(temporaries, Refusal):
            return temporaries
        ranges, condition = uses.ranges_at(outer), _same_ranges(parts)
        if ranges.proves_lt(outer.range.size_within(ranges), ROWS):
            return Refusal(f"there are fewer than {ROWS} rows")
        if condition is not None and is_the_other_version(outer, condition):
            return Refusal("this version is for parts that do not run through the same elements")
        accesses = [_aligned(part, inner, temporaries, uses) for part in parts]
        shift = _shift_of(accesses, (Axis(outer), Axis(inner)), ranges)
        if isinstance(shift, Refusal):
            return shift
        groups, rest = groups_and_rest(outer.range, ROWS, ranges)
        if rest is not None and not ranges.proves_lt(rest.size_within(ranges), ROWS):
            return Refusal(f"how many rows are left over is not known: {rest}")  # they would be divided again
        return Rows(parts, inner, shift, temporaries, condition, groups, rest)

    def apply(self, m: Match, plan: Rows, rw: Rewriter) -> Loop:
        """Return the loop over groups of rows, which is the original."""
        outer, inner = m[self.loop], plan.inner
        if plan.condition is not None:
            equal, otherwise = Region(), Region()
            rw.insert_before(outer, Branch([(plan.condition, equal)], otherwise, span=outer.span))
            rw.insert(clone(outer, rw), otherwise)
            rw.move_blocks([outer], equal)
        if plan.rest is not None:
            rest = clone(outer, rw)
            rw.insert_after(outer, rest)
            rw.update(rest, range=plan.rest)
        _join(plan, rw)
        row, element, step = sym(outer.param), sym(inner.param), outer.range.step
        start, stop, shift, last = inner.range.start, inner.range.stop, plan.shift, ROWS - 1

        def alone(number: int, begin: Expr, end: Expr) -> Loop:
            param = rw.fresh_name(inner.param)
            values = {outer.param: row + step * number, inner.param: sym(param)}
            return Loop(param, Range(begin, end), clone_body(inner.body, values, rw), span=inner.span)

        heads = [alone(number, start, min_of(stop, start + shift * (last - number))) for number in range(last)]
        tails = [
            alone(number, max_of(start + shift * (last - number), stop - shift * number), stop)
            for number in range(1, ROWS)
        ]
        behind = [
            clone_body(inner.body, {outer.param: row + step * number, inner.param: element - shift * number}, rw)
            for number in range(1, ROWS)
        ]
        for head in heads:
            rw.insert_before(inner, head)
        for tail in reversed(tails):
            rw.insert_after(inner, tail)
        for body in behind:
            place_at_end(body, inner.body, rw)
        rw.update(inner, range=Range(start + shift * last, stop))
        rw.update(outer, range=plan.groups)
        return outer


def _join(plan: Rows, rw: Rewriter) -> None:
    """Move the maps of a row into its loop, before the loop's body."""
    inner, place = plan.inner, 0
    for part in plan.parts[:-1]:
        node = part.scope
        assert isinstance(node, Map)
        rw.substitute_symbols({part.param: sym(inner.param) - part.shift}, within=node.body)
        rw.hoist_containers(node.body, inner.body)
        blocks = list(node.body.blocks)
        rw.move_blocks(blocks, inner.body, place)
        place += len(blocks)
        state = node.state
        assert state is not None
        rw.erase(node)
        if not state.nodes:
            rw.erase(state)
    for name in plan.temporaries:
        shrink(name, (), inner, rw)


def _parts_of(outer: Loop) -> tuple[AlignedScope, ...] | Refusal:
    """The maps over a row and the loop after them. Refuses other bodies, and elements of more than a few tasklets."""
    *states, inner = outer.body.blocks or [State()]
    if not isinstance(inner, Loop) or inner.range.step is not ONE or outer.range.step.constant not in (1, -1):
        return Refusal("the body does not end with a loop in steps of one, in one that goes row by row")
    if outer.param in inner.range.symbols:
        return Refusal(f"the range {inner.range} of {inner.param!r} depends on {outer.param!r}")
    nodes = [node for state in states if isinstance(state, State) for node in state.nodes]
    if not all(isinstance(state, State) for state in states) or not all(isinstance(node, Map) for node in nodes):
        return Refusal("before the inner loop there is more than maps")
    maps = [node for node in nodes if isinstance(node, Map)]
    for node in maps:
        if len(node.params) > 1 or node.domain[0].step is not ONE or outer.param in node.domain[0].symbols:
            return Refusal("a map before the inner loop does not go along the row alone", (node,))
    scopes: list[MapOrLoop] = [*maps, inner]
    bodies = [block for scope in scopes for block in scope.body.walk_blocks()]
    tasklets = [node for scope in scopes for node in scope.body.walk_nodes()]
    if not all(isinstance(block, State) for block in bodies) or not all(isinstance(n, Tasklet) for n in tasklets):
        return Refusal("an element is more than tasklets")
    if len(tasklets) > LONGEST:
        return Refusal(f"an element is {len(tasklets)} tasklets, more than {LONGEST}")
    return tuple(AlignedScope(scope, inner.range.start - ranges_of(scope)[0].start) for scope in scopes)


def _rows_of_scalars(outer: Loop, parts: Sequence[AlignedScope], uses: Uses) -> tuple[str, ...] | Refusal:
    """The arrays of an iteration, each of whose elements is written before it is read at the same element."""
    inner = parts[-1].scope
    assert isinstance(inner, Loop)
    found = []
    for name, desc in outer.body.containers.items():
        if not isinstance(desc, Array) or len(desc.shape) != 1 or len(uses.overlapping(name)) > 1:
            return Refusal(f"{name!r} is no array with an element for each of the row")
        accesses = [access for part in parts for access in _aligned(part, inner, (), uses) if access.root == name]
        places = {access.subset for access in accesses}
        if len(places) > 1 or not accesses or not accesses[0].is_write or accesses[0].wcr or not accesses[0].is_sure():
            return Refusal(f"{name!r} passes values from one element of a row to another")
        (place,) = places
        index = place.dims[0] if place is not None else None
        if not isinstance(index, Expr) or inner.param in (sym(inner.param) - index).symbols:
            return Refusal(f"{name!r} has no element for each of the row")
        found.append(name)
    return tuple(found)


def _aligned(part: AlignedScope, inner: Loop, without: Sequence[str], uses: Uses) -> list[MemoryAccess]:
    """The accesses of a part, in terms of the inner loop's parameter."""
    values = {part.param: sym(inner.param) - part.shift}
    accesses = [access for access in accesses_of_body(part.scope, uses) if access.root not in without]
    return accesses if part.scope is inner else [access.subs(values) for access in accesses]


def _shift_of(accesses: Sequence[Sequence[MemoryAccess]], axes: tuple[Axis, Axis], ranges: Ranges) -> int | Refusal:
    """The number of elements by which a row must follow the previous row; or the reason that there is none.

    The parts of a row must give the same results element by element as one after the other.
    """
    for number, earlier in enumerate(accesses):
        later = [access for part in accesses[number + 1 :] for access in part]
        turned = dependences_between(earlier, later, axes, ranges).obstacle("d0 = 0 and d1 < 0")
        if turned:
            return turned
    everything = [access for part in accesses for access in part]
    dependences = dependences_between(everything, everything, axes, ranges)
    if not _is_chain(dependences):
        return Refusal(f"no element waits for the one before it in its row, over {axes[1].param!r}")
    obstacle: Refusal | None = None
    for shift in SHIFTS:
        obstacle = dependences.obstacle(f"0 < d0 < {ROWS} and d1 <= -{shift}*d0")
        if obstacle is None:
            return shift
    assert obstacle is not None  # the last shift was refused, too
    return obstacle


def _is_chain(dependences: NestDependences) -> bool:
    """Return whether each element depends on the previous element of its row."""
    flow = (one for one in dependences.dependences if one.source.is_write and (not one.sink.is_write or one.sink.wcr))
    return any(not one.has("d0 = 0 and d1 = 1").is_no for one in flow)


def _same_ranges(parts: Sequence[AlignedScope]) -> ScalarExpr | None:
    """The condition that all parts have the same range; None if that is proved."""
    stop = parts[-1].range.stop
    ends = dict.fromkeys(end for part in parts if (end := part.range.stop + part.shift) != stop)
    tests = [op("eq", Index(end), Index(stop)) for end in ends]
    return reduce(lambda left, right: op("and", left, right), tests) if tests else None

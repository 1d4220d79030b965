"""ChosenIteration: argmax and last-value idioms. A reduction finds the one iteration whose result survives the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Scalar
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.expressions.ops import MIRRORED
from dcpy.ir.expressions.scalar import (
    Const,
    Index,
    Load,
    Op,
    Ref,
    ScalarExpr,
    loads_of,
    op,
    rewrite,
    substitute_symbols,
)
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import Branch, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.inspectors import over_connectors

_LARGER = {"gt": "max", "ge": "max", "lt": "min", "le": "min"}


@dataclass(frozen=True)
class ChosenIteration(Transformation["Choice"]):
    """Find the iteration whose result survives by reductions, and run the branch for it alone, after the loop.

    before   loop i = 0:N { if A[i] > m { m = A[i]; let k = i } }
    after    loop i = 0:N { best (max)= A[i] }
             loop i = 0:N { place (min)= select(A[i] == best, i, N) }
             if best > m and place < N { m = A[place]; let k = place }

    before   loop i = 0:N { if A[i] < 0 { let k = i } }
    after    loop i = 0:N { place (max)= select(A[i] < 0, i, -1) }
             if place >= 0 { let k = place }

    Applies to a branch directly in a loop, which writes nothing that the rest of the loop touches, and each time the
    same elements and symbols; what it reads and what it asks, the loop does not write. It asks either nothing of what
    it keeps, so the last iteration counts, or whether a value is larger (smaller) than what it keeps of it: then the
    first iteration with the largest value counts, or the last one, if equal ones overwrite. NaN is never larger.
    """

    name: ClassVar[str] = "chosen-iteration"
    branch = capture(Branch)
    pattern = one(branch)

    def plan(self, m: Match) -> Choice | Refusal:
        """The loop and the criterion that chooses an iteration. Refuses other branches, with the reason."""
        branch = m[self.branch]
        loop = next(owners_around(branch), None)
        if not isinstance(loop, Loop) or branch not in loop.body.blocks:
            return Refusal("it is not directly in a loop")
        if len(branch.cases) != 1 or branch.otherwise is not None:
            return Refusal("it has more than one case")
        if loop.range.step is not ONE:
            return Refusal("the values of its loop do not go up one by one")
        if any(leavers(loop.body)):
            return Refusal("something inside may leave the loop early")
        kept = _kept(branch, loop)
        if isinstance(kept, Refusal):
            return kept
        return _why_not(branch, loop, kept, m.uses) or _choice(branch, loop, kept, m.uses)

    def apply(self, m: Match, plan: Choice, rw: Rewriter) -> None:
        branch, loop = m[self.branch], plan.loop
        _, body = branch.cases[0]
        behind = sym(rw.fresh_name("place"))
        place = rw.declare_fresh("place_found", Scalar(types.int64, transient=True), loop.region)
        chosen = clone_body(body, {loop.param: behind}, rw)
        found = _found(plan, loop.range, sym(str(behind)))
        rw.sdfg.assign_symbol(str(behind))
        none = Index(loop.range.start - 1 if plan.last else loop.range.stop)
        conditions = [found]
        if plan.value is None:
            rw.replace(branch, _note(place, plan, plan.condition, Index(sym(loop.param)), none))
            rw.insert_before(loop, _set(place, none))
        else:
            best = self._extremum(branch, plan, rw)
            kept = Load(plan.value.kept.container, plan.value.kept.subset.indices, plan.value.dtype)
            conditions.append(op(plan.value.comparison, Load(best, (), plan.value.dtype), kept))
            number = rw.fresh_name(loop.param)
            value = substitute_symbols(plan.value.value, {loop.param: sym(number)})
            is_best = op("eq", value, Load(best, (), plan.value.dtype))
            second = Loop(number, loop.range, Region(), span=branch.span)
            second.body.add(_note(place, plan, is_best, Index(sym(number)), none))
            rw.insert_after(loop, _set(place, none), second)
            loop = second
        test = reduce(lambda left, right: op("and", left, right), conditions)
        rw.insert_after(
            loop,
            SymbolAssign(str(behind), Load(place, (), types.int64), span=branch.span),
            Branch([(test, chosen)], span=branch.span),
        )

    def _extremum(self, branch: Branch, plan: Choice, rw: Rewriter) -> str:
        """Replace the branch by a reduction for the largest value; return the name of its result."""
        assert plan.value is not None
        dtype, loop = plan.value.dtype, plan.loop
        best = rw.declare_fresh("best", Scalar(dtype, transient=True), loop.region)
        worst = Const(extreme_value(plan.value.kind, dtype), dtype)
        inputs, value = over_connectors(plan.value.value)
        if dtype.is_inexact:
            value = op("select", op("eq", value, value), value, worst)
        step = Tasklet(inputs, {"out": Memlet(best, Subset(), plan.value.kind)}, (("out", value),), span=branch.span)
        rw.replace(branch, State(nodes=[step], span=branch.span))
        rw.insert_before(loop, _set(best, worst))
        return best


@dataclass(frozen=True, slots=True)
class Compared:
    """``if value <comparison> kept: kept = value``"""

    comparison: str
    value: ScalarExpr
    kept: Memlet

    @property
    def dtype(self) -> types.DType:
        return self.value.dtype

    @property
    def kind(self) -> str:
        """The conflict resolution that computes the final value: max or min."""
        return _LARGER[self.comparison]


@dataclass(frozen=True, slots=True)
class Choice:
    """The loop, the condition of the branch, and whether the `last` iteration counts; with `value`, the last, or
    first, of those with the largest value."""

    loop: Loop
    condition: ScalarExpr
    last: bool
    value: Compared | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The writes of a branch: elements, each with its tasklet and connector, and symbols."""

    memlets: tuple[tuple[Memlet, Tasklet, str], ...]
    symbols: tuple[str, ...]

    def containers(self, uses: Uses) -> list[str]:
        """The containers of these elements, under all of their names."""
        return [name for memlet, _, _ in self.memlets for name in uses.overlapping(memlet.container)]


def _kept(branch: Branch, loop: Loop) -> Kept | Refusal:
    """The writes of a branch, the same in each iteration. Refuses more than states of tasklets and assignments."""
    body = branch.cases[0][1]
    changing = {loop.param, *symbols_assigned_in(loop.body)}
    memlets: list[tuple[Memlet, Tasklet, str]] = []
    for block in body.blocks:
        nodes: Sequence[object] = block.nodes if isinstance(block, State) else ()
        if type(block) is not SymbolAssign and not isinstance(block, State):
            return Refusal(f"there is a {block.kind} in it", (block,))
        for node in nodes:
            if not isinstance(node, Tasklet):
                return Refusal("something in it is no tasklet")
            memlets += [(memlet, node, name) for name, memlet in node.outputs.items()]
    if body.containers:
        return Refusal("it declares containers")
    for memlet, node, _ in memlets:
        if memlet.wcr or memlet.dynamic or not changing.isdisjoint(memlet.subset.symbols):
            return Refusal(f"it does not write {memlet} each time", (node,))
    return Kept(tuple(memlets), tuple(symbols_assigned_in(body)))


def _why_not(branch: Branch, loop: Loop, kept: Kept, uses: Uses) -> Refusal | None:
    """The obstacle to running the branch after the loop; None if there is none."""
    inside = [part for part in _parts(branch.cases[0][1])]
    own, names = [branch, *inside], kept.containers(uses)
    for name in names:
        for accessor in uses.accessors(name):
            if is_inside(accessor, loop.body) and accessor not in own:
                return Refusal(f"{name!r} is also touched by {accessor.kind} in the loop", (accessor,))
    for symbol in kept.symbols:
        users = (*uses.users(symbol), *uses.definers(symbol))
        if any(is_inside(user, loop.body) and user not in own for user in users):
            return Refusal(f"symbol {symbol!r} is also used elsewhere in the loop")
    for part in inside:
        mine = next((name for name in uses.accesses(part).reads if name in names), None)
        if mine is not None:
            return Refusal(f"it reads {mine!r}, which it keeps", (part,))
    return _changes(own, loop, names, uses)


def _changes(
    own: Sequence[Branch | SymbolAssign | Tasklet], loop: Loop, names: Sequence[str], uses: Uses
) -> Refusal | None:
    """A value other than the iteration that the branch depends on and the loop changes; None if there is none."""
    assigned = {*symbols_assigned_in(loop.body)}
    for part in own:
        accesses = uses.accesses(part)
        if not assigned.isdisjoint(accesses.symbols):
            return Refusal("it uses a symbol that the loop assigns", (part,))
        for name in accesses.reads:
            aliases = () if name in names else uses.overlapping(name)
            writer = next((w for alias in aliases for w in uses.writers(alias) if is_inside(w, loop.body)), None)
            if writer is not None:
                return Refusal(f"{name!r}, which it reads, is written in the loop", (writer,))
    return None


def _choice(branch: Branch, loop: Loop, kept: Kept, uses: Uses) -> Choice | Refusal:
    """The criterion that chooses the iteration: a condition, or the largest value."""
    condition = branch.cases[0][0]
    mine = kept.containers(uses)
    if not any(load.container in mine for load in loads_of(condition)):
        return Choice(loop, condition, last=True)
    if not isinstance(condition, Op) or condition.name not in _LARGER:
        return Refusal("it asks something of what it keeps that is no comparison")
    for memlet, node, connector in kept.memlets:
        value = _value_of(node, connector)
        if value is None or value.dtype.kind not in "iuf":
            continue
        target = Load(memlet.container, memlet.subset.indices, value.dtype)
        for (left, right), name in (
            (condition.args, condition.name),
            (condition.args[::-1], MIRRORED[condition.name]),
        ):
            if (left, right) == (value, target):
                return Choice(loop, condition, name in ("ge", "le"), Compared(name, value, memlet))
    return Refusal("it does not keep the value that it compares")


def _value_of(node: Tasklet, connector: str) -> ScalarExpr | None:
    """The expression, over memory, that a tasklet writes; None if the tasklet has several steps."""
    code = dict(node.code)
    if set(code) != set(node.outputs):
        return None

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Ref) or part.name not in node.inputs:
            return None
        memlet = node.inputs[part.name]
        return Load(memlet.container, memlet.subset.indices, part.dtype)

    return rewrite(code[connector], load)


def _parts(region: Region) -> Iterator[SymbolAssign | Tasklet]:
    yield from (block for block in region.blocks if isinstance(block, SymbolAssign))
    yield from (node for node in region.walk_nodes() if isinstance(node, Tasklet))


def _note(place: str, plan: Choice, condition: ScalarExpr, iteration: ScalarExpr, none: ScalarExpr) -> State:
    """A state that records the last iteration (or the first one) in which the condition holds."""
    inputs, test = over_connectors(condition)
    out = Memlet(place, Subset(), "max" if plan.last else "min")
    return State(nodes=[Tasklet(inputs, {"out": out}, (("out", op("select", test, iteration, none)),))])


def _set(name: str, value: ScalarExpr) -> State:
    return State(nodes=[Tasklet({}, {"out": Memlet(name, Subset())}, (("out", value),))])


def _found(plan: Choice, values: Range, place: Expr) -> ScalarExpr:
    """The condition that some iteration was chosen."""
    if plan.last:
        return op("ge", Index(place), Index(values.start))
    return op("lt", Index(place), Index(values.stop))

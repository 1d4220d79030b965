"""Path values: what a scalar expression comes to at a place, over symbols, along each path that leads there.

A scalar is read where the last write before the place, in program order, has put it: its value is that of the tasklet
that wrote it, forward substituted. Where a branch lies between, each of its sides is a path of its own, on which its
condition holds or does not: ``if k < 0: k = 0`` leaves 0 on one path and a `k` of at least 0 on the other one. What is
not known (an element that is read, what a loop carries) is a symbol of its own, with the limits of its dtype. So the
questions are those of `Ranges`: "yes" is a proof on all paths, "no" means only "not proved".
(Tu and Padua, Gated SSA-based demand-driven symbolic analysis for parallelizing compilers, 1995.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice, takewhile

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.branch_facts import OPPOSITE, comparison_facts
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.reaching_definitions import (
    Evaluation,
    RegionEntry,
    evaluation_of_memlet,
    steps_backwards,
    steps_before,
    tasklet_write,
)
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.data import Scalar, Stream
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, ScalarExpr, WrapIndex, loads_of, op
from dcpy.ir.nodes import Copy, Tasklet
from dcpy.ir.region import Branch, Check, Resize, SymbolAssign, While
from dcpy.ir.symbolic import ZERO, Expr, Ranges, const, max_of, min_of, sym
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in, replaced
from dcpy.ir.symbolic.intervals import Interval, SymbolIntervals
from dcpy.ir.tree import Element, may_complete
from dcpy.ir.types import DType

MOST_CHOICES = 4  # between sides on one path
MOST_STEPS = 64  # before a place that are looked at for what they test
MOST_TESTS = 16  # of these that are taken into account: proofs take longer the more is known
MOST_VALUES = 120  # that are evaluated on one path
MOST_TRIES = 3  # of a question about one block that stays unanswered while passes change what is around it


_TRIES = "unanswered"  # what `Uses.facts` keeps of a block


def holds_on_all_paths(condition: ScalarExpr, place: Element, uses: Uses) -> bool:
    """Return whether a condition surely holds whenever control reaches a place.

    It is one of integers: comparisons, ``and``, ``or``, ``not``, and whether a result fits into 64 bits.
    """
    return wanted_on_all_paths(condition, place, uses, frozenset()) == ()


def wanted_on_all_paths(
    condition: ScalarExpr, place: Element, uses: Uses, known: Collection[str]
) -> tuple[Expr, ...] | None:
    """Return expressions over `known` symbols that are all at least 0 only if a condition holds whenever control
    reaches a place: () where it surely does, None where these symbols do not tell.

    Minima are terms of expressions first; where that proves nothing, their sides are paths, on which more follows.
    """
    tries, key = uses.facts(place), (_TRIES, condition, bool(known))
    if tries.get(key, 0) == MOST_TRIES:
        return None
    question = _ConditionQuestion(condition, place, uses, known)
    found = _wanted(question)
    if found is None and question.extrema:
        found = _wanted(replace(question, by_paths=True))
    if found is None:
        tries[key] = tries.get(key, 0) + 1
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _ConditionQuestion:
    condition: ScalarExpr
    place: Element
    uses: Uses
    known: Collection[str]
    by_paths: bool = False  # minima and maxima, too
    extrema: list[Op] = field(default_factory=list)  # that were met


def _wanted(question: _ConditionQuestion) -> tuple[Expr, ...] | None:
    pending: list[dict[Hashable, int]] = [{}]
    failed: list[dict[Hashable, int]] = []  # which may be impossible with what is wanted on other ones
    wanted: dict[Expr, None] = {}
    while True:
        if not pending:
            if not failed or not wanted:
                return None if failed else tuple(wanted)
            pending, failed, question = failed, [], replace(question, known=())
        choices = pending.pop()
        path = _PathToPlace(question, choices, wanted)
        try:
            if path.proves(question.condition):
                wanted |= path.wanted
            elif question.known:
                failed.append(choices)
            else:
                return None
        except _UndecidedSide as fork:
            if len(choices) == MOST_CHOICES or fork.sides > 4:
                return None
            pending += [{**choices, fork.at: side} for side in range(fork.sides)]
        except _NotTaken:
            pass
        except _TooLong:
            return None


class _UndecidedSide(Exception):
    """The path goes on in several ways: which one it takes has not been chosen."""

    def __init__(self, at: Hashable, sides: int) -> None:
        super().__init__(at)
        self.at, self.sides = at, sides


class _NotTaken(Exception):
    """No run takes this path: what holds on it contradicts itself."""


class _TooLong(Exception):
    """The path has more expressions than are looked at."""


class _PathToPlace:
    """One path to a place: the sides of branches and selections that it takes are `choices`.

    What is to be proved and does not follow is `wanted`, where it is about the symbols `known`.
    """

    def __init__(self, question: _ConditionQuestion, choices: Mapping[Hashable, int], assumed: Iterable[Expr]) -> None:
        self.place, self.uses, self.known = question.place, question.uses, question.known
        self.question, self.choices = question, choices
        self.wanted: dict[Expr, None] = {}
        self.ranges: Ranges = reduce(Ranges.narrowed, assumed, self.uses.ranges_at(self.place))
        self._sizes = frozenset(self.uses.sdfg.sizes)
        self._unknown: dict[Hashable, Expr] = {}
        self._left = MOST_VALUES
        self._assumed: set[Hashable] = set()
        self._values: dict[Hashable, Expr] = {}
        self._read: set[str] = set()

    # -- conditions ------------------------------------------------------------------------------------------------

    def proves(self, condition: ScalarExpr) -> bool:
        """Return whether a condition holds at the place."""
        asked = Evaluation(condition, self.place)
        if self._holds(asked, self._proves):
            return True
        for test, holds in islice(self._tests_before(), MOST_TESTS):
            self._assume(test, holds=holds)
        return self._holds(asked, self._follows)

    def _holds(self, test: Evaluation, follows: Callable[[Expr], bool]) -> bool:
        match test.expr:
            case Op(name="not", args=(Op(name=name, args=args, dtype=dtype),)) if name in OPPOSITE:
                return self._holds(test.part(Op(OPPOSITE[name], args, dtype)), follows)
            case Op(name="and" | "bitand", args=(left, right), dtype=types.bool_):
                return self._holds(test.part(left), follows) and self._holds(test.part(right), follows)
            case Op(name="or" | "bitor", args=(left, right), dtype=types.bool_):
                return self._holds(test.part(left), follows) or self._holds(test.part(right), follows)
            case Op(name="add_fits" | "sub_fits" | "mul_fits" as name, args=(left, right)):
                exact = _COMBINED[name.removesuffix("_fits")](self.value(test.part(left)), self.value(test.part(right)))
                return self._fits(exact, types.int64)
            case Op(name=name) if name in OPPOSITE:
                facts = self._comparison(test, holds=True)
                return bool(facts) and all(map(follows, facts))
        return False

    def _proves(self, fact: Expr) -> bool:
        return self.ranges.proves_nonneg(fact)

    def _follows(self, fact: Expr) -> bool:
        """Return whether an expression is at least 0, if what is `wanted` then is."""
        if self.ranges.proves_nonneg(fact):
            return True
        if self.known and all(name in self.known for name in fact.symbols):
            return self._want(fact)
        for kind in ("min", "max"):
            for part in functions_in(fact, kind):
                sides = (replaced(fact, {part: arg}) for arg in arguments_of(part))
                slope = replaced(fact, {part: ZERO}) - fact
                if slope is -part:
                    return (all if kind == "min" else any)(map(self._follows, sides))
        return False

    def _want(self, fact: Expr) -> bool:
        if not fact.symbols or not all(name in self.known for name in fact.symbols):
            return False
        if self.ranges.proves_nonneg(-fact - 1):
            return False
        self.wanted[fact] = None
        self.ranges = self.ranges.narrowed(fact)
        return True

    def _assume(self, test: Evaluation, *, holds: bool) -> None:
        """Take for granted that a condition holds, or does not; `_NotTaken` where it cannot be so."""
        match test.expr:
            case Op(name="not", args=(arg,)):
                self._assume(test.part(arg), holds=not holds)
            case Op(name="and" | "bitand" | "or" | "bitor" as name, args=args, dtype=types.bool_):
                for arg in args if name in (("and", "bitand") if holds else ("or", "bitor")) else ():
                    self._assume(test.part(arg), holds=holds)
            case Op(name=name) if name in OPPOSITE:
                for fact in self._comparison(test, holds=holds):
                    if self.ranges.proves_nonneg(-fact - 1):
                        raise _NotTaken
                    self.ranges = self.ranges.narrowed(fact)
            case Ref(name=name) if name in test.refs:
                self._assume(test.refs[name], holds=holds)
            case Load(container=name, indices=()) if isinstance(found := self._last_write(name, test), Evaluation):
                self._assume(found, holds=holds)

    def _comparison(self, test: Evaluation, *, holds: bool) -> tuple[Expr, ...]:
        """Return expressions that are at least 0 where a comparison of integers is true, or false."""
        assert isinstance(test.expr, Op)
        left, right = test.expr.args
        if left.dtype not in _KNOWN:
            return ()
        name = test.expr.name if holds else OPPOSITE[test.expr.name]
        return comparison_facts(name, self.value(test.part(left)), self.value(test.part(right)))

    def _tests_before(self) -> Iterator[tuple[Evaluation, bool]]:
        """The conditions on what the question reads that have been tested on the way to the place, the last one first,
        and whether they hold.
        """
        read = frozenset(self._read)
        for step in islice(steps_before(self.place), MOST_STEPS):
            for test, holds in _tests_of(step):
                loads = loads_of(test.expr)
                if not loads or any(load.container in read for load in loads):
                    yield test, holds

    # -- values ----------------------------------------------------------------------------------------------------

    def value(self, written: Evaluation) -> Expr:
        """Return the value of an integer expression: a symbol of its own where no more is known."""
        key = written.expr, written.at, written.at_head
        if key not in self._values:
            self._left -= 1
            if self._left < 0:
                raise _TooLong
            self._values[key] = self._value(written)
        return self._values[key]

    def _value(self, written: Evaluation) -> Expr:
        dtype = written.expr.dtype
        match written.expr:
            case Const(value=value) if dtype in _KNOWN:
                return const(int(value.real))
            case Index(value=value):
                return self._over_symbols(value, written)
            case Ref(name=name) if name in written.refs:
                return self.value(written.refs[name])
            case Load():
                return self._loaded(written.expr, written)
            case WrapIndex(size=size):
                return self._new((written.expr, written.at), types.int64, (ZERO, size - 1))
        found = self._computed(written)
        if found is None or not self._fits(found, dtype):
            return self._new((written.expr, written.at), dtype)
        return found

    def _computed(self, written: Evaluation) -> Expr | None:
        """Return the value of an operation on integers, as an exact number; None where it is not known."""
        match written.expr:
            case Cast(arg=arg) if arg.dtype in _KNOWN:
                return self.value(written.part(arg))
            case Op(name="select", args=(_, chosen, _)) if chosen.dtype in _KNOWN:
                return self._selected(written.expr, written)
            case Op(name=name, args=args) if len(args) < 3 and all(arg.dtype in _KNOWN for arg in args):
                values = [self.value(written.part(arg)) for arg in args]
                if name == "bitand":
                    return self._masked(values, written)
                return _COMBINED[name](*values) if name in _COMBINED else self._operation(name, values)
        return None

    def _operation(self, name: str, values: list[Expr]) -> Expr | None:
        """Return the value of an operation that asks for more than its operands."""
        match name, values:
            case "abs", (x,):
                return x if self.ranges.proves_nonneg(x) else max_of(x, -x)
            case "mod" | "floordiv", (x, y) if self.ranges.proves_nonneg(y - 1) or self._want(y - 1):
                return x % y if name == "mod" else x // y
            case "rshift" | "lshift", (x, Expr(constant=int() as count)) if 0 <= count < 63:
                return x // (1 << count) if name == "rshift" else x * (1 << count)
        return None

    def _masked(self, values: list[Expr], written: Evaluation) -> Expr | None:
        """Return a value of which only bits of a number that is not negative are left."""
        most = [value for value in values if self.ranges.proves_nonneg(value)]
        return self._new((written.expr, written.at), written.expr.dtype, (ZERO, min_of(*most))) if most else None

    def _selected(self, expr: Op, written: Evaluation) -> Expr | None:
        """Return the side of a selection that this path takes; of one by size the minimum, or the maximum."""
        condition, chosen, other = expr.args
        extremum = None if self.question.by_paths else _extremum(condition, chosen, other)
        if extremum is not None:
            self.question.extrema.append(expr)
            return extremum(self.value(written.part(chosen)), self.value(written.part(other)))
        test = written.part(condition)
        if self._holds(test, self._proves):
            return self.value(written.part(chosen))
        side = self._chosen((expr, written.at), 2)
        if (expr, written.at) not in self._assumed:
            self._assumed.add((expr, written.at))
            self._assume(test, holds=side == 0)
        return self.value(written.part(other if side else chosen))

    def _chosen(self, at: Hashable, sides: int) -> int:
        if at not in self.choices:
            raise _UndecidedSide(at, sides)
        return self.choices[at]

    def _loaded(self, load: Load, written: Evaluation) -> Expr:
        """Return what a container holds: of an array that is never written, the same for the same element."""
        self._read.add(load.container)
        if not load.indices:
            found = self._last_write(load.container, written)
            if isinstance(found, Evaluation):
                return self.value(found)
            return self._new(found, load.dtype)
        written_to = any(map(self.uses.writers, self.uses.overlapping(load.container)))
        if written_to or isinstance(self.uses.desc(load.container), Stream):
            return self._new((load, written.at), load.dtype)
        return self._new((load.container, *(self._over_symbols(at, written) for at in load.indices)), load.dtype)

    def _over_symbols(self, value: Expr, written: Evaluation) -> Expr:
        """Return a value over symbols, where those that are assigned have the values that they had there."""
        return value.subs({name: self._symbol(name, written) for name in value.symbols if self._assigns(name)})

    def _symbol(self, name: str, written: Evaluation) -> Expr:
        assigns = self._assigns(name)
        found = self._last_in(name, written)
        if not isinstance(found, Evaluation):
            return self._new(found, types.int64)
        if len(assigns) == 1 and isinstance(found.expr, WrapIndex):
            return sym(name)
        return self.value(found)

    def _assigns(self, name: str) -> list[SymbolAssign]:
        return [found for found in self.uses.definers(name) if isinstance(found, SymbolAssign)]

    def _new(self, key: Hashable, dtype: DType, bounds: tuple[Expr, Expr] | None = None) -> Expr:
        """Return the symbol of something unknown."""
        if key not in self._unknown:
            name = f"?{len(self._unknown)}"  # no user name: identifiers have no question mark
            low, high = bounds or (None, None)
            if bounds is None and dtype in _KNOWN and dtype != types.int64:
                low, high = map(const, _limits(dtype))
            self.ranges = self.ranges.bind(name, low, high)
            self._unknown[key] = sym(name)
        return self._unknown[key]

    def _fits(self, value: Expr, dtype: DType) -> bool:
        """Return whether a dtype holds a value."""
        if dtype not in _KNOWN:
            return False
        least, most = _limits(dtype)
        low, high = SymbolIntervals(self.ranges, self._sizes).of(value)
        return least <= low and high <= most

    # -- writes ----------------------------------------------------------------------------------------------------

    def _last_write(self, name: str, before: Evaluation) -> Evaluation | Hashable:
        """Return what was written last to a scalar; a key for what is not known, equal where the value is the same."""
        desc = self.uses.desc(name)
        if not isinstance(desc, Scalar) or self.uses.overlapping(name) != (name,):
            return name, before.at
        return self._last_in(name, before)

    def _last_in(self, name: str, before: Evaluation) -> Evaluation | Hashable:
        if before.at_head and self._writes(before.at, name):
            return name, before.at, "head"
        for step in steps_before(before.at):
            found = self._step(name, step)
            if found is not None:
                return found
        return name, None

    def _writes(self, step: Element, name: str) -> bool:
        """Return whether a step writes a scalar, or assigns a symbol."""
        if isinstance(step, Tasklet | Copy | SymbolAssign):
            accessed = self.uses.accesses(step)
            return name in accessed.writes or name in accessed.defines
        found = summary_of(step, self.uses)
        return name in found.writes or name in found.assigned

    def _step(self, name: str, step: Element | RegionEntry) -> Evaluation | Hashable | None:
        """Return what a step of the way wrote to a scalar; None where it wrote nothing."""
        if isinstance(step, RegionEntry):
            repeats = not isinstance(step.owner, Branch)
            return (name, step.owner, "head") if repeats and self._writes(step.owner, name) else None
        if not self._writes(step, name):
            return None
        if isinstance(step, Tasklet):
            return tasklet_write(step, name) or (name, step)
        if isinstance(step, SymbolAssign):
            return (name, step) if isinstance(step, Resize) else Evaluation(step.value, step)
        if isinstance(step, Copy):
            whole = not step.dst.wcr and not step.dst.dynamic and not step.src.subset.dims
            same = whole and self.uses.desc(step.src.container).dtype == self.uses.desc(name).dtype
            return evaluation_of_memlet(step.src, self.uses.desc(name).dtype, step) if same else (name, step)
        if isinstance(step, Branch):
            return self._branch_write(name, step)
        return name, step

    def _branch_write(self, name: str, branch: Branch) -> Evaluation | Hashable | None:
        """Return what the side of a branch wrote that this path takes, of those from which control goes on."""
        side = self._chosen(branch, len(branch.cases) + 1)
        region = branch.cases[side][1] if side < len(branch.cases) else branch.otherwise
        if region is not None and not may_complete(region):
            raise _NotTaken
        if branch not in self._assumed:
            self._assumed.add(branch)
            for number, (condition, _) in enumerate(branch.cases[: side + 1]):
                self._assume(Evaluation(condition, branch), holds=number == side)
        for step in () if region is None else steps_backwards(region.blocks):
            found = self._step(name, step)
            if found is not None:
                return found
        return None


def _tests_of(step: Element | RegionEntry) -> Iterator[tuple[Evaluation, bool]]:
    """The conditions that a step before a place tests, and whether they hold behind it."""
    match step:
        case Check(condition=condition):
            yield Evaluation(condition, step), True
        case SymbolAssign(value=WrapIndex(arg=arg, size=size)):
            yield Evaluation(op("lt", arg, Index(size)), step), True
            yield Evaluation(op("ge", arg, Index(-size)), step), True
        case Branch(cases=cases):
            for condition, _ in takewhile(lambda case: not may_complete(case[1]), cases):
                yield Evaluation(condition, step), False
        case RegionEntry(owner=While(condition=condition) as loop):
            yield Evaluation(condition, loop, at_head=True), True
        case RegionEntry(owner=Branch(cases=cases) as branch, region=region):
            for condition, side in cases:
                yield Evaluation(condition, branch), side is region
                if side is region:
                    break


def _extremum(condition: ScalarExpr, chosen: ScalarExpr, other: ScalarExpr) -> Callable[[Expr, Expr], Expr] | None:
    """Return `min_of` for ``chosen if chosen < other else other``, `max_of` for the larger one; None for other ones."""
    if not isinstance(condition, Op) or condition.name not in ("lt", "le", "gt", "ge"):
        return None
    if condition.args not in ((chosen, other), (other, chosen)):
        return None
    is_less = condition.name in ("lt", "le")
    return min_of if is_less == (condition.args == (chosen, other)) else max_of


def _limits(dtype: DType) -> Interval:
    """The smallest and the largest number of a dtype that is `_KNOWN`."""
    if dtype == types.bool_:
        return 0, 1
    return (0, 2 ** (8 * dtype.itemsize) - 1) if dtype.kind == "u" else _SIGNED[dtype.itemsize]


_SIGNED = {size: (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1) for size in (1, 2, 4, 8)}
_KNOWN = (  # those whose numbers int64 holds
    types.bool_, types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint16, types.uint32
)
_COMBINED: dict[str, Callable[..., Expr]] = {
    "neg": Expr.__neg__, "add": Expr.__add__, "sub": Expr.__sub__, "mul": Expr.__mul__, "min": min_of, "max": max_of
}

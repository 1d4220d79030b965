"""The time of one process: its cycles when it never waits, its token bursts, and the bytes that it moves.

A pipelined loop of n iterations takes ``depth + ii * (n - 1)`` cycles, and one to leave. A queue moves one token in a
cycle: an iteration that moves more of them takes so many. Outside of pipelines each token takes a cycle, and all
else none, as in the simulation (`include/fpga/dcpy_network.h`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dcpy.base.source import SrcSpan
from dcpy.codegen.fpga.cycle_model.guarded_iterations import axes_of, guarded, when
from dcpy.codegen.fpga.cycle_model.integer_evaluation import Known, iterations, value_of
from dcpy.codegen.fpga.cycle_model.token_bursts import TokenBursts, again
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, Item, LirExpr, Name
from dcpy.codegen.lir.traversal import expressions, names_in, parts, statements
from dcpy.codegen.lir.types import Pointer
from dcpy.ir.types import DType

QUEUE = "a queue: it moves a token in a cycle"  #: what bounds the interval of an iteration that moves several
FLUSHABLE = "frp"  #: the style of pipelines that bubbles may enter
MOST = 1 << 16  #: iterations of a loop that are looked at one by one, where they differ


class UnknownCyclesError(Exception):
    """The cycles depend on what is not known; the message says on what."""


@dataclass(frozen=True, slots=True)
class PipelinedLoop:
    """A pipelined loop as it runs in a process."""

    variable: str
    ii: int
    depth: int
    iterations: int
    span: SrcSpan | None
    bound: str  #: what bounds the interval


@dataclass(slots=True)
class ProcessTime:
    """Time and queue accesses of a part of a process that never waits."""

    cycles: int = 0
    pops: dict[str, TokenBursts] = field(default_factory=dict)
    pushes: dict[str, TokenBursts] = field(default_factory=dict)
    read: int = 0  #: bytes of memory beside the chip
    written: int = 0
    pipelines: dict[int, PipelinedLoop] = field(default_factory=dict)  #: by the place in the text


def process_time(body: tree.Body, known: Known) -> ProcessTime:
    """The course of a process whose parameters have these values. Raises `UnknownCyclesError`."""
    memories = frozenset(name for name, kind in names_in(body).items() if isinstance(kind, Pointer))
    return _CycleCounter(memories).body(body, dict(known))


@dataclass(frozen=True, slots=True)
class _CycleCounter:
    memories: frozenset[str]  # names of arrays beside the chip

    def body(self, body: tree.Body, known: dict[str, int]) -> ProcessTime:
        course = ProcessTime()
        for statement in body:
            follow(course, self.statement(statement, known))
        return course

    def statement(self, statement: tree.Statement, known: dict[str, int]) -> ProcessTime:
        match statement:
            case tree.Loop():
                return self.loop(statement, known)
            case tree.Compound(body=inside):
                return self.body(inside, known)
            case tree.If(cases=cases, otherwise=otherwise):
                return self.branch(statement, [*(inside for _, inside in cases), otherwise], known)
            case tree.While():
                raise UnknownCyclesError("a loop ends when data say so")
        note_value(statement, known)
        return self.plain(statement)

    def branch(self, statement: tree.If, bodies: list[tree.Body], known: dict[str, int]) -> ProcessTime:
        """The longest of its cases: which one runs depends on data, mostly."""
        courses = [self.body(inside, dict(known)) for inside in bodies]
        course = max(courses, key=lambda one: (one.cycles, one.read + one.written))
        follow(course, self.plain(statement))
        return course

    def plain(self, statement: tree.Statement) -> ProcessTime:
        """A statement in no pipeline: a cycle for each token."""
        course = ProcessTime()
        for name, pushing in moves_of(statement):
            table = course.pushes if pushing else course.pops
            add(table, name, TokenBursts.burst(course.cycles, course.cycles, 1))
            course.cycles += 1
        for item, is_target in _items(statement):
            if isinstance(item.base, Name) and item.base.name in self.memories:
                width = item.type.itemsize if isinstance(item.type, DType) else 8
                if is_target:
                    course.written += width
                    course.read += width if isinstance(statement, tree.Update) else 0
                else:
                    course.read += width
        return course

    def loop(self, loop: tree.Loop, known: dict[str, int]) -> ProcessTime:
        values = iterations(loop.start, loop.stop, loop.step, known)
        if values is None:
            raise UnknownCyclesError(f"the bounds of {loop.var} depend on data, or on sizes that are not given")
        mark = next((mark for mark in loop.marks if isinstance(mark, tree.Pipelined)), None)
        if mark is not None:
            return self.pipeline(loop, mark, values, known)
        if not values:
            return ProcessTime()
        if loop.var not in _deciding(loop.body):
            return repeated(self.body(loop.body, {**known, loop.var: values[0]}), len(values))
        if len(values) > MOST:
            raise UnknownCyclesError(f"{len(values)} iterations of {loop.var} differ")
        course = ProcessTime()
        for value in values:
            follow(course, self.body(loop.body, {**known, loop.var: value}))
        return course

    def pipeline(self, loop: tree.Loop, mark: tree.Pipelined, values: range, known: dict[str, int]) -> ProcessTime:
        count = len(values)
        if not count:
            return ProcessTime()
        inside = self.body(loop.body, {**known, loop.var: values[0]})
        meetings = (*inside.pops.values(), *inside.pushes.values())
        tokens = max((meeting.tokens for meeting in meetings), default=1)
        interval = max(mark.ii, tokens)
        last = (count - 1) * interval
        bound = QUEUE if tokens > mark.ii else mark.bound
        delay = mark.depth if mark.style == FLUSHABLE else 0
        course = ProcessTime(
            last + tokens + mark.depth,
            {
                name: TokenBursts.burst(0, last + one.tokens - 1, one.tokens * count)
                for name, one in inside.pops.items()
            },
            {
                name: TokenBursts.burst(mark.depth, last + one.tokens - 1 + mark.depth, one.tokens * count, delay)
                for name, one in inside.pushes.items()
            },
            inside.read * count,
            inside.written * count,
        )
        self.at_times(loop, mark, course, interval, known)
        course.pipelines[id(loop)] = PipelinedLoop(loop.var, interval, mark.depth, count, loop.span, bound)
        return course

    def at_times(
        self, loop: tree.Loop, mark: tree.Pipelined, course: ProcessTime, interval: int, known: dict[str, int]
    ) -> None:
        """Correct a course for what happens in some iterations only, as conditions on variables of the loops say."""
        found = list(guarded(loop.body))
        axes = axes_of(loop, mark, known)
        if axes is None or not any(one.conditions for one in found):
            return
        moved = Counter(key for one in found for key in moves_of(one.statement))
        course.read = course.written = 0
        for one in found:
            times = when(one.conditions, axes, known)
            inside = self.statement(one.statement, dict(known))
            course.read += inside.read * (times.tokens if times else 0)
            course.written += inside.written * (times.tokens if times else 0)
            for name, pushing in moves_of(one.statement):
                if moved[name, pushing] == 1 and one.conditions:
                    table = course.pushes if pushing else course.pops
                    table.pop(name, None)
                    if times is not None:
                        known_times = times.each(interval).later(mark.depth if pushing else 0)
                        delayed = pushing and mark.style == FLUSHABLE
                        table[name] = replace(known_times, delay=mark.depth) if delayed else known_times


def follow(course: ProcessTime, later: ProcessTime) -> None:
    """Append what comes later."""
    for mine, theirs in ((course.pops, later.pops), (course.pushes, later.pushes)):
        for name, one in theirs.items():
            add(mine, name, one.later(course.cycles))
    course.cycles += later.cycles
    course.read += later.read
    course.written += later.written
    for key, pipeline in later.pipelines.items():
        before = course.pipelines.get(key)
        total = pipeline.iterations + (before.iterations if before else 0)
        course.pipelines[key] = replace(pipeline, iterations=total)


def note_value(statement: tree.Statement, known: dict[str, int]) -> None:
    """Record in `known` the value that a statement gives a variable."""
    match statement:
        case tree.Declare(name=name, value=value) | tree.Assign(target=Name(name=name), value=value):
            number = value_of(value, known)
            known.pop(name, None)
            if number is not None:
                known[name] = number


def repeated(course: ProcessTime, count: int) -> ProcessTime:
    """The same, so many times."""
    return ProcessTime(
        course.cycles * count,
        {name: again(one, count, course.cycles) for name, one in course.pops.items()},
        {name: again(one, count, course.cycles) for name, one in course.pushes.items()},
        course.read * count,
        course.written * count,
        {key: replace(one, iterations=one.iterations * count) for key, one in course.pipelines.items()},
    )


def add(table: dict[str, TokenBursts], name: str, one: TokenBursts) -> None:
    """Notes tokens that come behind those that are known."""
    before = table.get(name)
    table[name] = one if before is None else before.then(one)


def moves_of(statement: tree.Statement) -> Iterator[tuple[str, bool]]:
    """The queues that a statement itself goes to, and whether it pushes."""
    for expr in expressions(statement):
        for part in parts(expr):
            match part:
                case Intrinsic(name="put" | "take" as what, args=(Name(name=name), *_)):
                    yield name, what == "put"


def _items(statement: tree.Statement) -> Iterator[tuple[Item, bool]]:
    """The elements that a statement itself goes to, and whether it writes them."""
    target: LirExpr | None = getattr(statement, "target", None)
    for expr in expressions(statement):
        for part in parts(expr):
            if isinstance(part, Item):
                yield part, part is target


def _deciding(body: tree.Body) -> set[str]:
    """The variables on which it depends how often loops inside run."""
    found: set[str] = set()
    inside = list(statements(body))
    for statement in inside:
        if isinstance(statement, tree.Loop):
            found |= _variables(statement.start) | _variables(statement.stop) | _variables(statement.step)
    for statement in reversed(inside):  # what is declared in front of a loop, for its bounds
        if isinstance(statement, tree.Declare) and statement.name in found and statement.value is not None:
            found |= _variables(statement.value)
    return found


def _variables(expr: LirExpr) -> set[str]:
    return {part.name for part in parts(expr) if isinstance(part, Name)}

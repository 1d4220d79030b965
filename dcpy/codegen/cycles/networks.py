"""A network of processes: when each of them starts and ends, and the cycles of all.

A process starts when the first tokens of its inputs are there, and ends when the last ones are: between these it may
wait. A token is seen one cycle after it was pushed. That producers wait for room is left out: queues are deep
enough (`transforms.fpga.infer_depths`), or their consumers are slower anyway, and count themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dcpy.base.source import SrcSpan
from dcpy.codegen.cycles.meetings import Meeting
from dcpy.codegen.cycles.numbers import Known, value_of
from dcpy.codegen.cycles.processes import Course, Pipeline, UnknownCyclesError, course_of
from dcpy.codegen.cycles.resources import Memory, Operators, memories_of, operators_of
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, LirExpr, Name
from dcpy.codegen.lir.types import Fifo, Pointer, Reference

HOP = 1  #: cycles from a push to the first cycle in which its token is seen


@dataclass(frozen=True, slots=True)
class Timed:
    """A process, or a copy of one, in a run of its network."""

    name: str
    copy: int | None
    starts: int  #: the cycle in which its first inputs are there
    ends: int
    course: Course
    pipelines: tuple[Pipeline, ...]
    operators: Operators
    memories: tuple[Memory, ...]
    span: SrcSpan | None


@dataclass(frozen=True, slots=True)
class NetworkTime:
    """A run of a kernel."""

    cycles: int
    processes: tuple[Timed, ...]
    needs: dict[str, int]  #: places that each queue needs so that nobody waits for room
    queues: tuple[Memory, ...] = ()


def network_time(kernel: tree.Function, functions: Sequence[tree.Function], known: Known) -> NetworkTime:
    """How long a kernel runs whose parameters have these values. Raises `UnknownCyclesError`."""
    named = {function.name: function for function in functions}
    made = [_instance(spawn, named, known) for spawn in kernel.body if isinstance(spawn, tree.Spawn)]
    starts, ends = _shifts([course for _, course in made])
    timed = tuple(
        Timed(
            spawn.call.function,
            int(spawn.params[0]) if spawn.params else None,
            start,
            course.cycles + end,
            course,
            tuple(course.pipelines.values()),
            operators_of(named[spawn.call.function].body),
            memories_of(named[spawn.call.function].body),
            named[spawn.call.function].span,
        )
        for (spawn, course), start, end in zip(made, starts, ends, strict=True)
    )
    cycles = max((one.ends for one in timed), default=0)
    return NetworkTime(cycles, timed, _needs(made, starts, ends), memories_of(kernel.body))


def _instance(spawn: tree.Spawn, named: dict[str, tree.Function], known: Known) -> tuple[tree.Spawn, Course]:
    """A copy of a process, whose queues have their names in the kernel."""
    function = named[spawn.call.function]
    values: dict[str, int] = {}
    queues: dict[str, str] = {}
    for param, arg in zip(function.params, spawn.call.args, strict=True):
        kind = param.type.element if isinstance(param.type, Reference) else param.type
        if isinstance(kind, Fifo):
            queues[param.name] = _queue(arg)
        elif not isinstance(kind, Pointer) and (value := value_of(arg, known)) is not None:
            values[param.name] = value
    course = course_of(function.body, values)
    course.pops = {queues.get(name, name): one for name, one in course.pops.items()}
    course.pushes = {queues.get(name, name): one for name, one in course.pushes.items()}
    return spawn, course


def _queue(arg: LirExpr) -> str:
    match arg:
        case Item(base=Name(name=name), index=index):
            return f"{name}[{value_of(index, {})}]"
        case Name(name=name):
            return name
    raise UnknownCyclesError("which queue a process uses is not known")


@dataclass(slots=True)
class _Lag:
    """By how many cycles a process is late, from cycles of its own on; it never makes up for it."""

    events: dict[int, int] = field(default_factory=dict)

    def at(self, cycle: int) -> int:
        """In a cycle of the process' own."""
        return max((late for since, late in self.events.items() if since <= cycle), default=0)

    def note(self, cycle: int, late: int) -> bool:
        """Whether that is more than was known."""
        if late <= self.at(cycle):
            return False
        self.events[cycle] = late
        return True


def _shifts(courses: Sequence[Course]) -> tuple[list[int], list[int]]:
    """By how many cycles each process starts, and ends, later than it would if it never waited."""
    producers = {queue: number for number, course in enumerate(courses) for queue in course.pushes}
    lags = [_Lag() for _ in courses]
    for _ in range(len(courses) + 1):
        changed = False
        for number, course in enumerate(courses):
            for queue, taken in course.pops.items():
                if queue in producers:
                    source = producers[queue]
                    changed = _wait(lags[number], taken, lags[source], courses[source].pushes[queue]) or changed
        if not changed:
            firsts = [min((one.first for one in course.pops.values()), default=0) for course in courses]
            ends = [max(lag.events.values(), default=0) for lag in lags]
            return [lag.at(first) for lag, first in zip(lags, firsts, strict=True)], ends
    raise UnknownCyclesError("processes wait for each other in a circle")


def _wait(lag: _Lag, taken: Meeting, source: _Lag, given: Meeting) -> bool:
    """A consumer takes no token before it is seen. Between ends of bursts both are linear, so these are enough."""
    changed = False
    for token in sorted({token for token, _ in (*given.points, *taken.points)}):
        pushed, popped = given.at(token), taken.at(token)
        changed = lag.note(popped, pushed + source.at(pushed) + HOP - popped) or changed
    return changed


def _needs(made: Sequence[tuple[tree.Spawn, Course]], starts: Sequence[int], ends: Sequence[int]) -> dict[str, int]:
    """The closed form: what is pushed before the consumer takes its first token, and before it takes its last one.

    A place is free again one cycle after its token was taken, and a token is seen one cycle after it was pushed.
    """
    takers = {queue: (number, one) for number, (_, course) in enumerate(made) for queue, one in course.pops.items()}
    found: dict[str, int] = {}
    for number, (_, course) in enumerate(made):
        for queue, given in course.pushes.items():
            if queue in takers:
                taker, taken = takers[queue]
                first = starts[taker] + taken.first - starts[number] - given.first
                last = ends[taker] + taken.last - ends[number] - given.last
                rate = _interval(given)
                found[queue] = min(max(first, last, 1) // rate + 1, given.tokens)
    return found


def _interval(meeting: Meeting) -> int:
    """The cycles between two tokens, on average."""
    return max((meeting.last - meeting.first) // max(meeting.tokens - 1, 1), 1)

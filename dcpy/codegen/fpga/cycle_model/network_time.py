"""The time of a network of processes: when each of them starts and ends, and the cycles of all.

Small networks are replayed token by token (`network_simulation`): exact, also where processes wait for room. In large
ones bursts of tokens shift processes against each other: a process starts when the first tokens of its inputs are
there, and ends when the last ones are. That producers wait for room is left out there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dcpy.base.source import SrcSpan
from dcpy.codegen.fpga.cycle_model.integer_evaluation import Known, value_of
from dcpy.codegen.fpga.cycle_model.network_simulation import Replay, Replayed, replayed
from dcpy.codegen.fpga.cycle_model.process_time import PipelinedLoop, ProcessTime, UnknownCyclesError, process_time
from dcpy.codegen.fpga.cycle_model.resources import Memory, Operators, memories_of, operators_of
from dcpy.codegen.fpga.cycle_model.token_bursts import TokenBursts
from dcpy.codegen.fpga.cycle_model.token_trace import Move, Pipe, moves_in
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, LirExpr, Name
from dcpy.codegen.lir.types import Fifo, Pointer, Reference

MOST_TOKENS = 1 << 18  #: and iterations that are replayed: a second or two
HOP = 1  #: cycles from a push to the first cycle in which its token is seen


class DeadlockError(UnknownCyclesError):
    """Processes of a network wait for each other for ever; the message is a picture of it."""

    def __init__(self, found: Replayed) -> None:
        super().__init__("\n".join(found.picture()))
        self.found = found


@dataclass(frozen=True, slots=True)
class TimedProcess:
    """A process, or a copy of one, in a run of its network."""

    name: str
    copy: int | None
    starts: int  #: the cycle in which its first inputs are there
    ends: int
    course: ProcessTime
    pipelines: tuple[PipelinedLoop, ...]
    operators: Operators
    memories: tuple[Memory, ...]
    span: SrcSpan | None


@dataclass(frozen=True, slots=True)
class NetworkTime:
    """A run of a kernel."""

    cycles: int
    processes: tuple[TimedProcess, ...]
    is_exact: bool  #: also about processes that wait for room
    needed_depths: dict[str, int]  #: places that each queue needs so that no process waits for room
    queues: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _SpawnedProcess:
    """A process of a network: its function, what is known of its parameters, and its queues by their names there."""

    spawn: tree.Spawn
    function: tree.Function
    values: dict[str, int]
    queues: dict[str, str]
    course: ProcessTime

    @property
    def name(self) -> str:
        """The name with the number of the copy, where there are several."""
        return self.function.name if self.copy is None else f"{self.function.name}[{self.copy}]"

    @property
    def copy(self) -> int | None:
        return int(self.spawn.params[0]) if self.spawn.params else None

    def moves(self) -> Iterator[Move | Pipe]:
        """Yield the moves of the process at its queues."""
        return moves_in(self.function.body, dict(self.values))

    @property
    def size(self) -> int:
        """Number of moves to replay."""
        meetings = (*self.course.pops.values(), *self.course.pushes.values())
        loops = sum(one.iterations for one in self.course.pipelines.values())
        return sum(one.tokens for one in meetings) + loops


def network_time(
    kernel: tree.Function, functions: Sequence[tree.Function], known: Known, *, with_waits: bool = True
) -> NetworkTime:
    """Return the time of a kernel whose parameters have these values; without waits: if all queues were deep enough.

    Raises `UnknownCyclesError`; `DeadlockError` where processes wait for each other for ever.
    """
    made = _processes(kernel, functions, known)
    starts, ends = _shifts([one.course for one in made])
    depths = _depths(kernel)
    deep = _replayed(made, dict.fromkeys(depths, MOST_TOKENS))
    exact = _replayed(made, depths) if with_waits else deep
    if exact is not None and exact.blocked:
        raise DeadlockError(exact)
    timed = tuple(
        TimedProcess(
            one.function.name,
            one.copy,
            start,
            one.course.cycles + end if exact is None else exact.ends[number],
            one.course,
            tuple(one.course.pipelines.values()),
            operators_of(one.function.body),
            memories_of(one.function.body),
            one.function.span,
        )
        for number, (one, start, end) in enumerate(zip(made, starts, ends, strict=True))
    )
    cycles = max((one.ends for one in timed), default=0)
    known_needs = {queue: max(most, 1) for queue, most in deep.peaks.items()} if deep and not deep.blocked else None
    needs = known_needs or _needs([one.course for one in made], starts, ends)
    return NetworkTime(cycles, timed, exact is not None, needs, memories_of(kernel.body))


def _processes(kernel: tree.Function, functions: Sequence[tree.Function], known: Known) -> list[_SpawnedProcess]:
    named = {function.name: function for function in functions}
    return [_instance(spawn, named, known) for spawn in kernel.body if isinstance(spawn, tree.Spawn)]


def replay_of(kernel: tree.Function, functions: Sequence[tree.Function], *, unbounded: bool = False) -> Replayed | None:
    """A kernel token by token, with its queues or such without bounds; None where the tokens are very many.

    Raises `UnknownCyclesError`.
    """
    depths = _depths(kernel)
    return _replayed(_processes(kernel, functions, {}), dict.fromkeys(depths, MOST_TOKENS) if unbounded else depths)


def _replayed(made: Sequence[_SpawnedProcess], depths: Mapping[str, int]) -> Replayed | None:
    if sum(one.size for one in made) > MOST_TOKENS:
        return None
    return replayed([Replay(one.name, one.moves(), one.queues) for one in made], depths)


def _depths(kernel: tree.Function) -> dict[str, int]:
    found: dict[str, int] = {}
    for statement in kernel.body:
        if isinstance(statement, tree.Queues):
            count, depth = (value_of(number, {}) or 0 for number in (statement.count, statement.capacity))
            names = [f"{statement.name}[{place}]" for place in range(count)] if count else [statement.name]
            found |= dict.fromkeys(names, depth)
    return found


def _instance(spawn: tree.Spawn, named: dict[str, tree.Function], known: Known) -> _SpawnedProcess:
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
    course = process_time(function.body, values)
    course.pops = {queues.get(name, name): one for name, one in course.pops.items()}
    course.pushes = {queues.get(name, name): one for name, one in course.pushes.items()}
    return _SpawnedProcess(spawn, function, values, queues, course)


def queues_of(spawn: tree.Spawn) -> Iterator[str]:
    """The queues that a process is given."""
    for arg in spawn.call.args:
        if isinstance(arg.type, Fifo):
            yield _queue(arg)


def _queue(arg: LirExpr) -> str:
    match arg:
        case Item(base=Name(name=name), index=index):
            return f"{name}[{value_of(index, {})}]"
        case Name(name=name):
            return name
    raise UnknownCyclesError("which queue a process uses is not known")


@dataclass(slots=True)
class _Lateness:
    """By how many cycles a process is late, from cycles of its own on; it never makes up for it."""

    events: dict[int, int] = field(default_factory=dict)

    def at(self, cycle: int) -> int:
        """Cycles by which it is late in a cycle of its own."""
        return max((late for since, late in self.events.items() if since <= cycle), default=0)

    def note(self, cycle: int, late: int) -> bool:
        """Return whether that is more than was known."""
        if late <= self.at(cycle):
            return False
        self.events[cycle] = late
        return True


def _shifts(courses: Sequence[ProcessTime]) -> tuple[list[int], list[int]]:
    """The cycles by which each process starts, and ends, later than it would if it never waited."""
    producers = {queue: number for number, course in enumerate(courses) for queue in course.pushes}
    lags = [_Lateness() for _ in courses]

    def wait(number: int) -> bool:
        """Return whether a process is later than was known."""
        course, later = courses[number], False
        for queue, taken in course.pops.items():
            if queue in producers:
                source = producers[queue]
                later = _wait(lags[number], taken, lags[source], courses[source].pushes[queue]) or later
        return later

    for members, is_circle in _producers_first(courses, producers):
        for _ in range(len(courses) + 1 if is_circle else 1):
            later = [wait(number) for number in members]
            if not any(later):
                break
        else:
            if is_circle:
                raise UnknownCyclesError("processes wait for each other in a circle")
    firsts = [min((one.first for one in course.pops.values()), default=0) for course in courses]
    ends = [max(lag.events.values(), default=0) for lag in lags]
    return [lag.at(first) for lag, first in zip(lags, firsts, strict=True)], ends


def _producers_first(
    courses: Sequence[ProcessTime], producers: Mapping[str, int]
) -> Iterator[tuple[list[int], bool]]:
    """Processes in an order in which each comes behind its producers; those of a circle of queues together."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(courses)))
    for number, course in enumerate(courses):
        graph.add_edges_from((producers[queue], number) for queue in course.pops if queue in producers)
    parts = networkx.condensation(graph)
    members = {part: sorted(numbers) for part, numbers in parts.nodes("members")}
    for part in networkx.lexicographical_topological_sort(parts, members.__getitem__):
        first, *others = members[part]
        yield members[part], bool(others) or graph.has_edge(first, first)


def _wait(lag: _Lateness, taken: TokenBursts, source: _Lateness, given: TokenBursts) -> bool:
    """A consumer takes no token before it is seen. Between ends of bursts both are linear, so these are enough."""
    changed = False
    for token in sorted({token for token, _ in (*given.points, *taken.points)}):
        pushed, popped = given.at(token), taken.at(token)
        changed = lag.note(popped, pushed + source.at(pushed - given.delay) + HOP - popped) or changed
    return changed


def _needs(courses: Sequence[ProcessTime], starts: Sequence[int], ends: Sequence[int]) -> dict[str, int]:
    """The closed form, for large networks: what comes before the first token is taken, and before the last one is.

    A place is free again one cycle after its token was taken, and a token is seen one cycle after it was pushed.
    """
    takers = {queue: (number, one) for number, course in enumerate(courses) for queue, one in course.pops.items()}
    found: dict[str, int] = {}
    for number, course in enumerate(courses):
        for queue, given in course.pushes.items():
            if queue in takers:
                taker, taken = takers[queue]
                first = starts[taker] + taken.first - starts[number] - given.first
                last = ends[taker] + taken.last - ends[number] - given.last
                rate = _interval(given)
                found[queue] = min(max(first, last, 1) // rate + 1, given.tokens)
    return found


def _interval(meeting: TokenBursts) -> int:
    """The cycles between two tokens, on average."""
    return max((meeting.last - meeting.first) // max(meeting.tokens - 1, 1), 1)

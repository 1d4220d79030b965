"""Network simulation, token by token, without values: cycles with all waits, also for room, and deadlocks.

The rules are those of pipelines in queues: a token is seen one cycle after it was pushed, a place is free one cycle
after its token was taken. A pipeline has a clock of its own, which stands still while a result has no room. Where a
token is missing, an ``stp`` pipeline stands still, too, and keeps what it has finished; in an ``frp`` pipeline only
the new iteration waits (docs/explanation/fpga.md). Simulated kernels follow them in C++ (`include/fpga`), and a test
holds both against each other and against Verilog. (Kahn 1974; Parks, bounded scheduling, 1995.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dcpy.codegen.fpga.cycle_model.token_trace import Move, Pipe


@dataclass(frozen=True, slots=True)
class Replay:
    """A process: its name, what it does, and for each queue as it calls it the name in the network."""

    name: str
    course: Iterable[Move | Pipe]
    queues: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WaitingProcess:
    """A process that cannot go on: where it waits, since which cycle of its own, and for which process."""

    name: str
    queue: str
    pushing: bool
    fill: int
    depth: int
    cycle: int
    holds_results: bool  #: it has results in its pipeline
    waits_for: str

    def __str__(self) -> str:
        state = "full" if self.pushing else "empty"
        kept = ", and keeps results in its pipeline" if self.holds_results else ""
        waits = f"{self.queue} is {state}, {self.fill} of {self.depth}, in cycle {self.cycle}{kept}"
        return f"{self.name} --[ {waits} ]--> {self.waits_for}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """Result of a replay: the cycle in which each process ends, and the processes that are blocked."""

    ends: tuple[int, ...]
    blocked: tuple[WaitingProcess, ...]
    peaks: Mapping[str, int] = field(default_factory=dict)  #: places of each queue that were in use at one time

    @property
    def cycles(self) -> int:
        """Until the last process has ended."""
        return max(self.ends, default=0)

    def circle(self) -> list[WaitingProcess]:
        """Processes that wait for each other; the last one waits for the first one, or for one that has ended."""
        import networkx

        by_name = {one.name: one for one in self.blocked}
        waits = networkx.DiGraph((one.name, one.waits_for) for one in self.blocked if one.waits_for in by_name)
        first = next(iter(by_name), "")
        if first not in waits:  # for one that has ended
            return list(self.blocked[:1])
        try:
            names = [name for name, _ in networkx.find_cycle(waits, first)]
        except networkx.NetworkXNoCycle:
            names = list(networkx.dfs_preorder_nodes(waits, first))
        return [by_name[name] for name in names]

    def picture(self) -> list[str]:
        """A line for each process of the circle."""
        return ["deadlock:", *(f"    {one}" for one in self.circle())]


def replayed(processes: Sequence[Replay], depths: Mapping[str, int]) -> Replayed:
    """Run processes against each other, in queues of these depths."""
    queues = {name: _Queue(name, depth) for name, depth in depths.items()}
    ready: deque[_Process] = deque()
    made = [_Process({own: queues[name] for own, name in one.queues.items()}, ready) for one in processes]
    for one, process in zip(processes, made, strict=True):
        process.turns = process.run(one.course)
        process.wake()
    while ready:
        process = ready.popleft()
        process.is_ready = False
        process.waits = next(process.turns, None)
    blocked = tuple(
        WaitingProcess(
            one.name, queue.name, pushing, queue.pushed - queue.released, queue.depth, process.real(process.tick),
            bool(process.outputs), _other_end(one, queue, processes),
        )
        for one, process in zip(processes, made, strict=True)
        if process.waits is not None
        for queue, pushing in (process.waits,)
    )  # fmt: skip
    ends = tuple(process.real(process.tick) for process in made)
    return Replayed(ends, blocked, {name: queue.peak() for name, queue in queues.items()})


def _other_end(one: Replay, queue: _Queue, processes: Sequence[Replay]) -> str:
    return next((other.name for other in processes if other is not one and queue.name in other.queues.values()), "")


@dataclass(slots=True, eq=False)
class _Queue:
    name: str
    depth: int
    available_from: list[int] = field(default_factory=list)  # of each token: the cycle from which on it can be taken
    free_from: list[int] = field(default_factory=list)  # of each token: the cycle from which on its place is free
    taken: int = 0
    producer: _Process | None = None  # the waiting processes
    consumer: _Process | None = None

    @property
    def pushed(self) -> int:
        return len(self.available_from)

    @property
    def released(self) -> int:
        return len(self.free_from)

    def peak(self) -> int:
        """Largest number of places in use at one time; a token may take a place in the cycle that frees it."""
        most = out = 0
        for number, seen in enumerate(self.available_from):
            while out < len(self.free_from) and self.free_from[out] < seen:
                out += 1
            most = max(most, number + 1 - out)
        return most


@dataclass(slots=True, eq=False)
class _Process:
    queues: Mapping[str, _Queue]  # as it calls them
    ready: deque[_Process]
    turns: Iterator[tuple[_Queue, bool]] = field(default_factory=lambda: iter(()))
    waits: tuple[_Queue, bool] | None = None  # where, and whether for room
    is_ready: bool = False
    pipe: Pipe | None = None
    tick: int = 0  # of the pipeline's clock: at which it is
    start: int = 0  # at which its last iteration started
    base: int = 0  # cycles that the clock stood still before `tick`
    freezes: list[tuple[int, int]] = field(default_factory=list)  # ticks at which it will, and how long
    outputs: list[tuple[int, _Queue]] = field(default_factory=list)  # on their way: the ticks at which they leave
    inputs: list[_Queue] = field(default_factory=list)  # of this tick

    def run(self, course: Iterable[Move | Pipe]) -> Iterator[tuple[_Queue, bool]]:
        """The process; it stops where it waits."""
        for step in course:
            if isinstance(step, Pipe):
                yield from self.pipeline(step)
            else:
                yield from self.move(step)
                yield from self.end_tick()
                self.go_to(self.tick + 1)

    def pipeline(self, pipe: Pipe) -> Iterator[tuple[_Queue, bool]]:
        self.pipe, self.start, end = pipe, self.tick, self.tick
        for moves in pipe.iterations:
            for move in moves:
                yield from self.move(move)
            yield from self.end_tick()
            end = self.tick + pipe.depth + 1
            self.go_to(max(self.start + pipe.ii, self.tick + 1))
            self.start = self.tick
        while self.outputs:
            if not self.leave():
                yield from self.wait(self.full(), True)
        self.go_to(end)
        self.pipe = None

    def move(self, move: Move) -> Iterator[tuple[_Queue, bool]]:
        name, pushing = move
        queue = self.queues[name]
        if pushing:
            self.push(queue)
            return
        if queue in self.inputs:  # it gives one token in a tick
            yield from self.end_tick()
            self.go_to(self.tick + 1)
        if self.pipe is not None and self.pipe.is_flushable:
            yield from self.bubbles(queue)
        else:
            yield from self.leave_before(self.tick)
            while queue.taken == queue.pushed:
                yield from self.wait(queue, False)
            self.stand_still(self.tick, queue.available_from[queue.taken] - self.real(self.tick))
        self.inputs.append(queue)
        queue.taken += 1

    def bubbles(self, queue: _Queue) -> Iterator[tuple[_Queue, bool]]:
        """Let the new iteration alone wait for a token: what is due leaves."""
        while True:
            is_there = queue.taken < queue.pushed
            if is_there:
                tick = self.tick_at(self.tick, queue.available_from[queue.taken])
                if not self.outputs or self.outputs[0][0] > tick:
                    self.start += tick - self.tick
                    self.go_to(tick)
                    return
            if not self.outputs:
                yield from self.wait(queue, False)
            elif not self.leave():
                yield from (self.wait(self.full(), True) if is_there else self.wait_for_any(queue, self.full()))

    def push(self, queue: _Queue) -> None:
        """Put a token into the pipeline: it leaves behind its last stage, one token of a queue in a tick."""
        due = self.tick + (self.pipe.depth if self.pipe is not None else 0)
        outputs = self.outputs
        for at, other in reversed(outputs):
            if at < due:
                break
            if other is queue:
                due = at + 1
                break
        place = len(outputs)
        while place and outputs[place - 1][0] > due:
            place -= 1
        outputs.insert(place, (due, queue))

    def leave(self) -> bool:
        """The outputs that leave first, all at one tick; False if one has no room yet."""
        due = self.outputs[0][0]
        cycle = free = self.real(due)
        count = 0
        for at, queue in self.outputs:
            if at != due:
                break
            token = queue.pushed - queue.depth  # the one that had the place
            if token >= 0:
                if token >= queue.released:
                    return False
                free = max(free, queue.free_from[token])
            count += 1
        self.stand_still(due, free - cycle)
        for _, queue in self.outputs[:count]:
            queue.available_from.append(free + 1)
            if queue.consumer is not None:
                queue.consumer.wake()
        del self.outputs[:count]
        return True

    def full(self) -> _Queue:
        return next(queue for _, queue in self.outputs if queue.pushed - queue.released >= queue.depth)

    def leave_before(self, tick: int) -> Iterator[tuple[_Queue, bool]]:
        while self.outputs and self.outputs[0][0] < tick:
            if not self.leave():
                yield from self.wait(self.full(), True)

    def end_tick(self) -> Iterator[tuple[_Queue, bool]]:
        """End the tick: outputs leave, then places of the inputs become free. Yield the queues that changed."""
        if self.outputs and self.outputs[0][0] <= self.tick:
            yield from self.leave_before(self.tick + 1)
        self.go_to(self.tick)
        if self.inputs:
            cycle = self.real(self.tick) + 1
            for queue in self.inputs:
                queue.free_from.append(cycle)
                if queue.producer is not None:
                    queue.producer.wake()
            self.inputs.clear()

    def wait(self, queue: _Queue, pushing: bool) -> Iterator[tuple[_Queue, bool]]:
        if pushing:
            queue.producer = self
        else:
            queue.consumer = self
        yield queue, pushing
        queue.producer = None if queue.producer is self else queue.producer
        queue.consumer = None if queue.consumer is self else queue.consumer

    def wait_for_any(self, token: _Queue, room: _Queue) -> Iterator[tuple[_Queue, bool]]:
        """Wait for a token or for room, whichever comes first."""
        room.producer = self
        yield from self.wait(token, False)
        room.producer = None

    def wake(self) -> None:
        if not self.is_ready:
            self.is_ready = True
            self.ready.append(self)

    def real(self, tick: int) -> int:
        """The cycle of the board in which the clock shows this."""
        return tick + self.base + sum(cycles for at, cycles in self.freezes if at <= tick)

    def tick_at(self, tick: int, cycle: int) -> int:
        """The first tick, from a tick on, whose cycle is not before `cycle`."""
        stood = self.base
        for at, cycles in self.freezes:
            found = max(cycle - stood, tick)
            if found < at:
                return found
            stood += cycles
            tick = max(tick, at)
        return max(cycle - stood, tick)

    def stand_still(self, tick: int, cycles: int) -> None:
        if cycles > 0:
            self.freezes.append((tick, cycles))
            self.freezes.sort(key=lambda one: one[0])

    def go_to(self, tick: int) -> None:
        self.tick = tick
        while self.freezes and self.freezes[0][0] <= tick:
            self.base += self.freezes.pop(0)[1]

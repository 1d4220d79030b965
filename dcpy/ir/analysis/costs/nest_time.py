"""The time of a loop nest on a processor: a roofline with levels of memory, dependence chains, and overheads.

A nest takes as long as what keeps it longest: its operations, the accesses that cores make, a chain of operations that
wait for each other, or the bytes that a level of memory delivers (Williams et al., Roofline, 2009; the levels as in
Hofmann et al., Execution-Cache-Memory, 2015). Starts of loops and teams, and looks for pages, come on top. Everything
is a number: the sizes are those of a call, or what is typical.

It compares two ways to run a nest, and finds the bound that a nest is at; it does not predict its time to the
nanosecond. Programs stand as they are lowered, with their schedules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dcpy.ir.analysis.costs.cache_lines import LINE, AddressPattern, lines_by_container
from dcpy.ir.analysis.costs.core_time import computing_time, is_vector, lanes_of
from dcpy.ir.analysis.costs.counted_nests import CountedStatement, RegionPhase, phases_of
from dcpy.ir.analysis.costs.dependence_chains import chain_of
from dcpy.ir.analysis.costs.work_estimates import TypicalValues, work_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_nests import Axis, MapOrLoop, axes_of
from dcpy.ir.machine_model import UNIT, Costs
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.schedules import SEQUENTIAL, Parallel, Schedule
from dcpy.ir.symbolic import product_of
from dcpy.ir.tree import Element

PICO = 1e-12
PER_BYTE = 1e-6  #: seconds of a byte, where a speed is in bytes per microsecond
PAGE = 4096
T = TypeVar("T")
LEVELS = ("L2", "L3", "memory")  #: from which bytes come, nearest first; each is behind a cache
PAGES = len(LEVELS)  #: number of the level behind the one cache that holds where pages are


@dataclass(frozen=True)
class NestTime:
    """Predicted time of one nest: a map, a loop without maps, or (None) the `elements` beside them in a region.

    It is run `times` times, on so many `cores`. `bounds` are the seconds of one run by what may keep it longest,
    `overheads` the starts of loops and threads, and page faults. `least` says which bound no schedule could be below,
    and `least_seconds` how long it takes, with all cores, full vectors, and each line of memory moved once.
    """

    nest: MapOrLoop | None
    elements: tuple[Element, ...]
    times: float
    cores: int
    bounds: Mapping[str, float]
    overheads: Mapping[str, float]
    operations: float  #: on numbers, in one run
    moved: Mapping[str, float]  #: bytes in one run, by the level that they come from
    accessed: float = 0.0  #: bytes that cores load and store in one run
    least: str = ""
    least_seconds: float = 0.0
    computing: float = field(default=0.0, repr=False)  # seconds of all phases, each by its own bound

    @property
    def bound(self) -> str:
        """Bottleneck: an entry of `bounds`, or an overhead that takes longer than all of them."""
        own = max(self.bounds, key=self.bounds.__getitem__)
        worst = max(self.overheads, key=self.overheads.__getitem__, default="")
        return worst if worst and self.overheads[worst] > self.limit else own

    @property
    def limit(self) -> float:
        """Seconds of one run without overheads."""
        return max(self.computing, *(self.bounds.get(level, 0.0) for level in LEVELS))

    @property
    def seconds(self) -> float:
        """Seconds of all runs."""
        return self.times * (self.limit + sum(self.overheads.values()))

    @property
    def distance(self) -> float:
        """Ratio of the predicted time to the lower bound."""
        return max(self.seconds / (self.times * self.least_seconds), 1.0) if self.times * self.least_seconds else 1.0


def seconds(nest: MapOrLoop, sizes: Mapping[str, int], uses: Uses, costs: Costs, by: Schedule | None = None) -> float:
    """Return the seconds of a map or loop with its schedule, or `by` another one in its place."""
    found = _TimedPart(phases_of(nest, sizes, uses, costs), uses, costs, {} if by is None else {nest: by})
    return sum(time.seconds for time in found.times())


def seconds_in_order(
    node: Map, order: Sequence[str], sizes: Mapping[str, int], uses: Uses, costs: Costs, by: Schedule
) -> float:
    """Return the seconds of a map with a schedule whose parameters have another order: no IR is changed."""
    at = [node.params.index(param) for param in order]

    def turned(statement: CountedStatement) -> CountedStatement:
        reads, writes = (
            tuple(each and replace(each, steps=_moved(each.steps, at)) for each in patterns)
            for patterns in (statement.reads, statement.writes)
        )
        return replace(statement, reads=reads, writes=writes)

    phases = [
        replace(phase, axes=_moved(phase.axes, at), statements=list(map(turned, phase.statements)))
        for phase in phases_of(node, sizes, uses, costs)
    ]
    return sum(time.seconds for time in _TimedPart(phases, uses, costs, {node: by}).times())


def _moved(parts: tuple[T, ...], at: Sequence[int]) -> tuple[T, ...]:
    return (*(parts[place] for place in at), *parts[len(at) :])


def modelled_units(node: Map, uses: Uses, costs: Costs) -> int:
    """Units of work of an iteration of a map, as `work.work_of` counts iterations, on one core and in a typical run."""
    factors, _ = work_of(node, uses.sdfg, costs)
    iterations = max(1, TypicalValues(uses.sdfg, costs).value(product_of(*factors)))
    return round(seconds(node, {}, uses, costs, SEQUENTIAL) / (UNIT * PICO) / iterations)


def nest_times(part: Region | Element, sizes: Mapping[str, int], uses: Uses, costs: Costs) -> list[NestTime]:
    """Return the time of each nest of a part, in program order. Caches are warm from the last run."""
    return _TimedPart(phases_of(part, sizes, uses, costs), uses, costs, {}).times()


class _TimedPart:
    """The phases of a part, and the nests that they form."""

    def __init__(
        self, phases: list[RegionPhase], uses: Uses, costs: Costs, schedules: Mapping[MapOrLoop, Schedule]
    ) -> None:
        self.phases, self.uses, self.costs, self.schedules = phases, uses, costs, schedules
        self.mapped = {
            counted.axis.owner
            for phase in phases
            for counted in phase.axes
            if any(other.axis.is_parallel for other in phase.axes)
        }

    def times(self) -> list[NestTime]:
        """The times of all nests, in program order."""
        nests: dict[MapOrLoop | Region, list[RegionPhase]] = {}
        for phase in self.phases:
            nest = self.nest_of(phase)
            nests.setdefault(phase.region if nest is None else nest, []).append(phase)
        return [_TimedNest(self, key, phases).time() for key, phases in nests.items()]

    def nest_of(self, phase: RegionPhase) -> MapOrLoop | None:
        """The outermost map around a phase; else the outermost loop in which there is no map."""
        axes = [counted.axis for counted in phase.axes]
        first = next((axis.owner for axis in axes if axis.is_parallel), None)
        return first or next((axis.owner for axis in axes if axis.owner not in self.mapped), None)

    def schedule(self, axis: Axis) -> Schedule:
        return self.schedules.get(axis.owner, axis.schedule)


class _TimedNest:
    """One nest: its phases, the number of axes around it, and the cores that it runs on."""

    def __init__(self, program: _TimedPart, key: MapOrLoop | Region, phases: list[RegionPhase]) -> None:
        self.program, self.phases = program, phases
        self.scope = None if isinstance(key, Region) else key
        self.costs, self.processor = program.costs, program.costs.processor
        axes = phases[0].axes
        inside = [number for number, counted in enumerate(axes) if counted.axis.owner is self.scope]
        self.depth = inside[0] if inside else len(axes)
        self.team = self.team_axis()
        self.cores = 1 if self.team is None else self.cores_of(self.team)

    # -- threads -----------------------------------------------------------------------------------------------

    def team_axis(self) -> int | None:
        """The axis that threads divide; None where there are none, or too little to do for them."""
        if self.scope is None:
            return None
        schedule = self.program.schedules.get(self.scope, self.scope.schedule)
        if not isinstance(schedule, Parallel):
            return None
        most = max(phase.share * math.prod(phase.trips[self.depth :]) for phase in self.phases)
        return self.depth if most > schedule.above else None

    def cores_of(self, axis: int) -> int:
        """The cores that there are iterations for: of all parameters that threads divide."""
        owner = self.phases[0].axes[axis].axis.owner
        longest = max(self.phases, key=lambda phase: len(phase.axes))
        trips = math.prod(counted.trips for counted in longest.axes if counted.axis.owner is owner)
        return max(1, min(self.processor.cores, trips))

    # -- time --------------------------------------------------------------------------------------------------

    def time(self) -> NestTime:
        """The time by all bounds."""
        outside = math.prod(self.phases[0].trips[: self.depth])
        parts = [self.computing(phase) for phase in self.phases]
        names = ("operations", "accesses", "chain")
        bounds = {name: sum(part[name] for part in parts) for name in names}
        lines = self.lines()
        bounds |= {level: self.bringing(level, found) for level, found in lines.items()}
        moved = {level: LINE * sum(found.values()) for level, found in lines.items()}
        least, shortest = self.least(parts)
        return NestTime(
            self.scope, self.elements(), outside, self.cores, bounds, self.overheads(outside),
            sum(part["count"] for part in parts), moved, sum(map(self.accessed, self.phases)), least, shortest,
            sum(max(part[name] for name in names) for part in parts),
        )  # fmt: skip

    def elements(self) -> tuple[Element, ...]:
        """Return the elements of the nest that identify it."""
        if self.scope is not None:
            return (self.scope,)
        return tuple(statement.element for phase in self.phases for statement in phase.statements)

    def computing(self, phase: RegionPhase) -> dict[str, float]:
        """Seconds of one run of a phase by operations, accesses and chains; and how many operations there are."""
        vector = is_vector(phase, self.program.schedule)
        runs = phase.share * math.prod(phase.trips[self.depth :])
        work = computing_time(phase, vector, self.costs)
        lanes = lanes_of(phase, self.costs) if vector else 1
        chain = chain_of(phase, self.depth, lanes, self.costs)
        return {
            "operations": runs * (work.operations / self.cores + work.calls) * PICO,
            "accesses": runs * work.accesses * PICO / self.cores,
            "chain": chain * PICO / self.cores,
            "count": runs * work.count,
            "calls": work.calls,
            "vectorized": runs * work.vectorized * PICO,
        }

    def accessed(self, phase: RegionPhase) -> float:
        """Bytes that one run of a phase loads and stores."""
        runs = phase.share * math.prod(phase.trips[self.depth :])
        places = dict.fromkeys(pattern for statement in phase.statements for pattern in statement.patterns)
        return runs * sum(pattern.bytes for pattern in places)

    def overheads(self, outside: float) -> dict[str, float]:
        """Seconds of one run: starts of loops and teams, and looks for pages."""
        starts = sum(self.starts(phase) for phase in self.phases)
        found = {"loops": starts * self.processor.loop * PICO / self.cores}
        walks = self.walks()
        if walks:
            found["pages"] = walks * self.processor.page * PICO / self.cores
        if self.cores > 1:
            found["fork"] = (self.processor.fork if outside > 1 else self.processor.wake) * PICO
        return found

    def starts(self, phase: RegionPhase) -> float:
        """Return how often the innermost loop of a phase starts in one run of the nest: one that stays a loop.

        C++ compilers write out loops of a few iterations whose number is known.
        """
        inner = [*phase.axes[self.depth :]]
        while len(inner) > 1 and (inner[-1].axis.range.size.constant or math.inf) <= self.costs.unrolled_trips:
            inner.pop()
        return phase.share * math.prod(counted.trips for counted in inner[:-1]) if inner else 0.0

    def patterns(self) -> Iterator[AddressPattern]:
        return (pattern for phase in self.phases for statement in phase.statements for pattern in statement.patterns)

    # -- memory ------------------------------------------------------------------------------------------------

    def lines(self) -> dict[str, dict[str, float]]:
        """Lines of one run, by the level that they come from and by container; what is written goes back there."""
        written = {pattern.container for pattern in self.patterns() if pattern.writes}
        found: dict[str, dict[str, float]] = {}
        for number, level in enumerate(LEVELS):
            lines = {} if self.stays(number) else self.traffic(self.phases, self.depth, number) | self.scattered(number)
            found[level] = {name: count * (2 if name in written else 1) for name, count in lines.items()}
        return found

    def scattered(self, level: int) -> dict[str, float]:
        """Lines of containers of which data choose the places: for each access one that is seldom in the cache."""
        found: dict[str, float] = {}
        for phase in self.phases:
            runs = phase.share * math.prod(phase.trips[self.depth :])
            for pattern in dict.fromkeys(each for statement in phase.statements for each in statement.patterns):
                if pattern.scattered:
                    missing = max(0.0, 1.0 - self.capacity(level, self.depth) / pattern.size)
                    found[pattern.container] = found.get(pattern.container, 0.0) + runs * missing
        return found

    def bringing(self, level: str, lines: Mapping[str, float]) -> float:
        """Seconds until lines have come from a level: one after the other in memory, or from here and there."""
        jumping = {pattern.container for pattern in self.patterns() if pattern.jumps}
        line = {"L2": self.processor.l2_line, "L3": self.processor.l3_line, "memory": self.processor.memory_line}[level]
        loose = sum(count for name, count in lines.items() if name in jumping)
        streamed = LINE * (sum(lines.values()) - loose)
        return streamed * PER_BYTE / self.speed(level, self.cores) + loose * line * PICO / self.cores

    def walks(self) -> float:
        """Return the page walks of one run: those for data that are not prefetched."""
        jumping = {pattern.container for pattern in self.patterns() if pattern.jumps}
        pages = {} if self.stays(PAGES) else self.traffic(self.phases, self.depth, PAGES) | self.scattered(PAGES)
        return sum(count for name, count in pages.items() if name in jumping)

    def stays(self, level: int) -> bool:
        """Return whether all that is touched in the loop around it stays in the cache before a level."""
        around = self.phases[0].axes[: self.depth]
        together = [phase for phase in self.program.phases if phase.axes[: self.depth] == around]
        return self.footprint(together, self.depth, level) <= self.capacity(level, self.depth)

    def traffic(self, phases: Sequence[RegionPhase], depth: int, level: int) -> dict[str, float]:
        """Lines that come from a level while the axes from number `depth` on run once."""
        if self.footprint(phases, depth, level) <= self.capacity(level, depth):
            return _lines(phases, depth, _unit(level))
        total: dict[str, float] = {}
        for axis, inside in _by_axis(phases, depth).items():
            if axis is None or self.footprint(inside, depth + 1, level) <= self.capacity(level, depth + 1):
                lines, times = _lines(inside, depth, _unit(level)), 1.0
            else:
                lines, times = self.traffic(inside, depth + 1, level), float(inside[0].trips[depth])
            for name, count in lines.items():
                total[name] = total.get(name, 0.0) + times * count
        return total

    def footprint(self, phases: Sequence[RegionPhase], depth: int, level: int) -> float:
        unit = _unit(level)
        return unit * sum(_lines(phases, depth, unit).values())

    def capacity(self, level: int, depth: int) -> float:
        """Bytes that the cache before a level holds of what the axes from number `depth` on touch."""
        known = self.processor
        size = (known.l1_bytes, known.l2_bytes, known.l3_bytes, known.pages * PAGE)[level]
        divided = self.team is not None and depth > self.team
        if level == 2:
            return size / self.cores if divided else size
        return size if divided or self.team is None else size * self.cores

    def speed(self, level: str, cores: int) -> float:
        """Bytes in a microsecond that so many cores get."""
        one = {"L2": self.processor.l2_speed, "L3": self.processor.l3_speed, "memory": self.processor.memory_speed}
        most = self.processor.memory_speed_all if level == "memory" and cores > 1 else math.inf
        return min(one[level] * cores, most)

    def keeps_order(self) -> bool:
        """Return whether it is a loop."""
        return self.scope is not None and not any(axis.is_parallel for axis in axes_of(self.scope))

    # -- the least ---------------------------------------------------------------------------------------------

    def least(self, parts: Sequence[Mapping[str, float]]) -> tuple[str, float]:
        """The bound that no schedule is below: full vectors on all cores, chains, each distinct line once."""
        lines = sum(_lines(self.phases, self.depth).values()) * LINE
        chain = sum(part["chain"] for part in parts) if self.keeps_order() else 0.0
        divided = self.scope is not None or any(part["calls"] for part in parts)
        cores = self.processor.cores if divided and not chain else 1
        found = {"operations": sum(part["vectorized"] for part in parts) / cores, "chain": chain}
        for number, level in reversed([*enumerate(LEVELS)]):
            if not self.stays(number):
                found[level] = lines * PER_BYTE / self.speed(level, cores)
                break
        else:
            found["L1"] = lines * PER_BYTE / (self.processor.l1_speed * cores)
        name = max(found, key=lambda each: found[each])
        return name, found[name]


def _unit(level: int) -> int:
    return PAGE if level == PAGES else LINE


def _lines(phases: Sequence[RegionPhase], depth: int, unit: int = LINE) -> dict[str, float]:
    accesses = (
        (pattern, phase.trips) for phase in phases for statement in phase.statements for pattern in statement.patterns
    )
    return lines_by_container(accesses, depth, unit)


def _by_axis(phases: Sequence[RegionPhase], depth: int) -> dict[Axis | None, list[RegionPhase]]:
    """Phases with the same next axis together; None: those that have none."""
    found: dict[Axis | None, list[RegionPhase]] = {}
    for phase in phases:
        found.setdefault(phase.axes[depth].axis if len(phase.axes) > depth else None, []).append(phase)
    return found

"""Memory checks: each memory access of a kernel, for races, uninitialized reads, and the traffic of each warp.

With the option ``gpu.hooks``, kernels are compiled so that every access is seen; `watching` gives the report of all
calls in it. It counts what the text of kernels does: caches and time are not in it.

    with watching() as seen:
        program(x, y)
    print(seen.report)
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.simulator.debug_symbols import lines_of
from dcpy.runtime.gpu.simulator.library import WATCHED, SimulatedDevice
from dcpy.runtime.gpu.source_lines import place_of

SPACES = ("global", "shared", "pinned")
WAYS = ("read", "write", "atomic update")
SECTOR = 32


@dataclass(frozen=True, slots=True)
class KernelLine:
    """A line of generated text, and the line of Python that it comes from."""

    line: str  # ``NAME.kernels.cu:12``
    span: SrcSpan | None = None

    def __str__(self) -> str:
        return f"{self.line} ({self.span})" if self.span is not None else self.line


@dataclass(frozen=True, slots=True)
class KernelAccess:
    """An access in a kernel's text: `accesses` of threads in `requests` of warps, of `size` bytes each.

    `units` is what they cost: sectors of 32 bytes in global memory, turns of the banks in shared memory. `least` is
    what as many bytes cost at best.
    """

    place: KernelLine
    space: str
    way: str
    size: int
    accesses: int
    requests: int
    units: int
    least: int

    @property
    def units_per_request(self) -> float:
        """8.0 for a warp of 32 threads that reads doubles side by side, 32.0 where each is in a sector of its own."""
        return self.units / max(self.requests, 1)

    def __str__(self) -> str:
        unit = "turns" if self.space == "shared" else "sectors"
        return (
            f"{self.space} {self.way} of {self.size} bytes at {self.place}: {self.units_per_request:.2f} {unit} a warp,"
            f" {self.least / max(self.requests, 1):.2f} at best"
        )


@dataclass(frozen=True, slots=True)
class KernelTraffic:
    """Traffic of one kernel in all its launches.

    `read_bytes` and `written_bytes` are what its threads ask for in global memory; `moved_bytes` is what has to move if
    nothing moves twice within a launch.
    """

    name: str
    launches: int
    threads: int
    read_bytes: int
    written_bytes: int
    read_sectors: int
    written_sectors: int
    sites: tuple[KernelAccess, ...]

    @property
    def moved_bytes(self) -> int:
        """Distinct sectors that a launch reads, and those that it writes."""
        return SECTOR * (self.read_sectors + self.written_sectors)

    @property
    def conflicts(self) -> int:
        """Turn of the banks of shared memory beyond those that are needed."""
        return sum(site.units - site.least for site in self.sites if site.space == "shared")

    def __str__(self) -> str:
        head = (
            f"kernel {self.name}: {self.launches} launches, {self.threads} threads; asks for {self.read_bytes} + "
            f"{self.written_bytes} bytes, moves {self.moved_bytes}; {self.conflicts} conflicts of banks"
        )
        return "\n".join([head, *(f"  {site}" for site in self.sites)])


@dataclass(frozen=True, slots=True)
class MemoryRace:
    """Two accesses to one place that nothing orders, one of which writes; `example` names two threads and the place."""

    kernel: str
    places: tuple[KernelLine, KernelLine]
    ways: tuple[str, str]
    space: str
    between_blocks: bool
    count: int
    example: str

    def __str__(self) -> str:
        who = "two blocks" if self.between_blocks else "two threads of a block"
        first, second = (f"{way} at {place}" for way, place in zip(self.ways, self.places, strict=True))
        what = f"{who} race in {self.space} memory: {first}, {second}"
        return f"kernel {self.kernel}: {what}: {self.count} x, {self.example}"


@dataclass(frozen=True, slots=True)
class UninitializedRead:
    """A read of uninitialized memory."""

    kernel: str
    place: KernelLine
    space: str
    count: int
    example: str

    def __str__(self) -> str:
        what = f"{self.space} uninitialized memory is read at {self.place}"
        return f"kernel {self.kernel}: {what}: {self.count} x, {self.example}"


@dataclass(frozen=True, slots=True)
class Report:
    """Observations of the hooks. Without `races` and `unwritten` reads, kernels are clean as far as runs can show."""

    kernels: tuple[KernelTraffic, ...] = ()
    races: tuple[MemoryRace, ...] = ()
    unwritten: tuple[UninitializedRead, ...] = ()

    def kernel(self, name: str) -> KernelTraffic:
        """The traffic of the kernel of this name."""
        return next(kernel for kernel in self.kernels if kernel.name == name)

    @property
    def moved_bytes(self) -> int:
        """Bytes that all kernels have moved."""
        return sum(kernel.moved_bytes for kernel in self.kernels)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.races, *self.unwritten, *self.kernels)))


@dataclass(slots=True)
class WatchedErrors:
    """Result of `watching`, filled when it ends."""

    report: Report = field(default_factory=Report)


@contextlib.contextmanager
def watching() -> Iterator[WatchedErrors]:
    """See all calls of programs that were compiled with hooks."""
    seen = WatchedErrors()
    for device in _watched():
        device.forget()
    yield seen
    reports = [observed(device) for device in _watched()]
    seen.report = Report(
        tuple(kernel for report in reports for kernel in report.kernels),
        tuple(race for report in reports for race in report.races),
        tuple(found for report in reports for found in report.unwritten),
    )


def _watched() -> list[SimulatedDevice]:
    return [device for device in (reference() for reference in WATCHED) if device is not None]


def observed(device: SimulatedDevice) -> Report:
    """Return the observations of the hooks since the device was opened, or since `forget`."""
    facts = [line.split("\t") for line in device.facts().splitlines()]
    offsets = [int(fact[column]) for fact in facts for column in _OFFSETS.get(fact[0], ())]
    lines = lines_of(device.path, offsets).items()
    places = {offset: KernelLine(line, place_of(line, device.kernel_places)) for offset, line in lines}
    kernels, races, unwritten = [], [], []
    for name, head, rest in _by_kernel(facts):
        sites = tuple(_site(fact, places) for fact in rest if fact[0] == "site")
        launches, threads, asked, stored, loads, stores = map(int, head)
        kernels.append(KernelTraffic(name, launches, threads, asked, stored, loads, stores, sites))
        races += [_race(name, fact, places) for fact in rest if fact[0] == "race"]
        unwritten += [_unwritten(name, fact, places) for fact in rest if fact[0] == "unwritten"]
    return Report(tuple(kernels), tuple(races), tuple(unwritten))


_OFFSETS = {"site": (1,), "race": (1, 3), "unwritten": (1,)}


def _by_kernel(facts: list[list[str]]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    starts = [k for k, fact in enumerate(facts) if fact[0] == "kernel"]
    for start, end in itertools.pairwise([*starts, len(facts)]):
        yield facts[start][1], facts[start][2:], facts[start + 1 : end]


def _site(fact: list[str], places: dict[int, KernelLine]) -> KernelAccess:
    offset, space, way, *counts = map(int, fact[1:])
    return KernelAccess(places[offset], SPACES[space], WAYS[way], *counts)


def _race(kernel: str, fact: list[str], places: dict[int, KernelLine]) -> MemoryRace:
    first, first_way, second, second_way, between, space, count = map(int, fact[1:8])
    ways = WAYS[first_way], WAYS[second_way]
    return MemoryRace(kernel, (places[first], places[second]), ways, SPACES[space], bool(between), count, fact[8])


def _unwritten(kernel: str, fact: list[str], places: dict[int, KernelLine]) -> UninitializedRead:
    offset, space, count = map(int, fact[1:4])
    return UninitializedRead(kernel, places[offset], SPACES[space], count, fact[4])

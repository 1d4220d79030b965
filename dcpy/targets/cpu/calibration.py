"""CPU calibration: a second of loops (`microbenchmarks`), each figure the best of a few runs.

Other work of the machine only adds time, so the least time is the one that the processor needs. What one core does is
taken in processor time, which others disturb least; what all do, by the clock.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from dcpy.base.library_environment import Environment
from dcpy.base.options import Options
from dcpy.ir.machine_model import COSTS, UNIT, entries
from dcpy.runtime.cpu.measured_costs import cores_here, keep
from dcpy.runtime.loading.shared_libraries import library_of, open_library
from dcpy.runtime.storage.cache import Cache
from dcpy.targets.cpu.microbenchmarks import CHAINS, OPERATIONS, ROW, SUMS, probe

WALL = time.perf_counter
PICO = 1e12  #: of a second
PICO_SECOND = 1 / PICO
ROWS = 5  #: of which the best counts
LEAST, MOST = 64 << 20, 512 << 20  #: bytes of what no cache is to hold
FEW, MANY = 10, 40  #: things in a row, and rows, of what a busy machine disturbs most
PAGES = 128  #: that are touched for the first time
LINES = 20_000  #: at least, that are read one here, one there
FAR = 8192  #: pages of which lines are read: more than the processor knows the places of
SHORT = 5  #: elements of a short loop
SIDE = 512  #: of the matrices whose product is timed
SYSTEM = Path("/sys/devices/system/cpu/cpu0/cache")
Figures = dict[str, int]
Clock = Callable[[], float]


def measure(options: Options, blas: Environment | None) -> Figures:
    """The figures by dotted names of `Costs`; those that cannot be measured here are left out.

    `blas`: the OpenBLAS whose products are timed. Raises `ToolchainError` where there is nothing to compile with.
    """
    library = open_library(library_of(probe(blas), options))
    for name in ("operation", "lines", "read", "read_all", "call", *(f"chain_{name}" for name in CHAINS)):
        if hasattr(library, f"probe_{name}"):
            getattr(library, f"probe_{name}").restype = ctypes.c_double
    library.probe_map.restype = ctypes.c_void_p
    cores = cores_here()
    found = {"processor.cores": cores, "processor.vector_bytes": int(library.probe_vector_bytes())}
    found |= cache_sizes(SYSTEM)
    for part in (_operations(library), _chains(library), _speeds(library, cores, found), _teams(library, cores)):
        found |= dict(part)
    return found | (dict(_products(library, cores)) if blas is not None else {})


def measured_lines(options: Options, blas: Environment | None) -> Iterator[str]:
    """Measure, and keep the figures: compilation goes by them from now on. Lines about them, as `measure`."""
    figures = measure(options, blas)
    yield "the processor, measured now:"
    yield from (f"        {name:24}{figure}" for name, figure in rows(figures))
    try:
        yield f"kept in {keep(Cache(options.cache_dir), figures)}; it is deleted like any file"
    except OSError as error:
        yield f"not kept: {error}"


def rows(figures: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Names, and figures with their units."""
    for name, value in figures.items():
        short = name.removeprefix("processor.")
        if name.startswith("operations."):
            yield short, f"{value / 10:10.1f} ns"
        elif short.endswith("bytes"):
            yield short, f"{value:10} bytes" if value < 1024 else f"{value // 1024:10} KiB"
        elif short.startswith("product_speed"):
            yield short, f"{value / 1000:10.1f} GFLOP/s"
        elif "speed" in short:
            yield short, f"{value / 1000:10.1f} GB/s"
        elif short == "cores":
            yield short, f"{value:10}"
        else:
            yield short, f"{value / 1000:10.3f} ns" if value < 1_000_000 else f"{value / 1e6:10.3f} µs"


def cache_sizes(folder: Path) -> Figures:
    """Bytes of each level as the system reports them; nothing where it does not."""
    found: Figures = {}
    for place in sorted(folder.glob("index*")):
        try:
            level, kind = ((place / name).read_text().strip() for name in ("level", "type"))
            size = (place / "size").read_text().strip()
        except OSError:
            continue
        if kind != "Instruction" and size.endswith("K") and size[:-1].isdecimal() and level in ("1", "2", "3"):
            found[f"processor.l{level}_bytes"] = int(size[:-1]) * 1024
    return found


def _operations(library: ctypes.CDLL) -> Iterator[tuple[str, int]]:
    lanes = int(library.probe_vector_bytes()) // 8
    values, result = np.linspace(0.5, 0.9, ROW), np.empty(ROW)
    places = np.random.default_rng(0).permutation(ROW)
    y = ctypes.c_double(0.5)
    once = _each(lambda n: library.probe_operation(_count(n), y), 2 * SUMS * lanes, 20_000)
    yield "processor.operation", _ps(once)
    gathered = _each(lambda n: library.probe_gather(_count(n), _at(values), _at(places), _at(result)), ROW, 200)
    yield "processor.gather", _ps(gathered)
    lengths = np.full(64, SHORT, np.int64)
    short = _each(lambda n: library.probe_loop(_count(n), _at(values), _at(result), _at(lengths)), 64, 500)
    yield "processor.loop", _ps(short)
    for name in OPERATIONS:
        function = getattr(library, f"probe_{name}")
        seconds = _each(lambda n: function(_count(n), _at(values), y, _at(result)), ROW, 40)  # noqa: B023
        yield f"operations.{name}", max(1, round(seconds * PICO / UNIT))


def _chains(library: ctypes.CDLL) -> Iterator[tuple[str, int]]:
    start, other = ctypes.c_double(0.9), ctypes.c_double(0.999)
    for name in CHAINS:
        function = getattr(library, f"probe_chain_{name}")
        yield f"processor.latencies.{name}", _ps(_each(lambda n: function(_count(n), start, other), 1, 5_000))  # noqa: B023


def _speeds(library: ctypes.CDLL, cores: int, sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Bytes in a microsecond from each level, and from memory by all cores."""
    table = {**dict(entries(COSTS)), **sizes}
    l1, l2, l3 = (table[f"processor.l{level}_bytes"] for level in (1, 2, 3))
    data = np.zeros(min(max(4 * l3, LEAST), MOST) // 8)
    data += 1.0  # every page is a page of its own
    levels = {"l1": l1 // 2, "l2": l2 // 2, "l3": min(4 * l2, l3 // 4)}
    for name, size in {**levels, "memory": LEAST}.items():
        if size and name != "l1":
            yield f"processor.{name}_line", _ps(_line(library, data[: size // 8]))
    for name, size in levels.items():
        if size:
            times = max(1, (8 << 20) // size)
            speed = size / _each(lambda n: library.probe_read(_count(n), _at(data), _count(size // 8)), 1, times)  # noqa: B023
            yield f"processor.{name}_speed", _per_microsecond(speed)
    yield "processor.page", _ps(max(_page(library, data) - _line(library, data[: l2 // 16]), PICO_SECOND))
    size = data.nbytes
    alone = _best(lambda: library.probe_read(_count(1), _at(data), _count(size // 8)), 3)
    yield "processor.memory_speed", _per_microsecond(size / alone)
    together = _best(lambda: library.probe_read_all(cores, _at(data), _count(size // 8)), ROWS, WALL)
    yield "processor.memory_speed_all", _per_microsecond(size / min(alone, together))


def _line(library: ctypes.CDLL, data: np.ndarray) -> float:
    """Seconds of each line of the data, one here, one there."""
    places = np.random.default_rng(0).permutation(len(data) // 8) * 8
    times = max(1, LINES // len(places))
    return _each(
        lambda n: library.probe_lines(_count(n), _at(data), _at(places), _count(len(places))), len(places), times
    )


def _page(library: ctypes.CDLL, data: np.ndarray) -> float:
    """Seconds of a line of each of many pages, all of which stay in caches."""
    count = min(FAR, len(data) // 512)
    places = np.random.default_rng(0).permutation(count) * 512
    places += places // 512 % 64 * 8  # not all in one set of a cache
    return _each(lambda n: library.probe_lines(_count(n), _at(data), _at(places), _count(count)), count, 4)


def _teams(library: ctypes.CDLL, cores: int) -> Iterator[tuple[str, int]]:
    place = np.zeros(64 * cores)
    if cores > 1:
        forks = _best(lambda: library.probe_forks(cores, _count(FEW), _at(place)), MANY, WALL)
        barriers = _best(lambda: library.probe_barriers(cores, _count(FEW)), MANY, WALL)
        yield "processor.fork", _ps(forks / FEW)
        yield "processor.barrier", _ps(barriers / FEW)
        yield "processor.wake", _ps(_after_sleep(lambda: library.probe_forks(cores, _count(1), _at(place))))
    yield "processor.fault", _ps(min(_faults(library) for _ in range(MANY)) / PAGES)


def _after_sleep(run: Callable[[], object]) -> float:
    """The median: of the first call behind a while in which threads go to sleep, now and then one is quick."""
    found = []
    for _ in range(9):
        time.sleep(0.002)
        found.append(_seconds(run, WALL))
    return sorted(found)[len(found) // 2]


def _faults(library: ctypes.CDLL) -> float:
    size = _count(4096 * PAGES)
    place = ctypes.c_void_p(library.probe_map(size))
    seconds = _seconds(lambda: library.probe_touch(_count(PAGES), place), time.thread_time)
    library.probe_unmap(size, place)
    return seconds


def _products(library: ctypes.CDLL, cores: int) -> Iterator[tuple[str, int]]:
    left, right, result = np.ones((3, SIDE, SIDE))
    yield "processor.call", _ps(_each(lambda n: library.probe_call(_count(n), _at(left)), 1, 2_000))
    for name, threads, clock in (("product_speed_all", cores, WALL), ("product_speed", 1, time.thread_time)):
        seconds = _best(
            lambda: library.probe_product(threads, SIDE, _at(left), _at(right), _at(result)),  # noqa: B023
            ROWS, clock,
        )  # fmt: skip
        yield f"processor.{name}", _per_microsecond(2 * SIDE**3 / seconds)
    library.probe_product(cores, 1, _at(left), _at(right), _at(result))  # the library goes on with all of them


def _each(run: Callable[[int], object], count: int, rounds: int) -> float:
    """Seconds of each of the `count` things that a round does."""
    return _best(lambda: run(rounds), ROWS) / (count * rounds)


def _best(run: Callable[[], object], times: int, clock: Clock = time.thread_time) -> float:
    run()
    return min(_seconds(run, clock) for _ in range(times))


def _seconds(run: Callable[[], object], clock: Clock) -> float:
    start = clock()
    run()
    return max(clock() - start, 1e-9)


def _ps(seconds: float) -> int:
    return max(1, round(seconds * PICO))


def _per_microsecond(per_second: float) -> int:
    return max(1, round(per_second / 1e6))


def _at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _count(number: int) -> ctypes.c_longlong:
    return ctypes.c_longlong(number)

"""Calibration: what messages and work cost on the ranks of a job, as measured by ``dcpy doctor --mpi``, and kept.

The model is Hockney's: a message of m bytes takes ``latency + m * byte``. Figures are kept beside the compiled
programs, for one node and for several, with the MPI that they are of; plans of calls are chosen by them from then on.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcpy.runtime.distributed.world import World
from dcpy.runtime.storage.cache import Cache, read_sealed, write_sealed

PICO = 1e12  # of a second
SHORT, LONG = 8, 1 << 20  # bytes of the messages that are timed
COPIED = 1 << 25  # bytes that are copied in a rank's own memory: more than its caches hold
ORDER = 384  # of the matrices whose product is timed
#: what is kept, in picoseconds, and what it is in words; `dcpy.ir.machine_model.Network` has the same fields
FIGURES = {
    "latency": "a short message",
    "byte": "a byte more of a message",
    "local_byte": "a byte that is copied in memory",
    "step": "a product and a sum of a product of matrices",
}


def measure(world: World) -> dict[str, int]:
    """The figures, the slowest of all ranks; two ranks at least. All ranks call this, and all get them."""
    latency, message = (_exchanged(world, size) for size in (SHORT, LONG))
    source, target = np.ones(COPIED, np.uint8), np.zeros(COPIED, np.uint8)
    copying = _fastest(world, lambda: np.copyto(target, source), 5) / COPIED
    left, right = np.ones((2, ORDER, ORDER))
    product = _fastest(world, lambda: np.matmul(left, right), 5) / ORDER**3
    seconds = (latency, max(message - latency, 0.0) / (LONG - SHORT), copying, product)
    mine = [max(1, round(value * PICO)) for value in seconds]
    return dict(zip(FIGURES, world.most(mine), strict=True))


def collectives(world: World) -> dict[str, float]:
    """Seconds of collectives of all ranks, by name and size. All ranks call this."""
    from mpi4py import MPI

    found: dict[str, float] = {}
    for size in (SHORT, LONG):
        values, result = np.zeros(size // 8), np.zeros(size // 8)
        found[f"allreduce of {size} bytes"] = _fastest(world, lambda: world.comm.Allreduce(values, result, op=MPI.SUM))  # noqa: B023
        found[f"broadcast of {size} bytes"] = _fastest(world, lambda: world.comm.Bcast(values, 0))  # noqa: B023
    return found


def hidden(world: World) -> int:
    """Percent of the time of long messages that is hidden where a rank computes meanwhile. All ranks call this.

    An MPI that moves data only during waits hides nothing: then overlapping halos with work gains nothing.
    """
    partner = world.rank ^ 1
    values, got, work = np.zeros(LONG, np.uint8), np.zeros(LONG, np.uint8), np.ones(1 << 15)

    def begin() -> list[Any]:
        return [world.comm.Irecv(got, partner, 3), world.comm.Isend(values, partner, 3)] if partner < world.size else []

    def end(requests: list[Any]) -> None:
        for request in requests:
            request.Wait()

    sending = _fastest(world, lambda: end(begin()))
    rounds = max(1, round(2 * sending / _fastest(world, lambda: np.sqrt(work, out=work))))

    def compute() -> None:
        for _ in range(rounds):
            np.sqrt(work, out=work)

    def both() -> None:
        requests = begin()
        compute()
        end(requests)

    computing, together = _fastest(world, compute), _fastest(world, both)
    mine = round(100 * min(max((sending + computing - together) / sending, 0.0), 1.0))
    return 100 - int(world.most([100 - mine])[0])


def _exchanged(world: World, size: int) -> float:
    """Seconds of a message between a rank and the next one: half of there and back, while others do the same."""
    partner = world.rank ^ 1
    values, got = np.zeros(size, np.uint8), np.zeros(size, np.uint8)

    def there_and_back() -> None:
        if partner < world.size:
            first = world.rank < partner
            for sends in (first, not first):
                if sends:
                    world.comm.Send(values, partner, 1)
                else:
                    world.comm.Recv(got, partner, 1)

    return _fastest(world, there_and_back, 200 if size == SHORT else 20) / 2


def _fastest(world: World, run: Callable[[], object], times: int = 20) -> float:
    """Seconds of the fastest run of several, behind a barrier."""
    run()
    world.comm.Barrier()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def rows(figures: Mapping[str, int], timed: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Names in words, and figures with their units."""
    for name, words in FIGURES.items():
        value = figures[name]
        yield words, f"{value / 1e6:10.3f} µs" if value >= 100_000 else f"{value:10} ps"
    for name, seconds in timed.items():
        yield name, f"{seconds * 1e6:10.3f} µs"


def scope_of(world: World) -> str:
    """Return whether the ranks are on ``one`` node or on ``several``. All ranks call this."""
    return "one" if len(set(world.all(platform.node()))) == 1 else "several"


def keep(cache: Cache, scope: str, mpi: str, figures: Mapping[str, int]) -> Path:
    """Write them down, all or nothing. `OSError` where that cannot be."""
    place = _place(cache, scope)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_sealed(place, json.dumps({"mpi": mpi, "figures": dict(figures)}, indent=1))
    return place


def kept(cache: Cache, scope: str, mpi: str) -> dict[str, int]:
    """Return the figures measured with this MPI; nothing where there are none, or some are missing."""
    text = read_sealed(_place(cache, scope))
    try:
        found = {} if text is None else json.loads(text)
        known = {name: int(found["figures"][name]) for name in FIGURES} if found.get("mpi") == mpi else {}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
    return known if all(value > 0 for value in known.values()) else {}


def _place(cache: Cache, scope: str) -> Path:
    return cache.root / f"network.{scope}.json"

"""``python -m benchmarks.peers.large KERNEL PRESET BYTES``: seconds of NumPy's call at one size, as JSON.

`preset_of` chooses the size of a kernel by that: presets are tried from the smallest on, and the one that takes NumPy
longest, but less than a second, is the large one. A preset is too large, too, whose arrays leave no memory for the
copies that measuring makes, or at which NumPy's own results say little: where arguments that are larger by one unit in
the last place give others (chaotic systems, after many steps), nobody's can be compared with them.
"""

from __future__ import annotations

import copy
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.npbench import Kernel, kernels
from benchmarks.peers import FRAMEWORKS
from benchmarks.peers.calls import PlainCall
from benchmarks.peers.processes import answer
from benchmarks.peers.subject import Subject
from benchmarks.peers.worker import difference_from

ORDER = ("S", "M", "paper", "L")
SECOND = 1.0
PATIENCE = 30.0  # seconds, with all that a process does before and after the call
COPIES = 5  # of the arguments: NumPy's, the framework's, those of a fresh call, and temporaries

Seconds = Callable[[str], float]


def preset_of(kernel: Kernel, seconds: Seconds | None = None) -> str:
    """The name of the large preset. `seconds` says how long NumPy takes at a preset: by default, that is measured."""
    seconds = seconds or (lambda preset: _in_process(kernel.name, preset))
    found: dict[str, float] = {}
    for preset in ORDER:
        if preset == "L" and "M" not in found:
            continue  # of every kernel, L is larger than M; paper may be smaller
        taken = seconds(preset)
        if taken < SECOND:
            found[preset] = taken
        elif preset == "S":
            break
    return max(found, key=lambda preset: found[preset], default="S")


def _in_process(kernel: str, preset: str) -> float:
    """Infinite where it takes too long or too much memory, or is chaotic."""
    numpy = FRAMEWORKS["numpy"]
    assert numpy.python is not None
    room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // COPIES
    row = answer(numpy.python, ["-m", "benchmarks.peers.large", kernel, preset, str(room)], numpy, PATIENCE)
    return float(row.get("seconds", float("inf")))


def main(kernel: str, preset: str, room: str) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (int(room), int(room)))
    arguments = kernels()[kernel].initialize(preset)
    times = []
    with np.errstate(all="ignore"):
        for _ in range(2):
            mine = copy.deepcopy(arguments)
            start = time.perf_counter()
            kernels()[kernel].function(*mine.values())
            times.append(time.perf_counter() - start)
            if times[0] > SECOND:
                break
        chaotic = times[0] < SECOND and is_chaotic(kernels()[kernel], arguments)
    print(json.dumps({"seconds": float("inf") if chaotic else min(times)}))


def is_chaotic(kernel: Kernel, arguments: dict[str, Any]) -> bool:
    """Whether arguments that are larger by one unit in the last place give results that would not count as equal."""
    call = PlainCall(Subject(kernel.source(), kernel.name, arguments, {}, ()))
    seen = []
    for given in (arguments, {name: _next(value) for name, value in arguments.items()}):
        mine = call.prepare(given)
        seen.append(call.seen(call.run(kernel.function, mine), mine))
    return difference_from(seen[1], seen[0], strict=True) != ""


def _next(value: Any) -> Any:
    """The next larger number; in complex ones, both parts; others stay."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return _next(value.real) + 1j * _next(value.imag)
    if type(value) is float:
        return math.nextafter(value, math.inf)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
        return np.nextafter(value, np.inf, dtype=value.dtype)
    return value


if __name__ == "__main__":
    main(*sys.argv[1:])

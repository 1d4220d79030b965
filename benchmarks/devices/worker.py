"""One kernel in one framework on the GPU, in this process: compile, validate, measure; prints one JSON object last.

Run as ``python -m benchmarks.devices.worker KERNEL FRAMEWORK COMPARED,PRESET REPEAT FIRST,SECONDS`` by the interpreter
that has the framework. Results count as NumPy's as on CPUs (`benchmarks.peers.worker`). Between two calls of one set of
arrays lie calls of others, of `ROTATED` bytes together: nothing is in the caches from the call before.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.devices import FRAMEWORKS
from benchmarks.devices.clocks import Span
from benchmarks.devices.turns import measuring, within
from benchmarks.npbench import Kernel, kernels
from benchmarks.peers import Framework, adapt
from benchmarks.peers.calls import PlainCall
from benchmarks.peers.subject import subject_of
from benchmarks.peers.worker import compiled, difference_from, first_line

ROTATED = 160 << 20  # more than twice the largest cache of a GPU
MOST_SETS = 32
WARM = 5  # calls that do not count


def measure(
    kernel: Kernel, framework: Framework, presets: tuple[str, str], repeat: int, seconds: tuple[float, float]
) -> dict[str, Any]:
    """A row of the table; `status` is "ok", "refused: ..." or "wrong: ...".

    `presets` are those that results are compared at, and that are measured; `seconds` what first calls and the calls
    that are measured may take.
    """
    compared, preset = presets
    arguments = kernel.initialize(compared)
    subject = subject_of(kernel, compared, arguments)
    reference, call = PlainCall(subject), framework.call(subject)
    expected = reference.prepare(arguments)
    value = reference.run(kernel.function, expected)
    numpy_lines = adapt.lines(subject.source)
    row: dict[str, Any] = {"kernel": kernel.name, "framework": framework.name, "preset": preset}
    row |= {"numpy_lines": len(numpy_lines), "version": version_of(framework)}
    with within(seconds[0]):
        mine = call.prepare(arguments)
        start = time.perf_counter()
        try:
            text = framework.variants[0](subject)
            function = compiled(text, kernel.name, framework)
            got = call.run(function, mine)
            seen = call.seen(got, mine)
            row |= {"first_call": time.perf_counter() - start, "lines": len(adapt.lines(text))}
            if preset != compared:
                arguments = kernel.initialize(preset)
                call.run(function, call.prepare(arguments))
                call.wait()
        except Exception as error:
            return row | {"status": f"refused: {type(error).__name__}: {first_line(error)}"}
    row |= {"coverage": adapt.coverage(subject.source, text)}
    wrong = difference_from(seen, reference.seen(value, expected), framework.name == "dcpy")
    if wrong:
        return row | {"status": f"wrong: {wrong}"}
    with measuring():
        spans = repeated(call, function, arguments, repeat, seconds[1])
    times, by_host = [span.device for span in spans], [span.host for span in spans]
    row |= {"clock": call.clock.name, "times": times, "median": statistics.median(times)}
    return row | {"host_median": statistics.median(by_host), "status": "ok"}


def repeated(call: Any, function: Any, arguments: dict[str, Any], repeat: int, seconds: float) -> list[Span]:
    """Times of `repeat` calls after `WARM` more, on sets of arguments in turn; fewer where `seconds` are over."""
    count = sets_of(arguments)
    spans: list[Span] = []
    end = time.perf_counter() + seconds
    while len(spans) < WARM + repeat and (time.perf_counter() < end or len(spans) < 2):
        for each in [call.prepare(arguments) for _ in range(count)]:
            spans.append(call.span(function, each))
            if time.perf_counter() > end and len(spans) >= 2:
                break
    return spans[min(WARM, len(spans) - 1) : WARM + repeat]


def version_of(framework: Framework) -> str:
    """Of the package, as it says itself."""
    return str(getattr(importlib.import_module(framework.package), "__version__", ""))


def sets_of(arguments: dict[str, Any]) -> int:
    """How many sets of arguments have `ROTATED` bytes together."""
    size = sum(value.nbytes for value in arguments.values() if isinstance(value, np.ndarray))
    return max(2, min(MOST_SETS, -(-ROTATED // max(size, 1))))


def main(kernel: str, framework: str, presets: str, repeat: str, seconds: str) -> None:
    warnings.simplefilter("ignore")
    FRAMEWORKS[framework].setup(Path.cwd())
    importlib.import_module(FRAMEWORKS[framework].package)  # so that the first call is only a call
    with np.errstate(all="ignore"):
        compared, preset = presets.split(",")
        first, measured = map(float, seconds.split(","))
        row = measure(kernels()[kernel], FRAMEWORKS[framework], (compared, preset), int(repeat), (first, measured))
    print("\n" + json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])

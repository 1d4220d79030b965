"""One kernel in one framework on the GPU, in this process: `checked` against NumPy, or `timed`.

Results count as NumPy's as on CPUs (`benchmarks.peers.worker`). Between two calls of one set of arrays lie calls of
others, of `ROTATED` bytes together: nothing is in the caches from the call before.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.devices.clocks import Span
from benchmarks.npbench import Kernel
from benchmarks.peers import Framework, adapt
from benchmarks.peers.calls import Arguments, PlainCall
from benchmarks.peers.subject import Subject, subject_of
from benchmarks.peers.worker import compiled, difference_from, first_line

Row = dict[str, Any]
ROTATED = 160 << 20  # more than twice the largest cache of a GPU
MOST_SETS = 32
WARM = 5  # calls that do not count


@dataclass
class Entry:
    """A kernel as a framework has it: its text, the function that is called, and how."""

    subject: Subject
    text: str
    function: Callable[..., Any]
    call: Any

    def first(self, arguments: Arguments) -> tuple[float, Any, Arguments]:
        """The first call: its seconds with compilation, what it returns, and its arguments afterwards."""
        mine = self.call.prepare(arguments)
        start = time.perf_counter()
        value = self.call.run(self.function, mine)
        self.call.wait()
        return time.perf_counter() - start, value, mine


def entry(kernel: Kernel, framework: Framework, arguments: Arguments, preset: str, folder: Path | None) -> Entry:
    """Its text is written to `folder`: what frameworks keep of compiled programs may go by the place of their text."""
    subject = subject_of(kernel, preset, arguments)
    text = framework.variants[0](subject)
    return Entry(subject, text, compiled(text, kernel.name, framework, folder), framework.call(subject))


def checked(kernel: Kernel, framework: Framework, compared: str, preset: str, folder: Path | None = None) -> Row:
    """Compares with NumPy at one preset, and calls it once at another one, so that it is compiled for that, too.

    `status` is "ok", "refused: ..." or "wrong: ...".
    """
    row: Row = {"version": version_of(framework)}
    arguments = kernel.initialize(compared)
    try:
        mine = entry(kernel, framework, arguments, compared, folder)
        row |= _lines(mine) | compared_with(kernel.function, mine, arguments, strict=framework.name == "dcpy")
        if row["status"] == "ok" and preset != compared:
            row["first_call"] = mine.first(kernel.initialize(preset))[0]
    except Exception as error:
        return row | {"status": refusal(error)}
    return row


def compared_with(function: Callable[..., Any], mine: Entry, arguments: Arguments, *, strict: bool) -> Row:
    """Whether a first call gives what NumPy does: the `status`."""
    seconds, value, changed = mine.first(arguments)
    seen = mine.call.seen(value, changed)
    reference = PlainCall(mine.subject)
    with np.errstate(all="ignore"):
        expected = reference.prepare(arguments)
        found = reference.seen(reference.run(function, expected), expected)
        wrong = difference_from(seen, found, strict)
    return {"first_call": seconds, "status": f"wrong: {wrong}" if wrong else "ok"}


def timed(
    kernel: Kernel,
    framework: Framework,
    preset: str,
    repeat: int,
    seconds: float,
    *,
    folder: Path | None = None,
    arguments: Arguments | None = None,
) -> Row:
    """Seconds of calls (`times_of`), or why there are none: the `status`."""
    arguments = kernel.initialize(preset) if arguments is None else arguments
    row: Row = {"version": version_of(framework)}
    try:
        return row | times_of(entry(kernel, framework, arguments, preset, folder), arguments, repeat, seconds)
    except Exception as error:
        return row | {"status": refusal(error)}


def times_of(mine: Entry, arguments: Arguments, repeat: int, seconds: float) -> Row:
    """The median of up to `repeat` calls within `seconds`; `bytes` are those of arguments and results, once each."""
    first, value, _ = mine.first(arguments)
    moved = _bytes(arguments.values()) + _bytes(_results(mine, value))
    del value
    spans = repeated(mine.call, mine.function, arguments, repeat, seconds)
    times, by_host = [span.device for span in spans], [span.host for span in spans]
    row: Row = {"first_call": first, "bytes": moved, "clock": mine.call.clock.name, "times": times}
    return row | {"median": statistics.median(times), "host_median": statistics.median(by_host), "status": "ok"}


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


def refusal(error: Exception) -> str:
    """The status of a row whose framework raises."""
    return f"refused: {type(error).__name__}: {first_line(error)}"


def version_of(framework: Framework) -> str:
    """Of the package, as it says itself."""
    return str(getattr(importlib.import_module(framework.package), "__version__", ""))


def sets_of(arguments: dict[str, Any]) -> int:
    """How many sets of arguments have `ROTATED` bytes together."""
    return max(2, min(MOST_SETS, -(-ROTATED // max(_bytes(arguments.values()), 1))))


def _lines(mine: Entry) -> Row:
    numpy_lines = adapt.lines(mine.subject.source)
    coverage = adapt.coverage(mine.subject.source, mine.text)
    return {"numpy_lines": len(numpy_lines), "lines": len(adapt.lines(mine.text)), "coverage": coverage}


def _results(mine: Entry, value: Any) -> Iterable[Any]:
    """What a call returns, without what stands for changed arguments."""
    names = [name for name, _ in PlainCall.seen(mine.call, value, mine.subject.arguments)]
    values = value if isinstance(value, tuple | list) else [value]
    return [one for one, name in zip(values, names, strict=False) if name.startswith("result")]


def _bytes(values: Iterable[Any]) -> int:
    return sum(int(getattr(value, "nbytes", 0)) for value in values)

"""Pipelines: lists of passes that one can read aloud, and that run again only what a change may have enabled.

A pass is a transformation applied everywhere, a `repeat`, or another pipeline. A `repeat` goes round its passes until
nothing changes; a pass sits a round out where nothing changed since it last began, which the `Rewriter` observes.
`RunReport` tells what was applied how often, and how long each pass took.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dcpy.base.errors import DcpyError
from dcpy.ir.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import Transformation, sweep

MAX_ROUNDS = 50  # a repeat that still changes things then is a bug of two passes that undo each other


@dataclass
class PassReport:
    """What one pass did: how often it was applied, how often it was run, and its time in seconds."""

    name: str
    applied: int = 0
    runs: int = 0
    seconds: float = 0.0


@dataclass
class RunReport:
    """What a pipeline did to one SDFG, pass by pass, in the order in which they ran first."""

    passes: dict[str, PassReport] = field(default_factory=dict)

    def of(self, name: str) -> PassReport:
        return self.passes.setdefault(name, PassReport(name))

    @property
    def applied(self) -> int:
        """All applications together."""
        return sum(report.applied for report in self.passes.values())

    @property
    def seconds(self) -> float:
        return sum(report.seconds for report in self.passes.values())

    def counts(self) -> dict[str, int]:
        """How often each transformation was applied; those that never were are left out."""
        return {name: report.applied for name, report in self.passes.items() if report.applied}

    def __str__(self) -> str:
        width = max((len(name) for name in self.passes), default=0)
        return "\n".join(
            f"{name:{width}}  {report.applied:5} applied  {report.seconds * 1e3:8.1f} ms"
            for name, report in self.passes.items()
        )


class Repeat:
    """Runs passes in order, again and again, until none changes anything; made with `repeat`."""

    def __init__(self, *passes: Pass) -> None:
        self.passes = passes

    def run(self, rw: Rewriter, report: RunReport) -> None:
        """`DcpyError` where it does not come to rest."""
        seen: list[int | None] = [None] * len(self.passes)  # for each pass, the version that it began with
        for _ in range(MAX_ROUNDS):
            for position, step in enumerate(self.passes):
                if seen[position] != rw.version:
                    seen[position] = rw.version
                    run_pass(step, rw, report)
            if all(version == rw.version for version in seen):
                return
        raise DcpyError(
            f"simplifying {rw.sdfg.name!r} does not come to rest",
            notes=(f"after {MAX_ROUNDS} rounds: {', '.join(rw.sdfg.history[-4:])}",),
        )

    def __str__(self) -> str:
        return f"repeat({', '.join(map(str, self.passes))})"


class Pipeline:
    """A named list of passes, run once each, in order; then on every callee that is left."""

    def __init__(self, name: str, *passes: Pass) -> None:
        self.name = name
        self.passes = passes

    def run(self, rw: Rewriter, report: RunReport) -> None:
        for step in self.passes:
            run_pass(step, rw, report)

    def __str__(self) -> str:
        return self.name

    def transformations(self) -> Iterator[Transformation[Any]]:
        """All transformations in it, in order."""
        yield from _transformations(self.passes)


Pass = Transformation[Any] | Repeat | Pipeline


def repeat(*passes: Pass) -> Repeat:
    """Passes to run in turn until none of them changes anything."""
    return Repeat(*passes)


def run_pipeline(sdfg: Sdfg, pipeline: Pipeline, *, check: bool = False) -> RunReport:
    """Runs a pipeline on an SDFG and its callees, in place; with `check` each step is verified."""
    report = RunReport()
    pending = [sdfg]
    done: dict[Sdfg, None] = {}
    while pending:
        current = pending.pop()
        if current not in done:
            done[current] = None
            pipeline.run(Rewriter(current, pipeline.name, check=check), report)
            pending += [call.sdfg for call in current.body.walk_calls()]
    return report


def run_pass(step: Pass, rw: Rewriter, report: RunReport) -> None:
    """Runs one pass."""
    if not isinstance(step, Transformation):
        step.run(rw, report)
        return
    start = time.perf_counter()
    applied = sweep(step, rw)
    entry = report.of(str(step))
    entry.applied += applied
    entry.runs += 1
    entry.seconds += time.perf_counter() - start


def _transformations(passes: tuple[Pass, ...]) -> Iterator[Transformation[Any]]:
    for step in passes:
        if isinstance(step, Transformation):
            yield step
        else:
            yield from _transformations(step.passes)

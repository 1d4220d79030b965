"""Pipelines: rows of passes that one can read aloud, and that run again only what a change may have enabled.

A row is itself a pass. A `repeat` goes round its passes until nothing changes; a pass sits a round out where nothing
changed since it last began, which the `Rewriter` observes. `RunReport` counts what was applied, and how long
each pass took. `pass_manager` takes a pipeline through an SDFG and those that it calls.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from dcpy.base.errors import DcpyError
from dcpy.ir.editing.remarks import Remark
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import Costs
from dcpy.transforms.passes import Pass

MAX_ROUNDS = 50  # a repeat that still changes things then is a bug of two passes that undo each other


@dataclass
class PassReport:
    """Report on one pass: how often it was applied, how often it was run, and its time in seconds."""

    name: str
    applied: int = 0
    runs: int = 0
    seconds: float = 0.0


@dataclass
class RunReport:
    """Report on a pipeline's run on one SDFG, pass by pass, in the order in which they ran first."""

    passes: dict[str, PassReport] = field(default_factory=dict)
    remarks: list[Remark] | None = None  #: what passes said about their decisions, if that was asked for

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
        """Return how often each transformation was applied; those that never were are left out."""
        return {name: report.applied for name, report in self.passes.items() if report.applied}

    def __str__(self) -> str:
        width = max((len(name) for name in self.passes), default=0)
        return "\n".join(
            f"{name:{width}}  {report.applied:5} applied  {report.seconds * 1e3:8.1f} ms"
            for name, report in self.passes.items()
        )


class CompositePass(Pass):
    """A pass that consists of passes: each has its own line in the report."""

    def run(self, rw: Rewriter) -> int:
        """All of it, on one SDFG."""
        return self.run_with(rw, RunReport())

    @abstractmethod
    def run_with(self, rw: Rewriter, report: RunReport) -> int:
        """`run`, with an account of each pass."""


@dataclass(frozen=True, init=False)
class Repeat(CompositePass):
    """Runs passes in order, again and again, until none changes anything; made with `repeat`."""

    name: ClassVar[str] = "repeat"
    passes: tuple[Pass, ...]

    def __init__(self, *passes: Pass) -> None:
        object.__setattr__(self, "passes", passes)

    def run_with(self, rw: Rewriter, report: RunReport) -> int:
        """`DcpyError` where it does not come to rest."""
        start = rw.version
        seen: list[int | None] = [None] * len(self.passes)  # for each pass, the version that it began with
        for _ in range(MAX_ROUNDS):
            for position, step in enumerate(self.passes):
                if seen[position] != rw.version:
                    seen[position] = rw.version
                    run_pass(step, rw, report)
            if all(version == rw.version for version in seen):
                return rw.version - start
        raise DcpyError(
            f"simplifying {rw.sdfg.name!r} does not come to rest",
            notes=(f"after {MAX_ROUNDS} rounds: {', '.join(rw.sdfg.history[-4:])}",),
        )

    def __str__(self) -> str:
        return f"repeat({', '.join(map(str, self.passes))})"


def _priced(step: Pass, costs: Costs) -> Pass:
    if isinstance(step, Pipeline):
        return step.priced(costs)
    if isinstance(step, Repeat):
        return Repeat(*(_priced(inner, costs) for inner in step.passes))
    return replace(step, costs=costs) if hasattr(step, "costs") else step  # type: ignore[call-arg]


@dataclass(frozen=True, init=False)
class Pipeline(CompositePass):
    """A named row of passes, run once each, in order. `ensures` is the form in which it leaves an SDFG."""

    name: str  # type: ignore[misc]  # of this one, not of the class
    ensures: str  # type: ignore[misc]
    passes: tuple[Pass, ...]

    def __init__(self, name: str, *passes: Pass, ensures: str = Pass.ensures) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "ensures", ensures)
        object.__setattr__(self, "passes", passes)

    def run_with(self, rw: Rewriter, report: RunReport) -> int:
        """One pass after the other."""
        start = rw.version
        for step in self.passes:
            run_pass(step, rw, report)
        return rw.version - start

    def __str__(self) -> str:
        return self.name

    def priced(self, costs: Costs) -> Pipeline:
        """The same passes, which decide by these costs."""
        return Pipeline(self.name, *(_priced(step, costs) for step in self.passes), ensures=self.ensures)

    def steps(self) -> Iterator[Pass]:
        """The passes that run after one another, those of pipelines inside it included; a `repeat` is one of them."""
        for step in self.passes:
            yield from step.steps() if isinstance(step, Pipeline) else (step,)

    def parts(self) -> Iterator[Pass]:
        """All passes in it, those inside of a `repeat` too."""
        yield from _parts(self.passes)


def repeat(*passes: Pass) -> Repeat:
    """Passes to run in turn until none of them changes anything."""
    return Repeat(*passes)


def _parts(passes: tuple[Pass, ...]) -> Iterator[Pass]:
    for step in passes:
        if isinstance(step, Repeat | Pipeline):
            yield from _parts(step.passes)
        else:
            yield step


def run_pass(step: Pass, rw: Rewriter, report: RunReport) -> None:
    """Run one pass on one SDFG, and enter into the report what it did."""
    if isinstance(step, CompositePass):
        step.run_with(rw, report)
        return
    start = time.perf_counter()
    rw.name = step.name
    if rw.remarks is not None:  # what it could not do last time, it may do now
        rw.remarks[:] = [remark for remark in rw.remarks if remark.applied or remark.step != step.name]
    applied = step.run(rw)
    entry = report.of(str(step))
    entry.applied += applied
    entry.runs += 1
    entry.seconds += time.perf_counter() - start

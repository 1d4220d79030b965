"""Schedules: how the iterations of a map or a loop run, as values with parameters.

Frontends leave a map undecided, or write down what the user asked for; the passes of a target decide. A schedule never
changes what is computed. In the textual form it is ``@parallel{chunk = 64}``; a parameter at its default is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Schedule:
    """Base of all schedules. `word` is the name in the textual form, `words` are values of parameters."""

    word: ClassVar[str] = ""
    words: ClassVar[tuple[str, ...]] = ()

    def __str__(self) -> str:
        """``@vector{width = 4}``; "" for what is undecided."""
        given = [field for field in fields(self) if getattr(self, field.name) != field.default]
        values = ", ".join(f"{field.name} = {getattr(self, field.name)}" for field in given)
        return f"@{self.word}{{{values}}}" if values else f"@{self.word}" if self.word else ""


@dataclass(frozen=True, slots=True)
class Undecided(Schedule):
    """A map that no pass has looked at yet; none is left in codegen form."""


@dataclass(frozen=True, slots=True)
class Sequential(Schedule):
    """One iteration after the other, in order."""

    word: ClassVar[str] = "sequential"


@dataclass(frozen=True, slots=True)
class Parallel(Schedule):
    """The iterations are divided among the threads of a team.

    `collapse`: those of so many parameters, the outermost first, are; 0: of all whose ranges are independent.
    `chunk`: so many iterations in a row, then the next thread's turn; 0: as many as there are for each thread.
    `above`: a team is started for more iterations than these, those of maps inside included; one thread runs fewer.
    `width`: so many iterations of the innermost parameter in one vector instruction; 1: none; 0: the machine's.
    """

    word: ClassVar[str] = "parallel"
    chunk: int = 0
    above: int = 0
    width: int = 1
    collapse: int = 0


@dataclass(frozen=True, slots=True)
class Vector(Schedule):
    """Several iterations of the innermost parameter in one vector instruction.

    `width`: so many; 0: the machine's. `streamed_above`: rows of a result that has more bytes than these are stored
    past the caches (`ir.analysis.parallelism.nontemporal_stores` says which); 0: none are.
    """

    word: ClassVar[str] = "vector"
    width: int = 0
    streamed_above: int = 0


@dataclass(frozen=True, slots=True)
class Unrolled(Schedule):
    """The body is written out `factor` times, along the innermost parameter; 0: for each of its iterations."""

    word: ClassVar[str] = "unrolled"
    factor: int = 0


@dataclass(frozen=True, slots=True)
class Grid(Schedule):
    """One block of threads of a device for each iteration, the last parameter being `x`: a kernel."""

    word: ClassVar[str] = "grid"


@dataclass(frozen=True, slots=True)
class ThreadBlock(Schedule):
    """The iterations are divided among the threads of a block, inside of a `Grid`, the last parameter being `x`.

    Where there are more of them than threads, each thread takes several, a block's width apart.
    """

    word: ClassVar[str] = "block"


@dataclass(frozen=True, slots=True)
class Warp(Schedule):
    """The iterations are divided among the lanes of a warp, the threads of a block that run in step."""

    word: ClassVar[str] = "warp"


@dataclass(frozen=True, slots=True)
class Recorded(Schedule):
    """A loop of the host that launches kernels: the launches of `width` iterations are one graph for the device.

    `graphs` says how many there are: a new one for each of these bands of iterations, or `one` that serves all.
    """

    word: ClassVar[str] = "recorded"
    words: ClassVar[tuple[str, ...]] = ("one",)
    width: int = 1
    graphs: Literal["", "one"] = ""


@dataclass(frozen=True, slots=True)
class Pipelined(Schedule):
    """One iteration starts every `ii` cycles, before those in front of it have ended (FPGAs); 0: as soon as can be.

    `style` says what a missing input does. `stp`: all iterations stand still; `frp`: those that have started go on.
    """

    word: ClassVar[str] = "pipelined"
    words: ClassVar[tuple[str, ...]] = ("stp", "frp")
    ii: int = 0
    style: Literal["", "stp", "frp"] = ""


UNDECIDED, SEQUENTIAL, PARALLEL, VECTOR, UNROLLED = Undecided(), Sequential(), Parallel(), Vector(), Unrolled()
GRID, BLOCK, WARP, PIPELINED = Grid(), ThreadBlock(), Warp(), Pipelined()
SCHEDULES: dict[str, type[Schedule]] = {
    kind.word: kind for kind in (Sequential, Parallel, Vector, Unrolled, Grid, ThreadBlock, Warp, Recorded, Pipelined)
}

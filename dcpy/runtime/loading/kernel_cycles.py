"""Kernel cycles: what runs of a program count of its kernels, of their processes, and of the queues between these."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SimulatedProcess:
    """All runs of a process, or of one of its copies (`number`, or -1): cycles, and those of them that it waited."""

    name: str
    number: int
    runs: int
    cycles: int
    waited: int


@dataclass(frozen=True, slots=True)
class SimulatedQueue:
    """All runs of a queue: how many of its `depth` places were in use at one time."""

    name: str
    used: int
    depth: int


@dataclass(slots=True)
class SimulatedKernel:
    """All runs of a kernel since the last report."""

    name: str
    runs: int = 0
    cycles: int = 0
    processes: list[SimulatedProcess] = field(default_factory=list)
    queues: list[SimulatedQueue] = field(default_factory=list)

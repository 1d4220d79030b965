"""What lowering collects for the device's unit of a program for an FPGA."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.codegen.lir import tree
from dcpy.ir.symbolic import Expr

Queue = tuple[str, tuple[Expr, ...]]  #: of a stream, at indices that parameters of a process are in


@dataclass(frozen=True, slots=True)
class Site:
    """A process that may wait at a queue for ever, and the number of the check that says so."""

    process: str
    stream: str
    pushing: bool
    number: int


@dataclass
class Hardware:
    """What the kernels of one program are. On a `board` arrays move, and how many elements they have is an argument."""

    functions: list[tree.Function] = field(default_factory=list)  # of the device's unit
    kernels: list[tree.Function] = field(default_factory=list)  # those of them that the host calls
    sites: list[Site] = field(default_factory=list)
    function: str = ""  # of the process that is lowered
    changed: set[str] = field(default_factory=set)  # variables of the host that processes of this kernel assign
    board: bool = False
    ports_apart: bool = False  # each reader of an array has a port of the kernel, as Vitis needs it
    launches: dict[str, tree.Function] = field(default_factory=dict)  # by kernel: what the host calls
    unfinished: dict[str, int] = field(default_factory=dict)  # by process or kernel: the check that it has not ended
    refused: int = 0  # the check that the board has refused something
    checking: int = 0  # processes of this kernel that check something
    failed: str = ""  # the array in which they tell what has failed
    queues: dict[Queue, str] = field(default_factory=dict)  # of the process that is lowered: its parameters

    def deadlock(self, base: str) -> str:
        """The function that says whether the last kernel came to its end."""
        return f"{base}_deadlock"

"""The device's unit of a program for an FPGA, as lowering collects it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.codegen.lir import tree
from dcpy.codegen.lower.context import ModuleContext
from dcpy.codegen.lower.device_lowering import DeviceLowering
from dcpy.codegen.lower.fpga.opencl_names import OPENCL_WORDS
from dcpy.ir.symbolic import Expr

Queue = tuple[str, tuple[Expr, ...]]  #: of a stream, at indices that parameters of a process are in


@dataclass(frozen=True, slots=True)
class KernelSite:
    """A process that may wait at a queue for ever, and the number of the check that says so."""

    process: str
    stream: str
    pushing: bool
    number: int


@dataclass
class Hardware(DeviceLowering):
    """Kernels of one program. On a `board`, arrays are copied, and their numbers of elements are arguments."""

    reserved_words = OPENCL_WORDS
    is_host = False  # processes are lowered as what is around them, and become hardware
    names_extents = False  # kernels compute their own

    functions: list[tree.Function] = field(default_factory=list)  # of the device's unit
    kernels: list[tree.Function] = field(default_factory=list)  # those of them that the host calls
    queue_sites: list[KernelSite] = field(default_factory=list)
    function: str = ""  # of the process that is lowered
    # variables of the host that processes of this kernel assign
    assigned_variables: set[str] = field(default_factory=set)
    board: bool = False
    separate_ports: bool = False  # each reader of an array has a port of the kernel, as Vitis needs it
    launches: dict[str, tree.Function] = field(default_factory=dict)  # by kernel: what the host calls
    # by process or kernel: the check that it has not ended
    unfinished_checks: dict[str, int] = field(default_factory=dict)
    refusal_check: int = 0  # the check that the board has refused something
    checking_processes: int = 0  # processes of this kernel that check something
    failure_array: str = ""  # the array for the first failure of each process
    queues: dict[Queue, str] = field(default_factory=dict)  # of the process that is lowered: its parameters

    def deadlock(self, base: str) -> str:
        """The function that says whether the last kernel came to its end."""
        return f"{base}_deadlock"


def hardware_of(module: ModuleContext) -> Hardware:
    """The device's unit of a program for an FPGA."""
    assert isinstance(module.device, Hardware)  # only its lowering asks
    return module.device

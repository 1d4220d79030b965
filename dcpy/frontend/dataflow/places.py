"""Where data lives and how maps run, in the words of data-centric Python: ``dcpy.StorageType``, ``dcpy.ScheduleType``.

Those of CPUs say what the code generator does. Those of other devices are known by name, and refused: dcpy prints code
for CPUs so far.
"""

from __future__ import annotations

from enum import Enum, auto

from dcpy.base.errors import FrontendError
from dcpy.ir.data import Allocation
from dcpy.ir.schedules import PARALLEL, SEQUENTIAL, UNDECIDED, UNROLLED, Schedule


class StorageType(Enum):
    """Where a container lives; ``dcpy.define_local(shape, dtype, storage=dcpy.StorageType.CPU_Heap)``."""

    Default = auto()
    Register = auto()
    CPU_Heap = auto()
    CPU_ThreadLocal = auto()
    CPU_Pinned = auto()
    GPU_Global = auto()
    GPU_Shared = auto()
    FPGA_Global = auto()
    FPGA_Local = auto()
    FPGA_Registers = auto()
    FPGA_ShiftRegister = auto()
    SVE_Register = auto()


class ScheduleType(Enum):
    """How a map runs: ``for i in dcpy.map[0:N] @ dcpy.ScheduleType.Sequential``."""

    Default = auto()
    Sequential = auto()
    Unrolled = auto()
    CPU_Multicore = auto()
    CPU_Persistent = auto()
    MPI = auto()
    SVE_Map = auto()
    GPU_Default = auto()
    GPU_Device = auto()
    GPU_ThreadBlock = auto()
    GPU_ThreadBlock_Dynamic = auto()
    GPU_Persistent = auto()
    FPGA_Device = auto()
    FPGA_Multi_Pumped = auto()


_STORAGES = {
    StorageType.Default: Allocation.UNDECIDED,
    StorageType.Register: Allocation.STACK,  # arrays; a scalar is one anyway
    StorageType.CPU_Heap: Allocation.HEAP,
    StorageType.CPU_Pinned: Allocation.HEAP,  # nothing copies from it to a device
    StorageType.CPU_ThreadLocal: Allocation.UNDECIDED,  # what a map declares belongs to an iteration
}
_SCHEDULES = {
    ScheduleType.Default: UNDECIDED,
    ScheduleType.Sequential: SEQUENTIAL,
    ScheduleType.Unrolled: UNROLLED,
    ScheduleType.CPU_Multicore: PARALLEL,
    ScheduleType.CPU_Persistent: PARALLEL,  # its threads live as long as the process
}


def storage_of(kind: object) -> Allocation:
    """What a storage is in the IR; `FrontendError` for other devices, and for what is none."""
    if isinstance(kind, StorageType) and kind in _STORAGES:
        return _STORAGES[kind]
    raise _refused("storage", kind, StorageType, "leave it out, or use Default, Register or CPU_Heap")


def schedule_of(kind: object) -> Schedule:
    """What a schedule is in the IR; `FrontendError` for other devices, and for what is none."""
    if isinstance(kind, ScheduleType) and kind in _SCHEDULES:
        return _SCHEDULES[kind]
    raise _refused("schedule", kind, ScheduleType, "leave it out, or use Default, Sequential or CPU_Multicore")


def _refused(what: str, kind: object, table: type[Enum], instead: str) -> FrontendError:
    if not isinstance(kind, table):
        return FrontendError(f"{kind!r} is no {what}", help=f"write dcpy.{table.__name__}.Default")
    return FrontendError(
        f"the {what} {kind.name} is not on this device",
        notes=("dcpy prints code for CPUs only so far",),
        help=instead,
    )

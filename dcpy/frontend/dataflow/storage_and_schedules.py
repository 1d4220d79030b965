"""Storage and schedules in the words of data-centric Python: ``StorageType``, ``ScheduleType``.

They mean a memory space and an allocation, or for a schedule. Which of them there are on the device that a program
is compiled for, is the target's decision. Those that nothing in the IR stands for are refused.
"""

from __future__ import annotations

from enum import Enum, auto

from dcpy.base.errors import FrontendError
from dcpy.ir.data import Allocation, Space
from dcpy.ir.schedules import BLOCK, GRID, PARALLEL, SEQUENTIAL, UNDECIDED, UNROLLED, Schedule

StoragePlacement = tuple[Space, Allocation]


class StorageType(Enum):
    """Memory of a container; ``dcpy.define_local(shape, dtype, storage=dcpy.StorageType.CPU_Heap)``."""

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
    """Execution of a map: ``for i in dcpy.map[0:N] @ dcpy.ScheduleType.Sequential``."""

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
    StorageType.Default: (Space.HOST, Allocation.UNDECIDED),
    StorageType.Register: (Space.HOST, Allocation.STACK),  # arrays; a scalar is one anyway
    StorageType.CPU_Heap: (Space.HOST, Allocation.HEAP),
    StorageType.CPU_Pinned: (Space.HOST, Allocation.HEAP),  # where there is a device, its passes choose what is pinned
    StorageType.CPU_ThreadLocal: (Space.HOST, Allocation.UNDECIDED),  # what a map declares belongs to an iteration
    StorageType.GPU_Global: (Space.GLOBAL, Allocation.UNDECIDED),
    StorageType.GPU_Shared: (Space.SHARED, Allocation.UNDECIDED),
    StorageType.FPGA_Global: (Space.GLOBAL, Allocation.UNDECIDED),
    StorageType.FPGA_Local: (Space.LOCAL, Allocation.BRAM),
    StorageType.FPGA_Registers: (Space.LOCAL, Allocation.REGISTERS),
    StorageType.FPGA_ShiftRegister: (Space.LOCAL, Allocation.SHIFT_REGISTER),
}
_SCHEDULES = {
    ScheduleType.Default: UNDECIDED,
    ScheduleType.Sequential: SEQUENTIAL,
    ScheduleType.Unrolled: UNROLLED,
    ScheduleType.CPU_Multicore: PARALLEL,
    ScheduleType.CPU_Persistent: PARALLEL,  # its threads live as long as the process
    ScheduleType.GPU_Default: UNDECIDED,  # the passes of a target know
    ScheduleType.GPU_Device: GRID,
    ScheduleType.GPU_ThreadBlock: BLOCK,
}


def storage_of(kind: object) -> StoragePlacement:
    """Return a storage of the IR; `FrontendError` for storages of unknown devices, and for other objects."""
    if isinstance(kind, StorageType) and kind in _STORAGES:
        return _STORAGES[kind]
    raise _refused("storage", kind, StorageType, "leave it out, or use Default, Register or CPU_Heap")


def require_host(kind: object) -> None:
    """`FrontendError` unless the storage of an argument is in the memory of the host: callers pass NumPy arrays."""
    space, _ = storage_of(kind)
    if space is not Space.HOST:
        assert isinstance(kind, StorageType)
        raise FrontendError(
            f"an argument with the storage {kind.name} would be in the memory of a device",
            notes=("callers pass NumPy arrays, which are in the memory of the host",),
            help="leave the storage out: where a program runs on a device, its arguments are copied there and back",
        )


def schedule_of(kind: object) -> Schedule:
    """Return a schedule of the IR; `FrontendError` for schedules of unknown devices, and for other objects."""
    if isinstance(kind, ScheduleType) and kind in _SCHEDULES:
        return _SCHEDULES[kind]
    if isinstance(kind, ScheduleType) and kind.name.startswith("FPGA_"):
        raise FrontendError(
            f"the schedule {kind.name} is not for single maps",
            notes=("on an FPGA, all maps of a program are pipelines, which the compiler forms",),
            help="leave it out, and compile the program for the device: device=dcpy.DeviceType.FPGA",
        )
    raise _refused("schedule", kind, ScheduleType, "leave it out, or use Default, Sequential or CPU_Multicore")


def _refused(what: str, kind: object, table: type[Enum], instead: str) -> FrontendError:
    if not isinstance(kind, table):
        return FrontendError(f"{kind!r} is no {what}", help=f"write dcpy.{table.__name__}.Default")
    return FrontendError(
        f"the {what} {kind.name} is on no device that dcpy prints code for",
        help=instead,
    )

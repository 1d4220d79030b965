"""Program state: what lowering knows about a program for a GPU, and about one of its functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.codegen.lower.context import Context, ModuleContext
from dcpy.codegen.lower.device_lowering import DeviceLowering
from dcpy.codegen.lower.gpu.kernel_context import KernelContext
from dcpy.codegen.lower.gpu.pending_waits import PendingWait
from dcpy.ir.tree import Element


@dataclass
class GpuProgram(DeviceLowering):
    """A program whose kernels run on a GPU."""

    options: GpuOptions
    kernels_may_fail: bool = False  #: a check may fail on the device
    defers_checks: bool = False  #: and a later call raises its error
    host_waits: bool = False  #: the host waits for the device at the end
    graph_count: int = 0  #: of launches, that its loops record


@dataclass
class FunctionNotes:
    """A function of the host: what the device alone has where a kernel fails, and its last wait."""

    device_only_arguments: Mapping[Element, tuple[str, ...]] = field(default_factory=dict)  #: of kernels
    pending_wait: PendingWait | None = None


def program_of(module: ModuleContext) -> GpuProgram:
    """The state of a program for a GPU."""
    assert isinstance(module.device, GpuProgram)  # only its lowering asks
    return module.device


def notes_of(context: Context) -> FunctionNotes:
    """The notes about a function of a program for a GPU."""
    assert isinstance(context.device_notes, FunctionNotes)
    return context.device_notes


def kernel_of(context: Context) -> KernelContext | None:
    """The kernel that is lowered; None in code of the host."""
    assert context.kernel is None or isinstance(context.kernel, KernelContext)
    return context.kernel

"""The last steps before code generation, on one page."""

from __future__ import annotations

from dcpy.base.options import CpuOptions, Options
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.uses import Uses
from dcpy.transforms.cpu.assign_schedules import assign_schedules
from dcpy.transforms.cpu.assign_storages import assign_storages
from dcpy.transforms.cpu.forward_scalars import forward_scalars
from dcpy.transforms.cpu.hoist_buffers import hoist_buffers
from dcpy.transforms.cpu.keep_buffers import keep_buffers
from dcpy.transforms.cpu.share_buffers import share_buffers


def lower_for_cpu(sdfg: Sdfg, options: Options | CpuOptions | None = None) -> None:
    """Brings an SDFG, and those that it calls, into codegen form, in place. Never changes results."""
    cpu = options.cpu if isinstance(options, Options) else options or CpuOptions()
    _lower(sdfg, cpu, {})


def _lower(sdfg: Sdfg, cpu: CpuOptions, done: dict[Sdfg, None]) -> None:
    """What it calls first, each once."""
    done[sdfg] = None
    for callee in dict.fromkeys(call.sdfg for call in sdfg.body.walk_calls()):
        if callee not in done:
            _lower(callee, cpu, done)
    uses = Uses(sdfg)
    forward_scalars(sdfg, uses)
    assign_storages(sdfg, uses)
    share_buffers(sdfg, uses)
    hoist_buffers(sdfg, uses)
    keep_buffers(sdfg, uses)
    assign_schedules(sdfg, cpu, uses)

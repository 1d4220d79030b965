"""GPUs, through CUDA, HIP or a simulator: kernels in one dialect for all of them, and C++ for the host."""

from __future__ import annotations

from dcpy.base.options import DeviceType, Options
from dcpy.codegen.generate import generate
from dcpy.ir.data import Allocation, Space
from dcpy.ir.machine import GPU_COSTS, GPU_LIMITS, Costs, Limits
from dcpy.ir.schedules import Block, Grid, Recorded, Sequential, Undecided, Unrolled, Vector
from dcpy.runtime.devices.libraries import expansions_there
from dcpy.runtime.toolchain import Toolchain, find_toolchain
from dcpy.targets.chips import tuned
from dcpy.targets.target import Target
from dcpy.transforms.expand import PREFERENCE
from dcpy.transforms.gpu.lowering import gpu_pipeline
from dcpy.transforms.pipeline import Pipeline


def _pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    return gpu_pipeline(options.gpu, costs, limits, expansions_there(options))


def _toolchain(options: Options) -> Toolchain:
    """Of the host: what compiles kernels depends on the device (runtime.devices)."""
    return find_toolchain(options.cpu.compiler)


GPU = Target(
    name="gpu",
    device=DeviceType.GPU,
    schedules=(Sequential, Vector, Unrolled, Undecided, Grid, Block, Recorded),
    spaces=(Space.HOST, Space.PINNED, Space.GLOBAL, Space.SHARED),
    allocations=(Allocation.REGISTER, Allocation.STACK, Allocation.HEAP),
    expansions=PREFERENCE["gpu"],
    costs=GPU_COSTS,
    limits=GPU_LIMITS,
    pipeline=_pipeline,
    generate=generate,
    toolchain=_toolchain,
    tuned=tuned,
)

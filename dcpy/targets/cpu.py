"""The processors of this machine: C++ with OpenMP, compiled by g++ or clang++."""

from __future__ import annotations

from dcpy.base.options import DeviceType, Options
from dcpy.codegen.generate import generate
from dcpy.ir.data import Allocation, Space
from dcpy.ir.machine import COSTS, LIMITS, Costs, Limits
from dcpy.ir.schedules import Parallel, Sequential, Undecided, Unrolled, Vector
from dcpy.runtime.toolchain import Toolchain, find_toolchain
from dcpy.targets.processors import tuned
from dcpy.targets.target import Target
from dcpy.transforms.cpu.lowering import cpu_pipeline
from dcpy.transforms.expand import PREFERENCE
from dcpy.transforms.pipeline import Pipeline


def _pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    return cpu_pipeline(options.cpu, costs, limits)


def _toolchain(options: Options) -> Toolchain:
    return find_toolchain(options.cpu.compiler)


CPU = Target(
    name="cpu",
    device=DeviceType.CPU,
    schedules=(Sequential, Parallel, Vector, Unrolled, Undecided),  # a loop that nobody looked at is sequential
    spaces=(Space.HOST,),
    allocations=(Allocation.REGISTER, Allocation.STACK, Allocation.HEAP),
    expansions=PREFERENCE["cpu"],
    costs=COSTS,
    limits=LIMITS,
    pipeline=_pipeline,
    generate=generate,
    toolchain=_toolchain,
    tuned=tuned,
)

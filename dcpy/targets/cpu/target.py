"""The CPU target: C++ with OpenMP, compiled by g++ or clang++."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import DeviceType, Options
from dcpy.codegen.emit.host_dialects import DIALECTS
from dcpy.codegen.generate import generate
from dcpy.ir.data import Allocation, Space
from dcpy.ir.machine_model import COSTS, LIMITS, Costs, Limits
from dcpy.ir.schedules import Parallel, Sequential, Undecided, Unrolled, Vector
from dcpy.runtime.compilers.toolchain import Toolchain, find_toolchain
from dcpy.runtime.cpu.loading import CPU as RUNTIME
from dcpy.targets.cpu.command_line import CPU as COMMAND_LINE
from dcpy.targets.cpu.costs import tuned
from dcpy.targets.cpu.expansions import CPU as EXPANSIONS
from dcpy.targets.lowered_program import LoweredProgram
from dcpy.targets.target import FindLibrary, Target
from dcpy.transforms.cpu.lowering import cpu_pipeline
from dcpy.transforms.pipeline import Pipeline

if TYPE_CHECKING:
    from dcpy.ir.analysis.costs.nest_time import NestTime


def _pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    return cpu_pipeline(options.cpu, costs, limits)


def _explain(program: LoweredProgram) -> Iterator[str]:
    from dcpy.targets.cpu.explanation import explain_nests  # late, as below: not for compilation

    return explain_nests(program)


def _nest_times(program: LoweredProgram) -> tuple[list[NestTime], Costs, str]:
    from dcpy.targets.cpu.explanation import local_costs, times_of

    costs, whose = local_costs(program.options)
    return times_of(program.sdfg, program.likely_sizes, costs), costs, whose


def _measure(options: Options, find: FindLibrary) -> Iterator[str]:
    from dcpy.targets.cpu.calibration import measured_lines

    return measured_lines(options, find("openblas"))


def _toolchain(options: Options) -> Toolchain:
    return find_toolchain(options.cpu.compiler)


CPU = Target(
    name="cpu",
    device=DeviceType.CPU,
    schedules=(Sequential, Parallel, Vector, Unrolled, Undecided),  # a loop without a decision is sequential
    spaces=(Space.HOST,),
    allocations=(Allocation.REGISTER, Allocation.STACK, Allocation.HEAP),
    expansions=EXPANSIONS.names,
    costs=COSTS,
    limits=LIMITS,
    pipeline=_pipeline,
    generate=generate,
    toolchain=_toolchain,
    tuned=tuned,
    options=CpuOptions,
    dialects=tuple(DIALECTS.values()),
    runtime=RUNTIME,
    command_line=COMMAND_LINE,
    explain=_explain,
    nest_times=_nest_times,
    measure=_measure,
)

"""The FPGA target: processes that stream through queues, as Vitis HLS C++, simulated on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.base.option_groups.fpga import FpgaOptions
from dcpy.base.options import DeviceType, Options
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.fpga.intel_opencl import INTEL
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.codegen.fpga.vitis_hls import VITIS
from dcpy.ir.data import Allocation, Space
from dcpy.ir.fpga.boards import board
from dcpy.ir.machine_model import COSTS, LIMITS, Costs, Limits
from dcpy.ir.schedules import Pipelined, Sequential, Undecided, Unrolled
from dcpy.runtime.compilers.toolchain import Toolchain, find_toolchain
from dcpy.runtime.fpga.loading import FPGA as RUNTIME
from dcpy.targets.findings import Finding
from dcpy.targets.fpga.command_line import FPGA as COMMAND_LINE
from dcpy.targets.fpga.infer_depths import InferDepths
from dcpy.targets.lowered_program import LoweredProgram
from dcpy.targets.target import Target
from dcpy.transforms.fpga.lowering import EXPANSIONS, fpga_pipeline
from dcpy.transforms.pipeline import Pipeline


def _pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    chosen = options.fpga
    width = board(chosen.platform).width if chosen.lanes != 1 else 0
    made = fpga_pipeline(
        limits,
        costs,
        systolic=chosen.systolic,
        steps=chosen.steps,
        width=width,
        lanes=chosen.lanes,
        banks=chosen.banks,
    )
    return Pipeline(made.name, *made.passes, InferDepths(), ensures="fpga")


def _tuned(options: Options, costs: Costs) -> Costs:
    return replace(costs, board=options.fpga.platform, pes=options.fpga.pes)


def _explain(program: LoweredProgram) -> Iterator[str]:
    from dcpy.targets.fpga.explanation import explain_hardware  # late, as below: not for compilation

    return explain_hardware(program)


def _findings() -> Iterator[Finding]:
    from dcpy.targets.fpga.findings import findings

    return findings()


def _toolchain(options: Options) -> Toolchain:
    return find_toolchain(options.cpu.compiler)


FPGA = Target(
    name="fpga",
    device=DeviceType.FPGA,
    schedules=(Pipelined, Sequential, Unrolled, Undecided),
    spaces=(Space.HOST, Space.GLOBAL, Space.LOCAL),
    allocations=(
        Allocation.REGISTER, Allocation.STACK, Allocation.HEAP, Allocation.BRAM, Allocation.REGISTERS,
        Allocation.SHIFT_REGISTER,
    ),
    expansions=EXPANSIONS,
    costs=replace(COSTS, few_rows=0),
    limits=LIMITS,
    pipeline=_pipeline,
    generate=generate_fpga,
    toolchain=_toolchain,
    tuned=_tuned,
    options=FpgaOptions,
    dialects=(CPP, VITIS, INTEL),
    runtime=RUNTIME,
    command_line=COMMAND_LINE,
    explain=_explain,
    findings=_findings,
    left_out=("cyclic-shift-to-map", "partial-dead-store-elimination"),  # a stream has no jumps
)  # fmt: skip

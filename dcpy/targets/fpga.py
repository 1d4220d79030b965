"""FPGAs: processes that stream through queues, as Vitis HLS C++, simulated on this machine."""

from __future__ import annotations

from dataclasses import replace

from dcpy.base.options import DeviceType, Options
from dcpy.codegen.fpga import generate_fpga
from dcpy.ir.boards import board
from dcpy.ir.data import Allocation, Space
from dcpy.ir.machine import COSTS, LIMITS, Costs, Limits
from dcpy.ir.schedules import Pipelined, Sequential, Undecided, Unrolled
from dcpy.runtime.toolchain import Toolchain, find_toolchain
from dcpy.targets.infer_depths import InferDepths
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
)  # fmt: skip

"""The GPU target, through CUDA, HIP or a simulator: kernels in one dialect for all of them, and C++ for the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import DeviceType, Options
from dcpy.codegen.artifact import Artifact
from dcpy.codegen.emit.host_dialects import DIALECTS
from dcpy.codegen.gpu.gpu_cpp import DEVICE
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.data import Allocation, Space
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.schedules import Grid, Recorded, Sequential, ThreadBlock, Undecided, Unrolled, Vector
from dcpy.runtime.compilers.toolchain import Toolchain, find_toolchain
from dcpy.runtime.gpu.loading import GPU as RUNTIME
from dcpy.runtime.gpu.vendor_libraries import expansions_there
from dcpy.targets.findings import Finding
from dcpy.targets.gpu.command_line import GPU as COMMAND_LINE
from dcpy.targets.gpu.costs import tuned
from dcpy.targets.gpu.expansions import GPU as EXPANSIONS
from dcpy.targets.lowered_program import LoweredProgram, StandaloneProgram
from dcpy.targets.target import FindLibrary, Target
from dcpy.transforms.gpu.lowering import gpu_pipeline
from dcpy.transforms.pipeline import Pipeline


def _pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    return gpu_pipeline(options.gpu, costs, limits, expansions_there(options))


def _toolchain(options: Options) -> Toolchain:
    """The compiler of the host: what compiles kernels depends on the device (runtime.gpu)."""
    return find_toolchain(options.cpu.compiler)


def _explain(program: LoweredProgram) -> Iterator[str]:
    from dcpy.targets.gpu.explanation import explain_kernels  # late, as below: not for compilation

    return explain_kernels(program, GPU.costs_for(program.options))


def _measure(options: Options, find: FindLibrary) -> Iterator[str]:
    from dcpy.targets.gpu.findings import measured_lines

    return measured_lines(options)


def _findings() -> Iterator[Finding]:
    from dcpy.targets.gpu.findings import findings

    return findings()


def _standalone(artifact: Artifact, header: str, options: Options, archs: Sequence[str]) -> StandaloneProgram:
    from dcpy.runtime.gpu.standalone_device import header_with_device, with_device

    program, binaries = with_device(artifact, options, archs)
    name = artifact.signature.name
    return StandaloneProgram(program, header_with_device(header, name), {one.file: one.code for one in binaries})


GPU = Target(
    name="gpu",
    device=DeviceType.GPU,
    schedules=(Sequential, Vector, Unrolled, Undecided, Grid, ThreadBlock, Recorded),
    spaces=(Space.HOST, Space.PINNED, Space.GLOBAL, Space.SHARED),
    allocations=(Allocation.REGISTER, Allocation.STACK, Allocation.HEAP),
    expansions=EXPANSIONS.names,
    costs=GPU_COSTS,
    limits=GPU_LIMITS,
    pipeline=_pipeline,
    generate=generate_gpu,
    toolchain=_toolchain,
    tuned=tuned,
    options=GpuOptions,
    dialects=(*DIALECTS.values(), DEVICE),
    runtime=RUNTIME,
    command_line=COMMAND_LINE,
    explain=_explain,
    measure=_measure,
    standalone=_standalone,
    findings=_findings,
    left_out=("partial-dead-store-elimination",),  # a launch takes longer than the stores
)

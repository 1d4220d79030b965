"""The made-up target: a processor without threads and with little stack, which no module of dcpy knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dcpy.base.library_environment import Environment
from dcpy.base.options import DeviceType, Options, resolve_options
from dcpy.codegen.artifact import Artifact, Signature
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.generate import environments_of, host_artifact
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import called_by_host, default_signature
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.schedules import Sequential, Undecided, Unrolled, Vector
from dcpy.ir.sdfg import Sdfg
from dcpy.runtime.loading.devices import DeviceRuntime
from dcpy.targets.command_line import Answers, CommandLine, Flag, LibraryOptions
from dcpy.targets.cpu.target import CPU
from dcpy.targets.findings import Finding
from dcpy.targets.lowered_program import LoweredProgram
from dcpy.transforms.cpu.lowering import cpu_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.targets.made_up.lowering import BareLowering
from tests.targets.made_up.options import BareOptions

NAME = "bare"


def generate(
    sdfg: Sdfg,
    signature: Signature | None,
    environments: Mapping[str, Environment],
    options: Options,
    costs: Costs,
) -> Artifact:
    """The program for the host's compiler, lowered for the bare machine."""
    called_as = called_by_host(signature or default_signature(sdfg))
    device = BareLowering(options.group(BareOptions))
    module = lower_program(sdfg, called_as, options.cpu, environments, costs, device=device)
    return host_artifact(module, called_as, CPP, environments_of(sdfg, module, environments))


def pipeline(options: Options, costs: Costs, limits: Limits) -> Pipeline:
    """The passes of a processor, without threads."""
    stack = options.group(BareOptions).stack
    return cpu_pipeline(replace(options.cpu, openmp=False), costs, replace(limits, stack_bytes=stack))


def explain(program: LoweredProgram) -> Iterator[str]:
    """One line."""
    clock = program.options.group(BareOptions).clock
    yield f"{program.sdfg.name} runs on a bare machine, whose clock is {clock.value}"


def findings() -> Iterator[Finding]:
    """One line of ``dcpy doctor``."""
    yield Finding("bare machine", True, "made up")


def library(answers: Answers) -> LibraryOptions:
    """What ``sdfgcc --device bare`` compiles with."""
    return LibraryOptions(resolve_options({"device": NAME, "bare.clock": answers["clock"]}))


CLOCK = Flag("--clock", "clock of the bare machine", "slow", choices=("slow", "fast"))
BARE = replace(
    CPU,
    name=NAME,
    device=DeviceType.named(NAME),
    schedules=(Sequential, Vector, Unrolled, Undecided),
    options=BareOptions,
    expansions=("maps",),
    pipeline=pipeline,
    generate=generate,
    runtime=DeviceRuntime(context=lambda options: (NAME,)),
    command_line=CommandLine(library, (CLOCK,), measures="count cycles"),
    explain=explain,
    nest_times=None,
    measure=lambda options, find: iter(("an addition takes one cycle",)),
    findings=findings,
)

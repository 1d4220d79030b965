"""A target as one value: what a machine can do, and the way from simple form to code for it.

It is the table of contents of a device: all of dcpy that is for it alone is reached from here.

`dcpy.driver` walks that way and knows no machine; a new target is a new value in the catalog, and the passes and the
emitter that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.base.options import DeviceType, Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import Artifact, Signature
from dcpy.codegen.emit.dialect import Dialect
from dcpy.ir.data import Allocation, Array, Scalar, Space
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.ir.schedules import Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.runtime.compilers.toolchain import Toolchain
from dcpy.runtime.loading.devices import DeviceRuntime
from dcpy.targets.command_line import CommandLine
from dcpy.targets.cost_overrides import with_figures
from dcpy.targets.findings import Finding
from dcpy.targets.lowered_program import LoweredProgram, StandaloneProgram
from dcpy.transforms.overrides import numbers, without
from dcpy.transforms.pipeline import Pipeline

if TYPE_CHECKING:
    from dcpy.ir.analysis.costs.nest_time import NestTime

Passes = Callable[[Options, Costs, Limits], Pipeline]
Tuning = Callable[[Options, Costs], Costs]
Generate = Callable[[Sdfg, Signature, Mapping[str, Environment], Options, Costs], Artifact]
Explain = Callable[[LoweredProgram], Iterator[str]]
NestTimes = Callable[[LoweredProgram], "tuple[list[NestTime], Costs, str]"]
Standalone = Callable[[Artifact, str, Options, Sequence[str]], StandaloneProgram]
FindLibrary = Callable[[str], Environment | None]  #: what a foreign library needs; None where it is not installed
Measure = Callable[[Options, FindLibrary], Iterator[str]]


def as_they_are(options: Options, costs: Costs) -> Costs:
    """The costs of a target, where nothing is known of the very machine."""
    return costs


def without_a_device(artifact: Artifact, header: str, options: Options, archs: Sequence[str]) -> StandaloneProgram:
    """A program that opens no device, as it is."""
    return StandaloneProgram(artifact, header)


def nothing_found() -> Iterator[Finding]:
    """A target that needs nothing but the host's compiler."""
    yield from ()


@dataclass(frozen=True, slots=True)
class Target:
    """A machine to compile for.

    * `options`: the class of its own options, which are set by ``NAME.option``: `Options.group` has them.
    * `schedules`, memory `spaces` and `allocations`: those that `generate` prints, in `dialects` (the host's first).
    * `expansions`: the names of expansions of library nodes, best first.
    * `costs` and `limits`: the numbers by which its passes decide; `tuned` puts what is known of the machine that is
      there into them, `measure` finds that out, and keeps it (None: nothing is measured).
    * `pipeline`: the passes to codegen form for a user's options, the costs and the limits (ask `passes`).
    * `toolchain`: the compiler of the host's text; `ToolchainError` where there is none.
    * `runtime`: how programs for it are loaded and called. `command_line`: what ``sdfgcc`` asks for it.
    * `explain`: lines about a lowered program; `nest_times`: the nests with their times by the model, the costs and
      whose these are in words, where there is a roofline.
    * `left_out`: passes of `auto-optimize` that serve other machines.
    * `standalone`: what a program for C opens the device with.
    * `findings`: what is installed for it here.
    """

    name: str
    device: DeviceType
    schedules: tuple[type[Schedule], ...]
    spaces: tuple[Space, ...]
    allocations: tuple[Allocation, ...]
    expansions: tuple[str, ...]
    costs: Costs
    limits: Limits
    pipeline: Passes
    generate: Generate
    toolchain: Callable[[Options], Toolchain]
    options: type
    dialects: tuple[Dialect, ...]
    runtime: DeviceRuntime
    command_line: CommandLine
    explain: Explain
    nest_times: NestTimes | None = None
    tuned: Tuning = as_they_are
    measure: Measure | None = None
    left_out: tuple[str, ...] = ()
    standalone: Standalone = without_a_device
    findings: Callable[[], Iterator[Finding]] = nothing_found

    def costs_for(self, options: Options) -> Costs:
        """The costs, on the machine that the options choose, but for what these override."""
        costs = self.tuned(options, self.costs)
        return with_figures(costs, numbers(options.overrides)) if options.overrides else costs

    def passes(self, options: Options) -> Pipeline:
        """The passes to codegen form, all by the costs in force, without those that the options leave out."""
        costs = self.costs_for(options)
        return without(self.pipeline(options, costs, self.limits).priced(costs), options.overrides)

    def require_printable(self, lowered: Sdfg) -> None:
        """`CodegenError` where a schedule, a memory or an allocation was chosen that this target does not know."""
        for part in lowered.with_callees():
            for owner in (*part.body.walk_nodes(), *part.body.walk_blocks()):
                if isinstance(owner, Map | Loop) and not isinstance(owner.schedule, self.schedules):
                    known = ", ".join(f"@{kind.word}" for kind in self.schedules if kind.word)
                    raise self._unknown(f"schedule {owner.schedule}", owner.span, known)
            for region in part.body.walk_regions():
                for name, desc in region.containers.items():
                    if isinstance(desc, Scalar | Array):
                        self._require_storage(name, desc)

    def _require_storage(self, name: str, desc: Scalar | Array) -> None:
        if desc.space not in self.spaces:
            known = ", ".join(f"@{space.value}" for space in self.spaces)
            raise self._unknown(f"memory @{desc.space.value}, which {name!r} is in", desc.span, known)
        if desc.transient and desc.allocation not in self.allocations:
            known = ", ".join(f"@{allocation.value}" for allocation in self.allocations)
            raise self._unknown(f"allocation @{desc.allocation.value}, which {name!r} has", desc.span, known)

    def _unknown(self, what: str, span: SrcSpan | None, known: str) -> CodegenError:
        return CodegenError(f"the target {self.name!r} has no {what}", span=span, help=f"it has {known}")

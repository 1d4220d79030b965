"""Answers to "why": what the compiler decides about a program, and what it declines, with reasons.

The remarks of passes are gathered by running the pipelines on copies; nothing is changed, and nobody else pays for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dcpy import driver, plugins
from dcpy.base.errors import ArgumentError
from dcpy.base.options import DeviceType, Options
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.remarks import Remark
from dcpy.ir.interp.arguments import symbols_of
from dcpy.ir.machine import entries
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.signatures import Convention, signature_of
from dcpy.runtime.simulation import SimulatedKernel
from dcpy.targets.catalog import target_for
from dcpy.transforms.api import Transformation, matches
from dcpy.transforms.api import explain as table_of
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.catalog import PASSES, PIPELINES, TRANSFORMATIONS
from dcpy.transforms.distributed.plans import expect_sizes
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline
from dcpy.transforms.running import run_pipeline

if TYPE_CHECKING:
    from dcpy.programs.roofline import Roofline


def explain(
    sdfg: Sdfg,
    step: object,
    options: Options,
    sizes: Mapping[str, int],
    simulated: Mapping[str, SimulatedKernel] | None = None,
) -> str:
    """Every match of a transformation with its verdict; or what a pass remarks when the SDFG is lowered.

    A pass that is no part of lowering, or one with parameters, is run alone, on a copy whose symbols have `sizes`.
    With None: the transformations of the auto-optimizer that match anywhere, then all that lowering remarks; for CPUs,
    what bounds each nest where `sizes` says those of symbols; for devices, what becomes of each kernel. `simulated` is
    what kernels of hardware have told about a run with these sizes.
    """
    plugins.load()
    if step is None:
        kinds = dict.fromkeys(part for part in AUTO_OPTIMIZE.parts() if isinstance(part, Transformation))
        found = [table_of(sdfg, kind) for kind in kinds if next(iter(matches(kind, sdfg)), None) is not None]
        return "\n".join([*found, _lowering(sdfg, options, sizes=sizes, simulated=simulated)])
    if isinstance(step, Pass):
        return _alone(sdfg, step, options, sizes)
    if isinstance(step, str) and step in PASSES:
        lowering = {part.name for part in target_for(options.device).passes(options).parts()}
        return _lowering(sdfg, options, step) if step in lowering else _alone(sdfg, PASSES[step](), options, sizes)
    return table_of(sdfg, driver.transformation(step))


def roofline(sdfg: Sdfg, options: Options, sizes: Mapping[str, int]) -> Roofline:
    """The nests of a program for CPUs as points below what the processor can do."""
    from dcpy.programs.explained_nests import costs_here, times_of
    from dcpy.programs.roofline import Roofline

    lowered, _ = driver.lower(sdfg, options)
    costs, whose = costs_here(options)
    return Roofline.of(times_of(lowered, {**_typical(sdfg), **sizes}, costs), costs.processor, whose)


def sizes_of(sdfg: Sdfg, convention: Convention | None, arguments: Mapping[str, Any]) -> dict[str, int]:
    """The values that symbols have in a call with these arguments; none where they are types, not values."""
    values = arguments if convention is None else convention.taken_apart(arguments)
    try:
        return symbols_of(sdfg, {name: value for name, value in values.items() if name in sdfg.arguments}, {})
    except (ArgumentError, AttributeError):
        return {}


def _lowering(
    sdfg: Sdfg,
    options: Options,
    step: str = "",
    sizes: Mapping[str, int] | None = None,
    simulated: Mapping[str, SimulatedKernel] | None = None,
) -> str:
    """What the passes of the target say, or one of them; in the order of the Python code."""
    target = target_for(options.device)
    lowered, report = driver.lower(sdfg, options, until=step, explain=True)
    remarks = [remark for remark in report.remarks or [] if step in ("", remark.step)]
    if not step:  # a transformation looks at much that it is not for; it is asked by its name
        remarks = [remark for remark in remarks if remark.applied or remark.step not in TRANSFORMATIONS]
    kernels: Iterable[str] = ()
    if not step and options.device is DeviceType.GPU:
        from dcpy.programs.explained_kernels import explained  # programs for CPUs have none

        artifact = driver.artifact_of(sdfg, signature_of(sdfg), options)
        kernels = explained(lowered, artifact, report.remarks or [], options, {**_typical(sdfg), **(sizes or {})})
    if not step and options.device is DeviceType.CPU:
        from dcpy.programs.explained_nests import explained as nests  # who asks about one pass is spared it

        kernels = nests(lowered, options, {**_typical(sdfg), **(sizes or {})})
    if not step and options.device is DeviceType.FPGA:
        from dcpy.programs.explained_hardware import explained as hardware  # as above

        kernels = hardware(lowered, options, sizes or {}, simulated or {})
    return "\n".join([f"{step or target.passes(options)}:", *_lines(remarks), *kernels])


def _typical(sdfg: Sdfg) -> dict[str, int]:
    """The values that symbols have in a typical run, as the user says."""
    return {name: known.typical for name, known in sdfg.assumed.items() if known.typical is not None}


def _alone(sdfg: Sdfg, step: Pass, options: Options, sizes: Mapping[str, int]) -> str:
    """What a pass remarks that is run by itself."""
    made = copy_sdfg(sdfg)
    expect_sizes(made, sizes)
    report = run_pipeline(made, Pipeline("explained", step), check=options.check, explain=True)
    return "\n".join([f"{step.name}:", *_lines(report.remarks or [])])


def _lines(remarks: Iterable[Remark]) -> Iterator[str]:
    told = sorted(dict.fromkeys(remarks), key=lambda remark: remark.line)  # stable: passes stay in their order
    width = max((len(str(remark.span or "")) for remark in told), default=0)
    for remark in told:
        yield f"  {remark.span or ''!s:{width}}  {remark}".rstrip()


def passes(options: Options) -> Iterator[tuple[str, str]]:
    """Name and first line of the documentation of every transformation and pass; then each pipeline, as it runs; then
    the numbers by which the passes of the target decide."""
    plugins.load()
    for registry in (TRANSFORMATIONS, PASSES):
        for name in registry:
            yield name, (registry[name].__doc__ or "").strip().split("\n")[0]
    target = target_for(options.device)
    for pipeline in (*(PIPELINES[name] for name in PIPELINES), target.passes(options)):
        yield f"[{pipeline}]", ", ".join(map(str, pipeline.passes))
    for title, table in (("costs", target.costs_for(options)), ("limits", target.limits)):
        yield f"[{title} of {target.name}]", ", ".join(f"{name}={value}" for name, value in entries(table))

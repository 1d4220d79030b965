"""Explanations: what the compiler decides about a program, and what it declines, with reasons.

The remarks of passes are gathered by running the pipelines on copies; nothing is changed, and compilation gets no
slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dcpy import driver, plugins
from dcpy.base.errors import ArgumentError, DeviceError
from dcpy.base.options import Options
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.remarks import Remark
from dcpy.ir.interp.running import symbols_of
from dcpy.ir.machine_model import entries
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.explanation.sequential_parts import sequential_parts
from dcpy.programs.signatures import Convention, signature_of
from dcpy.targets.catalog import target_for
from dcpy.targets.lowered_program import LoweredProgram
from dcpy.transforms.api import Transformation, explain_in_words
from dcpy.transforms.api import explain as table_of
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.catalog import PASSES, PIPELINES, TRANSFORMATIONS
from dcpy.transforms.distributed.planning.user_plans import expect_sizes
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline

if TYPE_CHECKING:
    from dcpy.programs.explanation.roofline import Roofline
    from dcpy.runtime.loading.kernel_cycles import SimulatedKernel
    from dcpy.targets.target import NestTimes


def explain(
    sdfg: Sdfg,
    step: object,
    options: Options,
    sizes: Mapping[str, int],
    simulated: Mapping[str, SimulatedKernel] | None = None,
) -> str:
    """Every match of a transformation with its verdict; or what a pass remarks when the SDFG is lowered.

    A pass that is no part of lowering, or one with parameters, is run alone, on a copy whose symbols have `sizes`.
    With None: the transformations of the auto-optimizer that apply, and the fusions that do not; then all that lowering
    remarks; which loops stay sequential; for CPUs, what bounds each nest where `sizes` says those of symbols; for
    devices, what becomes of each kernel. `simulated` has the cycles of simulated kernels in a run with these sizes.
    """
    plugins.load()
    if step is None:
        kinds = dict.fromkeys(part for part in AUTO_OPTIMIZE.parts() if isinstance(part, Transformation))
        found = [table for kind in kinds if (table := _worth_reading(sdfg, kind))]
        return "\n".join([*found, _lowering(sdfg, options, sizes=sizes, simulated=simulated)])
    if isinstance(step, Pass):
        return _alone(sdfg, step, options, sizes)
    if isinstance(step, str) and step in PASSES:
        lowering = {part.name for part in target_for(options.device).passes(options).parts()}
        return _lowering(sdfg, options, step) if step in lowering else _alone(sdfg, PASSES[step](), options, sizes)
    return table_of(sdfg, driver.transformation(step))


def roofline(sdfg: Sdfg, options: Options, sizes: Mapping[str, int]) -> Roofline:
    """The nests of a program for CPUs as points below what the processor can do; `DeviceError` for other devices."""
    from dcpy.programs.explanation.roofline import Roofline

    times_of = require_roofline(options)
    times, costs, whose = times_of(_seen(sdfg, driver.lower(sdfg, options)[0], options, sizes=sizes))
    return Roofline.of(times, costs.processor, whose, sdfg)


def require_roofline(options: Options) -> NestTimes:
    """Return the model of the times of nests; `DeviceError` where the target of the options has none."""
    found = target_for(options.device).nest_times
    if found is None:
        raise DeviceError("a roofline is of programs for CPUs", help="explain() has the times of kernels")
    return found


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
    """Return the remarks of the target's passes, or of one of them; in the order of the Python code."""
    target = target_for(options.device)
    lowered, report = driver.lower(sdfg, options, until=step, explain=True)
    remarks = [remark for remark in report.remarks or [] if step in ("", remark.step)]
    if not step:  # refusals of transformations are shown on request only
        remarks = [remark for remark in remarks if remark.applied or remark.step not in TRANSFORMATIONS]
        if sdfg.span is not None:  # of a library's programs, a Fourier transform's say, nobody has seen a line
            remarks = [remark for remark in remarks if remark.span is not None]
    seen = _seen(sdfg, lowered, options, report.remarks or [], sizes, simulated)
    parts = () if step else (*sequential_parts(sdfg, lowered), *target.explain(seen))  # not for one pass
    return "\n".join([f"{step or target.passes(options)}:", *_lines(remarks), *parts])


def _seen(
    sdfg: Sdfg,
    lowered: Sdfg,
    options: Options,
    remarks: Sequence[Remark] = (),
    sizes: Mapping[str, int] | None = None,
    simulated: Mapping[str, SimulatedKernel] | None = None,
) -> LoweredProgram:
    """A program as its target explains it."""
    return LoweredProgram(
        lowered,
        options,
        remarks,
        sizes or {},
        _typical(sdfg),
        simulated or {},
        signature=lambda: signature_of(lowered),
        artifact=lambda: driver.artifact_of(sdfg, signature_of(sdfg), options),
    )


def _worth_reading(sdfg: Sdfg, kind: Transformation[Any]) -> str:
    """The table of a transformation, empty where it has no verdict.

    It has all verdicts of fusions, and of other transformations the places where they apply.
    """
    table = explain_in_words(sdfg, kind)
    if isinstance(kind, MapFusion) or not table:
        return table
    title, *rows = table.splitlines()
    rows = [row for row in rows if row.startswith("  yes")]
    return "\n".join([title, *rows]) if rows else ""


def _typical(sdfg: Sdfg) -> dict[str, int]:
    """The values that symbols have in a typical run, as the user says."""
    return {name: known.typical for name, known in sdfg.assumed.items() if known.typical is not None}


def _alone(sdfg: Sdfg, step: Pass, options: Options, sizes: Mapping[str, int]) -> str:
    """Return the remarks of a pass that runs by itself."""
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

"""Pass manager: runs a pipeline on an SDFG and those that it calls, pass by pass.

So one can stop after any pass, and look at the whole program there: as text, or as the remarks of the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dcpy.base.errors import InvalidSdfg
from dcpy.base.registry import unknown_name
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline, RunReport, run_pass

Observer = Callable[[Pass, Sdfg], None]  #: called after each pass, with the SDFG that the pipeline runs on


def run_pipeline(
    sdfg: Sdfg,
    pipeline: Pipeline,
    *,
    check: bool = False,
    explain: bool = False,
    until: str = "",
    observer: Observer | None = None,
) -> RunReport:
    """Run a pipeline on an SDFG and its callees, in place; return what each pass did.

    With `check` each change is verified, and so are the forms that passes require and ensure; with `explain` the report
    has remarks. `until` names the last pass to run; `UnknownName` where the pipeline has none of that name.
    """
    report = RunReport(remarks=[] if explain else None)
    rewriters: dict[Sdfg, Rewriter] = {}
    steps = steps_until(pipeline, until)
    for step in steps:
        if check:
            _verify_form(sdfg, step.requires, f"{step} needs that")
        for current in _callers_first(sdfg):
            if current not in rewriters:
                rewriters[current] = Rewriter(current, step.name, check=check, remarks=report.remarks)
            run_pass(step, rewriters[current], report)
        if check:
            _verify_form(sdfg, step.ensures, f"{step} should have left it so")
        if observer is not None:
            observer(step, sdfg)
    if check and not until:
        _verify_form(sdfg, pipeline.ensures, f"{pipeline} should have left it so")
    return report


def steps_until(pipeline: Pipeline, until: str) -> tuple[Pass, ...]:
    """The steps up to the one called `until`, which is the last; all where it is "". `UnknownName` where none is."""
    steps = tuple(pipeline.steps())
    names = [step.name for step in steps]
    if until and until not in names:
        raise unknown_name(f"pass of {pipeline}", until, tuple(dict.fromkeys(names)))
    return steps[: names.index(until) + 1] if until else steps


def _callers_first(sdfg: Sdfg) -> Iterator[Sdfg]:
    """An SDFG and those that it calls, each once; what one calls is looked up after it was transformed."""
    pending, done = [sdfg], {sdfg: None}
    while pending:
        current = pending.pop()
        yield current
        fresh = [call.sdfg for call in current.body.walk_calls() if call.sdfg not in done]
        done |= dict.fromkeys(fresh)
        pending += dict.fromkeys(fresh)


def _verify_form(sdfg: Sdfg, form: str, note: str) -> None:
    """Steps that promise a form, or need one, are held to it. That it is well-formed was verified at each change."""
    if form == Pass.ensures:
        return
    from dcpy.ir.verify import form_named, verify

    try:
        verify(sdfg, form_named(form))
    except InvalidSdfg as error:
        notes = (*error.notes, f"{note} (the {form} form)")
        raise InvalidSdfg(error.message, span=error.span, notes=notes, help=error.help) from error

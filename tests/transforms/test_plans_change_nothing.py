"""Passes that decline change nothing: an entry in the history stands for a change of the text, and vice versa."""

from __future__ import annotations

import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.base.options import resolve_options
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text.printer import print_sdfg
from dcpy.targets.catalog import target_for
from dcpy.transforms.api import Transformation
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.passes import GraphPass
from tests.support.tiers import some

#: with loops that tiles take, and those that they try and leave
NAMES = ("adi", "arc_distance", "correlation", "deriche", "fdtd_2d", "mandelbrot1", "nussinov", "spmv", "vadv")


def graph_of(name):
    arguments = kernels()[name].initialize("XS")
    return dcpy.program(kernels()[name].function).to_sdfg(*arguments.values())


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("name", some(NAMES, "adi", "deriche", "spmv"))
def test_the_history_has_what_changed(name, device):
    options = resolve_options({"device": device})
    machine = target_for(options.device)
    pipelines = [AUTO_OPTIMIZE.priced(machine.costs_for(options)), machine.passes(options)]
    sdfg, changed = graph_of(name), 0
    for step in (step for pipeline in pipelines for step in pipeline.parts()):
        if not isinstance(step, GraphPass | Transformation):
            continue
        text, entries = print_sdfg(sdfg), len(sdfg.history)
        step.run(Rewriter(sdfg, step.name))
        same = print_sdfg(sdfg) == text
        assert same == (len(sdfg.history) == entries), step.name
        changed += not same
    assert changed


def test_what_was_tried_and_taken_back_is_no_change():
    sdfg = graph_of("adi")
    rw = Rewriter(sdfg, "trial")
    start = rw.mark()
    inner = rw.mark()
    rw.update(sdfg.body.blocks[0], span=None)
    rw.undone(inner)
    rw.undone(start)
    assert rw.version > 0
    assert not rw.changed

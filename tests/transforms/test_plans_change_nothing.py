"""Passes that decline change nothing: an entry in the history stands for a change of the text, and vice versa."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy.base.errors import DcpyError
from dcpy.base.options import resolve_options
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.text.printer import print_sdfg
from dcpy.targets.catalog import target_for
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS
from tests.support.tiers import some

#: with loops that tiles take, and those that they try and leave
NAMES = ("adi", "arc_distance", "correlation", "deriche", "fdtd_2d", "mandelbrot1", "nussinov", "spmv", "vadv")


def graph_of(name):
    arguments = kernels()[name].initialize("XS")
    return dcpy.program(kernels()[name].function).to_sdfg(*arguments.values())


TARGETS = {
    "cpu": {"device": "cpu"},
    "gpu": {"device": "gpu"},
    "xilinx": {"device": "fpga", "fpga_vendor": "xilinx"},
    "intel": {"device": "fpga", "fpga_vendor": "intel"},
}


def doubled(a):
    return np.sin(a) * 2 + a.sum()


def of_vectors(x, y, n):
    z = np.zeros_like(x)
    for i in range(1, x.shape[0] - 1):
        z[i] = x[i - 1] + x[i + 1]
    large = x > 0.5
    z[large] = np.sqrt(x[large])
    total = 0.0
    for k in range(n):
        total += np.exp(y).sum() * k
    return z @ y + total, np.cumsum(x), np.sort(y)


def of_matrices(a, b, steps):
    c = a @ b
    for _ in range(steps):
        c[1:-1, 1:-1] = 0.25 * (c[:-2, 1:-1] + c[2:, 1:-1] + c[1:-1, :-2] + c[1:-1, 2:])
        if c[0, 0] > 3:
            break
    d = doubled(c) + doubled(b)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                d[i, j] += a[i, :] @ b[:, j]
    return d.T, d.max(axis=0)


OWN = {
    of_vectors: (np.ones(16), np.ones(16), 3),
    of_matrices: (np.ones((8, 8)), np.ones((8, 8)), 3),
}


def own_graphs():
    return [dcpy.program(function).to_sdfg(*arguments) for function, arguments in OWN.items()] + [graph_of("go_fast")]


def snapshot(sdfg):
    """What an SDFG and those that it calls are, and what their histories have."""
    parts = sdfg.with_callees()
    return [print_sdfg(part) for part in parts], [list(part.history) for part in parts]


def brought_down(sdfg, options, only=None, *, explain=False):
    """Runs the steps to codegen form, or some of them, each one held to its history; returns which changed anything."""
    options = resolve_options(options)
    machine = target_for(options.device)
    pipelines = [AUTO_OPTIMIZE.priced(machine.costs_for(options)), machine.passes(options)]
    changing = []
    for number, step in enumerate(step for pipeline in pipelines for step in pipeline.steps()):
        if only is not None and number not in only:
            continue
        text, history = snapshot(sdfg)
        for part in sdfg.with_callees():
            step.run(Rewriter(part, step.name, remarks=[] if explain else None))
        after, entries = snapshot(sdfg)
        if len(after) == len(text):  # else callees were inlined
            assert (after == text) == (entries == history), step.name
        if after != text or entries != history:
            changing.append(number)
    return changing


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", some(NAMES, "adi", "deriche", "spmv"))
def test_the_history_has_what_changed(name, target):
    assert brought_down(graph_of(name), TARGETS[target])


@pytest.mark.parametrize("target", TARGETS)
def test_passes_that_change_nothing_leave_nothing_behind(target):
    """Without them, and with remarks, the others do the same to the letter: names, order and histories."""
    for sdfg, again in zip(own_graphs(), own_graphs(), strict=True):
        changing = brought_down(sdfg, TARGETS[target])
        assert changing
        brought_down(again, TARGETS[target], changing, explain=True)
        assert snapshot(again) == snapshot(sdfg)


@pytest.mark.parametrize("target", some([None, *TARGETS], None, "gpu", "xilinx"))
def test_all_passes_of_the_catalog_enter_what_they_change(target):
    """As a program is written, and as each target has it: passes meet what their pipelines do not give them, too."""
    for sdfg in own_graphs():
        if target is not None:
            brought_down(sdfg, TARGETS[target])
        for registry in (TRANSFORMATIONS, PASSES):
            for name in registry:
                tried = copy_sdfg(sdfg)
                text, history = snapshot(tried)
                try:
                    for part in tried.with_callees():
                        registry[name]().run(Rewriter(part, name))
                except DcpyError:  # what may be applied again and again, what was lowered before
                    continue
                after, entries = snapshot(tried)
                if len(after) == len(text):
                    assert (after == text) == (entries == history), name


ONES = """
    sdfg @f(x: f64[N]) symbols(N: size) {
      state { map i = 0:N { tasklet () -> (o -> x[i]) { o = 1.0 } } }
    }"""


def test_what_an_element_has_already_is_no_change():
    sdfg = dcpy.parse(ONES)
    (node,) = (node for node in sdfg.body.walk_nodes() if isinstance(node, Map))
    rw = Rewriter(sdfg, "trial")
    rw.update(node, schedule=SEQUENTIAL)
    before = rw.version
    rw.update(node, schedule=SEQUENTIAL)
    rw.redeclare("x", replace(sdfg.desc("x")))
    assert rw.version == before
    rw.update(node, claimed=not node.claimed)
    assert rw.version > before


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

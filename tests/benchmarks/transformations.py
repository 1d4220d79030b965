"""Every transformation on every kernel of NPBench: wherever it says yes, one match at a time, on a copy.

Each result is verified and interpreted, its maps in a shuffled order and watched for races; it must compute what the
kernel as written computes, which is what NumPy does. `python -m tests.benchmarks.transformations [kernel ...]` prints
a table; a failure names kernel, form and history entry (`dcpy.transforms.history.replay` applies it again).
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dcpy
from benchmarks.npbench import Kernel, kernels
from dcpy import driver, plugins
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.interp import run
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.cpu.lowering import cpu_pipeline
from dcpy.transforms.expand import ExpandLibraryNodes
from dcpy.transforms.history import replay
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR
from tests.support.applications import applications
from tests.support.oracles import assert_equal
from tests.support.spent import Stopwatch

TINY: dict[str, dict[str, float]] = {  # instead of those of the smallest preset, where the interpreter takes long
    "adi": {"TSTEPS": 2, "N": 5},
    "cavity_flow": {"ny": 5, "nx": 4, "nt": 2, "nit": 2},
    "channel_flow": {"ny": 4, "nx": 3, "nit": 2, "nu": 50.0},
    "conv2d_bias": {"N": 1, "H": 5, "W": 5},
    "deriche": {"W": 4, "H": 5},
    "hdiff": {"I": 2, "J": 3, "K": 2},
    "heat_3d": {"TSTEPS": 2, "N": 4},
    "lenet": {"N": 1, "H": 16, "W": 16},
    "mandelbrot1": {"XN": 4, "YN": 3, "maxiter": 4},
    "mandelbrot2": {"XN": 4, "YN": 3, "maxiter": 4},
    "nbody": {"N": 3, "tEnd": 0.05},
    "resnet": {"N": 1, "W": 3, "H": 2, "C1": 2, "C2": 2},
    "scattering_self_energies": {"Nkz": 1, "NE": 2, "Nqz": 1, "NA": 2},
    "vadv": {"I": 2, "J": 3, "K": 4},
}
PARTS: dict[str, dict[str, Any]] = {  # of arguments whose sizes no preset says; numbers in place of others
    "lenet": {
        "input": np.s_[:, :8, :8], "conv1": np.s_[:3, :3, :, :2], "conv1bias": np.s_[:2],
        "conv2": np.s_[:2, :2, :2, :3], "conv2bias": np.s_[:3], "fc1w": np.s_[:3, :4], "fc1b": np.s_[:4],
        "fc2w": np.s_[:4, :3], "fc2b": np.s_[:3], "fc3w": np.s_[:3, :2], "fc3b": np.s_[:2], "C_before_fc1": 3,
    },
}  # fmt: skip
CPU_PASSES = tuple(
    ExpandLibraryNodes(("pure",)) if isinstance(step, ExpandLibraryNodes) else step
    for step in cpu_pipeline(CpuOptions()).steps()
)
SLOWEST = ("channel_flow", "nbody", "lenet", "cavity_flow", "resnet")  # first, so that no process is left alone


@dataclass
class Outcome:
    """What checking one kernel found: how often what was applied, and the failures, with the size of their SDFG."""

    kernel: str
    matches: Counter[str] = field(default_factory=Counter)  # alone, on a copy of a form
    steps: Counter[str] = field(default_factory=Counter)  # one after the other, as the pipelines do
    failures: list[tuple[int, str]] = field(default_factory=list)


class Reference:
    """A kernel's arguments, and what NumPy makes of them."""

    def __init__(self, kernel: Kernel) -> None:
        plugins.load()
        self.kernel = kernel
        given = kernel.module.initialize(**kernel.sizes["XS"] | TINY.get(kernel.name, {}))
        for name, part in PARTS.get(kernel.name, {}).items():
            given[name] = part if isinstance(part, int) else given[name][part].copy()
        bound = inspect.signature(kernel.function).bind(**given)
        bound.apply_defaults()
        self.arguments: dict[str, Any] = bound.arguments
        single = any(getattr(value, "dtype", None) == np.float32 for value in self.arguments.values())
        self.rtol = 1e-4 if single else 1e-9
        self.afterwards = copy.deepcopy(self.arguments)
        with np.errstate(all="ignore"):
            self.result = kernel.function(**self.afterwards)

    def check(self, sdfg: Sdfg) -> None:
        """`AssertionError`, or what the interpreter raises, unless an SDFG computes the same."""
        mine = copy.deepcopy(self.arguments)
        given = {name: mine[name] for name in sdfg.arguments}
        with np.errstate(all="ignore"):
            result = run(sdfg, given, strict=True)
        assert_equal(result, self.result, self.rtol)
        for name in given:
            assert_equal(mine[name], self.afterwards[name], self.rtol)


def forms(reference: Reference) -> dict[str, Sdfg]:
    """The stages at which transformations meet a kernel."""
    program = dcpy.program(reference.kernel.function)
    written, simple = (program.to_sdfg(**reference.arguments, simplify=simplify) for simplify in (False, True))
    maps, expanded = copy_sdfg(simple), copy_sdfg(simple)
    apply_repeated(maps, AugmentedAssignmentToWCR(loops=True))
    apply_repeated(maps, LoopToMap())
    driver.expand(expanded, ("pure",))
    return {"as written": written, "simplified": simple, "loops as maps": maps, "expanded": expanded}


def check_kernel(name: str) -> Outcome:
    """Everything that can be applied to one kernel, checked."""
    reference, outcome = Reference(kernels()[name]), Outcome(name)
    for trial in trials(forms(reference)):
        counts = outcome.matches if trial.alone else outcome.steps
        counts[trial.name] += 1
        try:
            reference.check(trial.changed())
        except Exception as error:
            outcome.failures.append((len(trial.before), f"{name}, {trial}: {type(error).__name__}: {error}"))
            if not trial.alone:
                break  # what follows stands on it
    return outcome


@dataclass(frozen=True)
class Trial:
    """One application: of what, to which form, described by its history entry; `changed` makes the result."""

    name: str
    form: str
    entry: str
    before: str  # the text of the SDFG
    alone: bool
    changed: Callable[[], Sdfg]

    def __str__(self) -> str:
        return f"{self.form}: {self.entry}"


def trials(stages: dict[str, Sdfg]) -> Iterator[Trial]:
    """Matches one at a time on copies; then the steps of the pipelines, and of lowering, in turn.

    A form that is the same as one before it is tried once: without library nodes, say, there is nothing to expand.
    """
    texts = {print_sdfg(sdfg): form for form, sdfg in reversed(stages.items())}
    distinct = {form: (text, stages[form]) for text, form in reversed(texts.items())}
    for form, (text, sdfg) in distinct.items():
        for one in applications(sdfg):
            yield Trial(one.name, form, one.entry, text, True, one.changed)
    for form, (_, sdfg) in distinct.items():
        yield from _cpu_passes(form, sdfg)
    yield from _pipelines(stages)


def _pipelines(stages: dict[str, Sdfg]) -> Iterator[Trial]:
    """The histories of simplify, auto-optimize and expand, replayed step by step."""
    optimized, current = copy_sdfg(stages["simplified"]), copy_sdfg(stages["as written"])
    driver.auto_optimize(optimized)
    driver.expand(optimized, ("pure",))
    for entry in optimized.history:
        before = print_sdfg(current)
        name = entry.split()[0].split("{")[0]
        yield Trial(name, "in turn", entry, before, False, lambda entry=entry: replay(current, [entry], check=True))  # type: ignore[misc]
    assert print_sdfg(current) == print_sdfg(optimized)
    yield from _cpu_passes("optimized", optimized)


def _cpu_passes(form: str, sdfg: Sdfg) -> Iterator[Trial]:
    """The passes that lead to code for CPUs, in their order; BLAS and its like, which are not interpreted, are not."""
    current = copy_sdfg(sdfg)
    for step in CPU_PASSES:

        def changed(step: Pass = step) -> Sdfg:
            run_pipeline(current, Pipeline(f"only {step}", step), check=True)
            return current

        yield Trial(step.name, form, str(step), print_sdfg(current), False, changed)


def check(names: list[str], processes: int = 2) -> list[Outcome]:
    """All outcomes, in the order of the names."""
    order = sorted(names, key=lambda name: SLOWEST.index(name) if name in SLOWEST else len(SLOWEST))
    with ProcessPoolExecutor(processes) as pool:
        found = dict(zip(order, pool.map(check_kernel, order), strict=True))
    return [found[name] for name in names]


def table(outcomes: list[Outcome]) -> str:
    """Transformation by transformation: matches checked alone, steps checked in turn, on how many kernels."""
    plugins.load()
    rows = [f"{'transformation':32} {'matches':>8} {'in turn':>8} {'kernels':>8}"]
    for name in dict.fromkeys((*TRANSFORMATIONS, *(step.name for step in CPU_PASSES))):
        alone, turn = (sum(getattr(one, which)[name] for one in outcomes) for which in ("matches", "steps"))
        where = sum(one.matches[name] + one.steps[name] > 0 for one in outcomes)
        rows.append(f"{name:32} {alone:8} {turn:8} {where:8}")
    total = (sum(sum(getattr(one, which).values()) for one in outcomes) for which in ("matches", "steps"))
    rows.append("{:32} {:8} {:8} {:8}".format("all", *total, len(outcomes)))
    return "\n".join(rows)


def main(names: list[str]) -> int:
    """Prints the table; 1 with the smallest failures if there are any."""
    watch = Stopwatch()
    outcomes = check(names or list(kernels()))
    print(table(outcomes))
    failures = sorted(failure for outcome in outcomes for failure in outcome.failures)
    print(f"{len(failures)} failures, {watch}")
    for _, text in failures[:5]:
        print(f"\n{text}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

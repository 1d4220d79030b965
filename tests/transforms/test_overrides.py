"""Overrides: numbers and passes by text, and the neighbours of a choice."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.errors import UnknownName
from dcpy.base.options import InvalidOption, resolve_options
from dcpy.ir.machine_model import COSTS
from dcpy.targets.catalog import target_for
from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
from dcpy.transforms.overrides import left_out, neighbours, numbers, without
from dcpy.transforms.pipeline import Pipeline, Repeat
from dcpy.transforms.simplify.pipeline import SIMPLIFY


def names(pipeline: Pipeline) -> list[str]:
    return [step.name for step in pipeline.parts()]


def test_numbers_and_passes_are_told_apart() -> None:
    given = ("tile=64", "map-fusion=off", "processor.fork=7")
    assert numbers(given) == {"tile": 64, "processor.fork": 7}
    assert left_out(given) == {"map-fusion"}


def test_a_pass_is_left_out_everywhere() -> None:
    reduced = without(AUTO_OPTIMIZE, ("map-fusion=off",))
    assert "map-fusion" in names(AUTO_OPTIMIZE)
    assert "map-fusion" not in names(reduced)
    assert names(reduced) == [name for name in names(AUTO_OPTIMIZE) if name != "map-fusion"]
    rounds = [step for step in AUTO_OPTIMIZE.passes if isinstance(step, Repeat)]
    assert len([step for step in reduced.passes if isinstance(step, Repeat)]) == len(rounds)


def test_without_overrides_a_pipeline_is_itself() -> None:
    assert without(SIMPLIFY, ()) is SIMPLIFY
    assert names(without(AUTO_OPTIMIZE, ("auto-optimize=off",))) == []


def test_a_target_has_the_numbers_and_the_passes() -> None:
    options = resolve_options({"overrides": ("tile=64", "loops-into-tiles=off")})
    machine = target_for(options.device)
    assert machine.costs_for(options).tile == 64
    assert "loops-into-tiles" not in names(machine.passes(options))
    assert machine.passes(options).ensures == "codegen"


def test_neighbours_differ_in_one_decision_and_begin_with_passes() -> None:
    options = resolve_options()
    pipelines = [AUTO_OPTIMIZE, target_for(options.device).passes(options)]
    found = list(neighbours((), pipelines, COSTS))
    assert found[0] == ("auto-optimize=off",)
    assert ("map-fusion=off",) in found
    assert (f"tile={4 * COSTS.tile}",) in found
    assert all(len(each) == 1 for each in found)
    assert len(set(found)) == len(found)
    assert not any(each[0].startswith(("assign-schedules", "partial-sums", "partial_sum")) for each in found)


def test_neighbours_of_a_choice_change_it_or_add_to_it() -> None:
    found = list(neighbours(("tile=64", "map-fusion=off"), [AUTO_OPTIMIZE], COSTS))
    assert ("map-fusion=off", f"tile={2 * COSTS.tile}") in found
    assert ("tile=64", "map-fusion=off", "node-splitting=off") in found
    assert not any(each.count("map-fusion=off") > 1 for each in found)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("tiles=64", UnknownName, "did you mean tile?"),
        ("map-fuson=off", UnknownName, "did you mean map-fusion?"),
        ("tile", InvalidOption, "has no value"),
        ("tile=0", InvalidOption, "a number above 0"),
        ("tile=-3", InvalidOption, "a number above 0"),
        ("assign-schedules=off", InvalidOption, "no choice"),
    ],
)
def test_what_is_no_override(text: str, error: type[Exception], said: str) -> None:
    options = resolve_options({"overrides": (text,)})
    with pytest.raises(error, match=said):
        target_for(options.device).passes(options)


def test_the_environment_has_several_with_spaces_between() -> None:
    options = resolve_options(environ={"DCPY_OVERRIDES": "tile=64 map-fusion=off"})
    assert options.overrides == ("tile=64", "map-fusion=off")


def test_the_auto_optimizer_goes_by_them() -> None:
    import numpy as np

    import dcpy

    @dcpy.program
    def doubled(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] * 2

    def optimized(*overrides: str) -> str:
        sdfg = doubled.to_sdfg(np.ones(9), np.ones(9))
        driver.auto_optimize(sdfg, resolve_options({"overrides": overrides}))
        return str(sdfg)

    assert "map " in optimized()
    for each in ("auto-optimize=off", "loop-to-map=off"):
        assert "map " not in optimized(each)
        assert "loop " in optimized(each)


def test_costs_reach_each_pass_that_has_some() -> None:
    costs = replace(COSTS, recomputed=7)
    priced = [step for step in AUTO_OPTIMIZE.priced(costs).parts() if hasattr(step, "costs")]
    assert {"library-idioms", "recompute-stencils", "rematerialization"} <= {step.name for step in priced}
    assert all(step.costs == costs for step in priced)
    assert names(AUTO_OPTIMIZE.priced(costs)) == names(AUTO_OPTIMIZE)


TARGETS = [
    {"device": "cpu"},
    {"device": "gpu"},
    {"device": "gpu", "gpu_backend": "simulator"},
    {"device": "fpga", "fpga_vendor": "xilinx"},
    {"device": "fpga", "fpga_vendor": "intel"},
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: "-".join(target.values()))
def test_costs_of_each_target_and_overrides_reach_each_pass(target: dict[str, str]) -> None:
    options = resolve_options({**target, "overrides": ("tile=48", "recomputed=7", "call=5")})
    machine = target_for(options.device)
    costs = machine.costs_for(options)
    assert (costs.tile, costs.recomputed, costs.call) == (48, 7, 5)
    for pipeline in (AUTO_OPTIMIZE.priced(costs), machine.passes(options)):
        priced = [step for step in pipeline.parts() if hasattr(step, "costs")]
        assert priced
        assert [step.name for step in priced if step.costs != costs] == []


def test_no_pass_decides_by_costs_of_its_own() -> None:
    """Costs are fields of passes, with defaults; pipelines of ranks have a model of their own."""
    folder, found = Path(dcpy.__file__).parent / "transforms", []
    for path in sorted(set(folder.rglob("*.py")) - set((folder / "distributed").rglob("*.py"))):
        for line in path.read_text().splitlines():
            found += [f"{path.name}: {line}"] if re.search(r"\bCOSTS\b(?!, Costs$)", line) else []
    defaults = re.compile(r"costs: Costs = COSTS|import COSTS|table = dict\(entries\(COSTS\)\)")
    assert [line for line in found if not defaults.search(line)] == []


@pytest.mark.parametrize("predicated", [1, 1000])
def test_a_cost_decides_about_masks(predicated: int) -> None:
    def root_where_large(a, b):
        large = a > 0.5
        b[large] = np.sqrt(a[large]) * 2

    program = dcpy.program(root_where_large, auto_optimize=True, overrides=(f"predicated={predicated}",))
    history = " ".join(program.to_sdfg(np.ones(10), np.ones(10)).history)
    assert ("masked-update-to-predicated-map" in history) == (predicated == 1000)

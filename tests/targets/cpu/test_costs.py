"""What things cost on a processor: a table, and what was measured instead."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dcpy
from dcpy.base.options import resolve_options
from dcpy.cli.main import main
from dcpy.ir.machine_model import COSTS, entries
from dcpy.runtime.cpu import measured_costs
from dcpy.runtime.storage.cache import Cache
from dcpy.targets.catalog import TARGETS
from dcpy.targets.cost_overrides import with_figures
from dcpy.targets.cpu.calibration import cache_sizes, rows
from dcpy.transforms.cpu.assign_schedules import AssignSchedules
from dcpy.transforms.history import parse_pass

FIGURES = {"processor.cores": 3, "processor.fork": 5_000_000, "processor.latencies.add": 900, "operations.exp": 21}


@pytest.fixture
def chosen(tmp_path):
    return resolve_options({"cache_dir": str(tmp_path / "cache")})


def costs(options):
    return TARGETS["cpu"].costs_for(options)


def test_the_table_where_nothing_was_measured(chosen, tmp_path):
    assert costs(chosen) == COSTS
    assert not (tmp_path / "cache").exists()  # nobody has made a folder to look into it


def test_what_was_measured_comes_first(chosen):
    measured_costs.keep(Cache(chosen.cache_dir), FIGURES)
    found = costs(chosen)
    assert found.threads_pay_above == round(COSTS.processor.wake * 1.5 * 9 / 8 / 100)  # three cores
    assert (found.processor.cores, found.processor.fork, found.processor.latencies.add) == (3, 5_000_000, 900)
    assert (found.operations.exp, found.operations.log) == (21, COSTS.operations.log)
    assert found.processor.latencies.mul == COSTS.processor.latencies.mul


@pytest.mark.parametrize("text", ["[1, 2]", '{"processor.fork": "soon"}', '{"processor.fork": -1}', "no"])
def test_what_is_no_figure_is_none(chosen, text):
    assert measured_costs.figures_of(text) == {}


def test_a_damaged_file_is_none(chosen):
    cache = Cache(chosen.cache_dir)
    place = measured_costs.keep(cache, FIGURES)
    assert measured_costs.kept(cache) == FIGURES
    assert place.stat().st_mode & 0o077 == 0
    place.write_text(place.read_text().replace("5000000", "6000000"))
    assert measured_costs.kept(cache) == {}


def test_another_processor_has_figures_of_its_own(chosen, monkeypatch):
    cache = Cache(chosen.cache_dir)
    measured_costs.keep(cache, FIGURES)
    monkeypatch.setattr(measured_costs, "cpu_id", lambda: "another")
    assert measured_costs.kept(cache) == {}


def test_names_of_another_version_are_left_out():
    assert with_figures(COSTS, {"processor.qubits": 2, "operations": 3, "nothing.at.all": 1}) == COSTS


def test_costs_that_were_measured_are_written_down_in_histories():
    step = AssignSchedules(costs=with_figures(COSTS, FIGURES))
    assert "costs.processor.latencies.add=900" in str(step)
    assert parse_pass(str(step)) == step


def test_sizes_of_caches_come_from_the_system(tmp_path):
    for number, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K")]
    ):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{value}\n")
    assert cache_sizes(tmp_path) == {"processor.l1_bytes": 48 * 1024, "processor.l2_bytes": 2048 * 1024}
    assert cache_sizes(tmp_path / "nothing") == {}


@pytest.mark.cc
def test_the_doctor_measures_and_keeps(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["doctor", "--cpu"]) == 0
    figures = measured_costs.kept(Cache(tmp_path / "cache"))
    known = dict(entries(COSTS))
    assert set(figures) <= set(known)
    needed = {"operation", "gather", "loop", "l1_speed", "memory_speed", "memory_speed_all", "fault", "latencies.add"}
    assert {f"processor.{name}" for name in needed} | {"operations.div", "operations.pow"} <= set(figures)
    said = capsys.readouterr().out
    assert all(f" {name.removeprefix('processor.')} " in said for name in figures)
    assert figures["processor.l1_speed"] > figures["processor.memory_speed"]
    assert figures["operations.pow"] >= figures["operations.div"]


def test_figures_have_units():
    found = dict(rows({"processor.fork": 1_500_000, "processor.operation": 40, "processor.l1_speed": 90_000,
                       "operations.exp": 21, "processor.l2_bytes": 1 << 20, "processor.vector_bytes": 32,
                       "processor.cores": 2, "processor.product_speed": 50_000}))  # fmt: skip
    assert [" ".join(figure.split()) for figure in found.values()] == [
        "1.500 µs", "0.040 ns", "90.0 GB/s", "2.1 ns", "1024 KiB", "32 bytes", "2", "50.0 GFLOP/s"
    ]  # fmt: skip


@pytest.mark.cc
def test_programs_are_made_anew_for_other_figures(tmp_path):
    """A warm start finds the program that was compiled by the same figures, and no other."""

    def compiled():
        @dcpy.program(cache_dir=str(tmp_path / "cache"))
        def twice(a):
            return a * 2.0

        assert twice(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
        return "codegen" in twice.profile

    assert [compiled(), compiled()] == [True, False]
    measured_costs.keep(Cache(tmp_path / "cache"), FIGURES)
    assert [compiled(), compiled()] == [True, False]


def test_what_is_kept_is_only_read(chosen):
    place = measured_costs.keep(Cache(chosen.cache_dir), FIGURES)
    assert json.loads(place.read_text().partition("\n")[2]) == FIGURES

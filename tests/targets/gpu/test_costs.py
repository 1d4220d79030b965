"""Costs of chips: a table, and what was measured instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.base.options import resolve_options
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.runtime.gpu import drivers
from dcpy.runtime.gpu.measured_costs import MeasuredConstants, keep, kept
from dcpy.runtime.storage.cache import Cache
from dcpy.targets.catalog import TARGETS
from dcpy.targets.gpu.costs import CHIPS, costs_of

MEASURED = MeasuredConstants(
    *(2e12, 5e10, 1e10, 5e10, 1e10), launch=2.5e-6, launch_and_wait=8e-6, block_barrier=1.5e-7, operations=9e12
)


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setattr(drivers, "LIBRARIES", {"cuda": ("libnothing.so",), "hip": ("libnothing.so",)})


def options(tmp_path, **more):
    return resolve_options({"device": "gpu", "cache_dir": str(tmp_path / "cache"), **more})


def costs(chosen):
    return TARGETS["gpu"].costs_for(chosen)


def test_every_chip_has_all_speeds():
    for found in CHIPS.values():
        assert min(found.memory_speed, found.operation_speed, found.transfer_speed, found.launch, found.barrier) > 0


def test_the_table_where_nothing_was_measured(tmp_path, no_device):
    assert costs(options(tmp_path)) == GPU_COSTS
    assert costs(options(tmp_path, **{"gpu.arch": "sm_80"})).memory_speed == CHIPS["sm_80"].memory_speed
    assert costs(options(tmp_path, **{"gpu.arch": "sm_999"})) == GPU_COSTS


def test_what_was_measured_comes_first(tmp_path, no_device):
    chosen = options(tmp_path, **{"gpu.arch": "sm_80"})
    cache = Cache(chosen.cache_dir)
    cache.make("0" * 32, "none", lambda folder: (folder / "program.so").touch())  # the folder of the cache
    keep(cache, "sm_80", MEASURED)
    found = costs(chosen)
    assert (found.memory_speed, found.transfer_speed) == (2_000_000, 10_000)
    assert (found.launch, found.wait, found.barrier) == (2500, 8000, 150)
    assert found.operation_speed == 9_000_000
    assert found.block == GPU_COSTS.block
    assert costs(replace(chosen, gpu=replace(chosen.gpu, arch="sm_90"))) == GPU_COSTS


def test_a_damaged_file_is_none(tmp_path):
    chosen = options(tmp_path)
    cache = Cache(chosen.cache_dir)
    keep(cache, "sm_90", MEASURED)
    assert kept(cache, "sm_90") == MEASURED
    place = cache.root / "constants.sm_90.json"
    place.write_text(place.read_text().replace("2000000000000", "3000000000000"))
    assert kept(cache, "sm_90") is None


def test_simulated_programs_are_the_same_everywhere(tmp_path):
    assert costs(options(tmp_path, **{"gpu.backend": "simulator", "gpu.arch": "sm_80"})) is GPU_COSTS


def test_unknown_chips_take_what_they_are_given():
    mine = replace(GPU_COSTS, launch=1)
    assert costs_of("sm_999", None, mine) == mine

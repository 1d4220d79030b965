"""dcpy's own libraries are known in these tests; `small_tiles` lets small arrays reach every part of the loops."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.ir.machine_model import Costs
from dcpy.libraries.contraction import cpu
from tests.libraries import oracles

plugins.load()


@pytest.fixture
def small_tiles(monkeypatch):
    small = Costs(partial_sum=4, row_of_sums=3, sums_per_block=2, rows_per_block=2)
    monkeypatch.setattr(oracles, "COSTS", small)
    monkeypatch.setattr(cpu, "TALL", 1)

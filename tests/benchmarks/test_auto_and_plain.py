"""S-7: auto_optimize makes no kernel slower. Measures time: run by ``make bench``."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.auto_and_plain import BAR, ratios
from benchmarks.loops.programs import PROGRAMS
from benchmarks.npbench import kernels


@pytest.mark.perf
@pytest.mark.cc
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*kernels(), *PROGRAMS])
def test_s7_auto_optimize_makes_nothing_slower(name):
    with np.errstate(all="ignore"):
        ((_, ratio),) = ratios([name])
    assert ratio >= BAR

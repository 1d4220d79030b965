"""Messages and work of real ranks are measured, and plans are chosen by what is kept."""

from __future__ import annotations

import pytest

from dcpy.distributed import world
from dcpy.runtime.distributed.network_calibration import FIGURES, collectives, hidden, measure, scope_of

pytestmark = pytest.mark.mpi


def test_figures_are_the_same_on_all_ranks():
    found = measure(world())
    assert list(found) == list(FIGURES)
    assert all(0 < value < 10**12 for value in found.values())
    assert world().all(found) == [found] * world().size
    assert scope_of(world()) == "one"
    assert all(seconds > 0 for seconds in collectives(world()).values())
    share = hidden(world())
    assert 0 <= share <= 100
    assert world().all(share) == [share] * world().size

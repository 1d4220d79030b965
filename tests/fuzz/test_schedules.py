"""Random schedules of random nests: a short campaign, and that it finds what is wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from dcpy.ir.analysis.dependence_vectors import NestDependences
from tests.fuzz import schedules


def test_schedules_keep_the_meaning_of_nests():
    accepted: Counter[str] = Counter()
    for seed in range(6):
        schedules.check_schedule(seed, accepted)
    assert len(accepted) >= 8


def test_illegal_steps_are_found(monkeypatch, capsys):
    monkeypatch.setattr(NestDependences, "obstacle", lambda self, cone: None)
    steps = {name: schedules.PARAMETERS[name] for name in ("loop-interchange", "loop-distribution")}
    monkeypatch.setattr(schedules, "PARAMETERS", steps)
    assert schedules.main(["3"]) == 1
    assert "Not equal to tolerance" in capsys.readouterr().out


@pytest.mark.heavy
def test_many_schedules():
    assert schedules.main(["300", "5000"]) == 0

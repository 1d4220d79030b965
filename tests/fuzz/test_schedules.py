"""Random schedules of random nests: a short campaign, and that it finds what is wrong."""

from __future__ import annotations

import random

import pytest

from dcpy.ir.analysis.dependence.dependence_vectors import NestDependences
from dcpy.transforms.catalog import TRANSFORMATIONS
from tests.fuzz import schedules
from tests.fuzz.chains import Chains


def test_schedules_keep_the_meaning_of_programs():
    campaign = schedules.Campaign(steps=5, compiled=0)
    for seed in range(5):
        campaign.check(seed)
    assert len(campaign.accepted) >= 8


def test_all_that_schedules_are_made_of_is_drawn():
    assert set(schedules.SCHEDULING) <= set(TRANSFORMATIONS)
    assert set(schedules.PARAMETERS) <= {*schedules.SCHEDULING, *schedules.OTHERS}
    assert set(schedules.RARE) <= set(schedules.SCHEDULING)


def test_illegal_steps_are_found(monkeypatch, capsys):
    monkeypatch.setattr(NestDependences, "obstacle", lambda self, cone: None)
    campaign = schedules.Campaign(("loop-interchange", "loop-distribution"), compiled=0)
    assert schedules.run(6, 0, campaign) > 0
    assert "Not equal to tolerance" in capsys.readouterr().out


def test_random_chains_are_programs_of_numpy():
    texts = [Chains(random.Random(seed)).source for seed in range(20)]
    for what in ("np.sum", ".copy()", "for s", "for j"):
        assert any(what in text for text in texts), what


def test_names_follow_program_order():
    """A history is replayed with one index of uses, in which readers that moved come last: names differed."""
    campaign = schedules.Campaign(steps=12, compiled=0)
    campaign.check(20259)
    assert campaign.accepted["recompute-fusion"] == 1


@pytest.mark.heavy
@pytest.mark.cc
def test_many_schedules():
    campaign = schedules.Campaign()
    assert schedules.run(300, 5000, campaign) == 0
    assert not [name for name in schedules.SCHEDULING if not campaign.accepted[name]]

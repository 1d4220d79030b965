"""The model of time orders versions as they were measured: `python -m benchmarks.model --keep` makes the table."""

from __future__ import annotations

import json

import pytest

from benchmarks import model
from benchmarks.model_pairs import PAIRS


def test_it_orders_nearly_all_measured_pairs_right():
    judged = list(model.judged(json.loads(model.TABLE.read_text())))
    wrong = [(real.name, real.sizes) for real, says in judged if not model.is_right(real, says)]
    assert len(judged) >= 40
    assert len(wrong) <= 0.05 * len(judged), wrong


def test_every_pair_is_in_the_table():
    rows = json.loads(model.TABLE.read_text())["pairs"]
    assert {row["name"] for row in rows} == {pair.name for pair in PAIRS}


@pytest.mark.parametrize(
    ("before", "after", "says", "right"),
    [(1.0, 0.5, (1.0, 0.9), True), (1.0, 0.5, (1.0, 1.2), False), (1.0, 2.0, (1.0, 1.2), True),
     (1.0, 2.0, (1.0, 0.9), False), (1.0, 1.05, (1.0, 3.0), True)],
)  # fmt: skip
def test_what_counts_as_right(before, after, says, right):
    assert model.is_right(model.Measured("", (), before, after), says) is right


@pytest.mark.cc
def test_a_pair_is_measured():
    pair = next(pair for pair in PAIRS if pair.name == "recompute a power")
    found = model.measured(pair, (200,))
    assert 0 < found.before < found.after * 10

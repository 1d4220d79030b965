"""`make fuzz` itself: it counts, ends, finds what is planted, and makes it small."""

import signal
import time

import numpy as np
import pytest

from tests.fuzz import __main__ as campaign
from tests.fuzz import oracles
from tests.fuzz.program import HEAD, Program
from tests.fuzz.programs import seeded
from tests.fuzz.shrink import shrunk

LINES = """\
    t1 = np.sort(a)[::-1]
    for i in range(3):
        if k > i:
            t2 = np.median(np.concatenate((b, b)) + 1)
        else:
            t2 = 2.0
    return t1, c, k
"""


def test_programs_are_counted_by_what_became_of_them():
    found = campaign.check(range(1, 8))
    assert found.failures == []
    assert found.checked["interpreted"] + sum(found.refused.values()) == 7
    assert set(found.checked) <= {"interpreted", "transformed", "used"}


def test_a_seed_stands_for_one_program():
    assert seeded(7) == seeded(7) != seeded(8)


def test_failures_are_made_small():
    def fails(program):
        return "median" in program.source and oracles.reference(program) is not None

    program = Program(HEAD + LINES, dtypes=("int8", *["float64"] * 5), layouts=("F", *["C"] * 5), alias="b is a")
    small = shrunk(program, lambda one: campaign.verdict(lambda p: None if fails(p) else 1 / 0, one) is None)
    assert len(small.source.splitlines()) <= 3
    assert "median" in small.source
    assert (set(small.dtypes), set(small.layouts), small.alias) == ({"float64"}, {"C"}, "")


def test_what_differs_is_told_with_its_seed(monkeypatch, capsys):
    monkeypatch.setattr(oracles, "run_strictly", lambda *given, **how: (np.int64(77), None, ()))
    found = campaign.check(range(1, 3))
    assert [(seed, name) for seed, name, _ in found.failures] == [(1, "interpreted"), (2, "interpreted")]


def test_programs_that_do_not_end_are_stopped():
    def forever(program):
        while True:
            pass

    def waiting(program):
        time.sleep(60)

    assert str(campaign.verdict(forever, seeded(1), 1)) == "runs for more than 1 s"
    assert str(campaign.verdict(waiting, seeded(1), 0.05)) == "runs for more than 1.5 s"


def test_what_numpy_refuses_is_not_compared():
    with pytest.raises(oracles.NotComparable):
        oracles.check_interpreted(Program(HEAD + "    return np.zeros(-1)\n"))


def test_a_limit_ends_what_it_is_around_and_no_more():
    def slow():
        with pytest.raises(TimeoutError, match=r"0\.05 s"), campaign.limited(0.05):
            time.sleep(5)
        with campaign.limited(5):
            pass
        time.sleep(5)

    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeoutError, match=r"0\.3 s"), campaign.limited(0.3):
        slow()
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)

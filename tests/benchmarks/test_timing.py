"""How time is measured: a call is timed when what ran before it is quiet."""

import time

import pytest

from benchmarks import timing


@pytest.mark.parametrize(
    ("used", "looks"),
    [
        ([0.0, 0.0], 1),
        ([0.0, 0.01, 0.01, 0.02, 0.02, 0.0201], 3),
    ],
)
def test_it_waits_until_no_thread_computes(used, looks, monkeypatch):
    times, slept = iter(used), []
    monkeypatch.setattr(time, "process_time", lambda: next(times))
    monkeypatch.setattr(time, "sleep", slept.append)
    timing.settle()
    assert slept == [timing.LOOK] * looks


def test_it_gives_up_on_threads_that_never_sleep(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) * timing.PATIENCE / 10)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    timing.settle()
    assert next(clock) < 40

"""A part of `make check-transforms`: every transformation, wherever it says yes, on a few kernels."""

import pytest

from tests.benchmarks import transformations


@pytest.mark.parametrize("name", ["correlation", "gemm", "jacobi_2d", "softmax"])
def test_transformations_keep_the_meaning_of_kernels(name):
    outcome = transformations.check_kernel(name)
    assert outcome.failures == []
    assert sum(outcome.matches.values()) > 5
    assert set(outcome.steps) >= set(transformations.CPU_PASSES)


def test_failures_are_found_and_told(monkeypatch, capsys):
    monkeypatch.setitem(transformations.CPU_PASSES, "assign-schedules", lambda sdfg: sdfg.body.blocks.clear())
    outcome = transformations.check_kernel("jacobi_2d")
    monkeypatch.setattr(transformations, "check", lambda names: [outcome])
    assert transformations.main(["jacobi_2d"]) == 1
    assert "jacobi_2d, as written: assign-schedules: AssertionError" in capsys.readouterr().out

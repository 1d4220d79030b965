"""A part of `make check-transforms`: every transformation, wherever it says yes, on a few kernels."""

import pytest

from dcpy.transforms.cpu.assign_schedules import AssignSchedules
from tests.benchmarks import transformations
from tests.support.tiers import some


@pytest.mark.parametrize("name", some(("correlation", "gemm", "jacobi_2d", "softmax"), "gemm"))
def test_transformations_keep_the_meaning_of_kernels(name):
    outcome = transformations.check_kernel(name)
    assert outcome.failures == []
    assert sum(outcome.matches.values()) > 5
    assert set(outcome.steps) >= {step.name for step in transformations.CPU_PASSES}


def forget_everything(rw):
    for state in rw.sdfg.body.blocks:
        for node in list(state.nodes):
            rw.erase(node)


def test_failures_are_found_and_told(monkeypatch, capsys):
    monkeypatch.setattr(AssignSchedules, "decide", lambda step, rw: forget_everything(rw))
    outcome = transformations.check_kernel("gemm")
    monkeypatch.setattr(transformations, "check", lambda names: [outcome])
    assert transformations.main(["gemm"]) == 1
    assert "gemm, as written: assign-schedules: AssertionError" in capsys.readouterr().out

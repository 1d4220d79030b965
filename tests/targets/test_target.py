"""Targets: found by name or device, refuse what they do not know, and list the way to their code."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dcpy
from dcpy.base.errors import CodegenError
from dcpy.base.options import Options
from dcpy.ir.data import Storage
from dcpy.ir.schedules import Sequential
from dcpy.targets.catalog import TARGETS, UnsupportedDevice, target_for
from dcpy.targets.cpu import CPU
from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS
from tests.support.expect import parse


def test_a_device_has_a_target():
    assert target_for(dcpy.DeviceType.CPU) is TARGETS["cpu"] is CPU


def test_a_device_without_one_is_refused():
    with pytest.raises(UnsupportedDevice, match="not for fpga"):
        target_for(dcpy.DeviceType.FPGA)


def test_every_step_of_the_pipeline_is_in_a_catalog():
    names = [step.name for step in CPU.pipeline(Options()).parts()]
    assert [name for name in names if name not in PASSES and name not in TRANSFORMATIONS] == []


SCHEDULED = """
    sdfg @f(A: f64[N]) symbols(N: size) {
      data t: f64[4] transient @stack
      state { map i = 0:N @parallel { tasklet () -> (o -> A[i]) { o = 1.0 } } }
    }"""


def test_what_a_target_does_not_know_is_refused():
    sdfg = parse(SCHEDULED)
    CPU.require_printable(sdfg)
    with pytest.raises(CodegenError, match="the target 'one' has no schedule @parallel") as refusal:
        replace(CPU, name="one", schedules=(Sequential,)).require_printable(sdfg)
    assert "it has @sequential" in str(refusal.value)
    with pytest.raises(CodegenError, match="has no storage @stack, which 't' has"):
        replace(CPU, name="one", storages=(Storage.HEAP,)).require_printable(sdfg)

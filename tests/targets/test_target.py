"""Targets: found by name or device, refuse what they do not know, and list the way to their code."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dcpy
from dcpy.base.errors import CodegenError
from dcpy.base.options import Options
from dcpy.ir.data import Allocation
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
    with pytest.raises(CodegenError, match="has no allocation @stack, which 't' has"):
        replace(CPU, name="one", allocations=(Allocation.HEAP,)).require_printable(sdfg)


def test_memory_of_a_device_is_not_for_cpus():
    sdfg = parse(SCHEDULED.replace("A: f64[N]", "A: f64[N] @global"))
    with pytest.raises(CodegenError, match="the target 'cpu' has no memory @global, which 'A' is in"):
        CPU.require_printable(sdfg)

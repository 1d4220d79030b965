"""`explain` on programs for GPUs: what becomes of each kernel, in numbers where sizes are known."""

from __future__ import annotations

import re

import numpy as np

import dcpy
from dcpy.base.errors import ToolchainError
from dcpy.runtime.gpu import nvrtc
from dcpy.targets.gpu.costs import costs_of
from tests.runtime.gpu import chips


def smoothed(x, y, steps):
    for _ in range(steps):
        y[1:-1] = 0.5 * (x[:-2] + x[2:])
        x[1:-1] = y[1:-1]


def kernels_of(*arguments, **options):
    """What is said of kernels, each title with its lines. The first one is for small arrays: all steps in one block."""
    program = dcpy.program(smoothed, device=dcpy.DeviceType.GPU, gpu_backend="simulator", **options)
    said = program.explain(*arguments)
    return re.findall(r"^      (\w+) +(.*)$", said[said.index("\nkernels, by the constants of") :], re.M)


def test_kernels_in_numbers():
    size, costs = 1 << 20, costs_of("sm_80")
    told = kernels_of(np.ones(size), np.ones(size), 100, gpu_arch="sm_80")
    starts = [number for number, (title, _) in enumerate(told) if title == "blocks"]
    first = dict(told[starts[1] : starts[2]])
    assert first["blocks"] == "ceil((N - 2) / 256) blocks of 256 threads"
    assert first["launches"] == "100, in loops over _"
    assert first["bytes"] == "16.8 MB in sectors, 100% of them needed"
    one = 16 * size / costs.memory_speed
    launch = costs.launch / 1000
    assert first["time"] == (
        f"{one:.2f} µs by memory, and {launch:.2f} µs to launch it: {100 * (one + launch):.1f} µs in all"
    )


def test_kernels_in_symbols():
    """Where nobody says the sizes, their bytes are formulas, and there is no time."""
    sdfg = dcpy.program(smoothed).to_sdfg(np.ones(9), np.ones(9), 3)
    said = sdfg.explain(device="gpu", **{"gpu.backend": "simulator"})
    assert "at least 16*max(0, N - 2)" in said
    assert "µs" not in said
    assert "16.8 MB" in sdfg.explain(device="gpu", sizes={"N": 1 << 20, "steps": 1}, **{"gpu.backend": "simulator"})


def test_kernels_say_what_was_declined():
    program = dcpy.program(smoothed, device=dcpy.DeviceType.GPU, gpu_backend="simulator")
    said = program.explain(np.ones(9), np.ones(9), 3)
    told = said[said.index("\nkernels, by the constants of") :]
    assert re.search(r"^      declined  ", told, re.M)
    assert "map-inlining: 'y' must stay in memory: it is an argument, a result, or has views" in told


def test_registers_where_a_compiler_is():
    chips.nvrtc()
    assert re.match(
        r"\d+ registers, 0 bytes of shared memory, no spills, ", dict(kernels_of(np.ones(9), np.ones(9), 3))["chip"]
    )


def test_registers_are_not_known_without_one(monkeypatch):
    def missing(*arguments):
        raise ToolchainError("there is no compiler", help="pip install 'datacentric-python[gpu]'")

    monkeypatch.setattr(nvrtc, "find_nvidia_compiler", missing)
    told = dcpy.program(smoothed, device=dcpy.DeviceType.GPU, gpu_backend="simulator").explain(
        np.ones(9), np.ones(9), 3
    )
    assert "kernels, by the constants of sm_90; registers are not known: pip install 'datacentric-python[gpu]':" in told


def test_programs_for_cpus_have_no_kernels():
    assert "\nkernels" not in dcpy.program(smoothed).explain(np.ones(9), np.ones(9), 3)

"""Generated kernels under hooks: what they move is what their text promises, and nothing races."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice
from dcpy.runtime.gpu.simulator.memory_checks import watching
from dcpy.runtime.loading.load import load
from tests.codegen.test_kernels import AXPY, SMOOTH

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(1)


def compiled(text: str, **more):
    options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.hooks": True, "gpu.seed": 1, **more})
    return compiled_function(load(generate_gpu(parse_sdfg(text), None, None, options), options))


@pytest.mark.parametrize("warp", [32, 64])
def test_axpy_moves_its_arrays_once(warp):
    x, y = RNG.random(1000), RNG.random(1000)
    expected = 2.5 * x + y
    with watching() as seen:
        compiled(AXPY, **{"gpu.warp": warp})(2.5, x, y)
    assert np.array_equal(y, expected)
    (kernel,) = seen.report.kernels
    assert (seen.report.races, seen.report.unwritten) == ((), ())
    assert kernel.moved_bytes == 3 * 8000
    assert all(site.units == site.least for site in kernel.sites)
    assert str(seen.report).startswith(f"kernel {kernel.name}: 1 launches, 1024 threads; asks for 16000 + 8000 bytes")


def test_a_tile_has_its_barriers():
    x = RNG.random((67, 33))
    y = np.zeros_like(x)
    with watching() as seen:
        compiled(SMOOTH)(x, y)
    assert np.array_equal(y[1:-1, 1:-1], (x[:-2, 1:-1] + x[2:, 1:-1]) / 2)
    assert seen.report.races == ()
    assert {site.space for site in seen.report.kernels[0].sites} == {"global", "shared"}


def test_each_watch_sees_its_own_calls():
    x, y = RNG.random(100), RNG.random(100)
    program = compiled(AXPY)
    for calls in (2, 1):
        with watching() as seen:
            for _ in range(calls):
                program(2.5, x, y)
        assert [kernel.launches for kernel in seen.report.kernels] == [calls]


def test_devices_that_ended_are_not_watched():
    """A device that opens later may be at the address of one that was closed."""
    x, y = RNG.random(100), RNG.random(100)
    ended = [SimulatedDevice(resolve_options({}), Settings(hooks=True)) for _ in range(20)]
    for device in ended:
        device.close()
    program = compiled(AXPY, **{"gpu.seed": 3})
    with watching() as seen:
        program(2.5, x, y)
    assert [kernel.launches for kernel in seen.report.kernels] == [1]


def test_places_of_python_are_kept_with_the_program():
    """`load` hands them to the device, whose messages and reports then have both lines."""
    options = resolve_options({"device": "gpu", "gpu.backend": "simulator"})
    artifact = generate_gpu(parse_sdfg(AXPY), None, None, options)
    device = load(artifact, options).device
    assert device.kernel_places == {"axpy.kernels.cu": artifact.kernel_places}
    device.kernel_places = {"axpy.kernels.cu": ((1, SrcSpan("model.py", 3)),)}
    assert device.message() == ""

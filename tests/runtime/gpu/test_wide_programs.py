"""Programs with loads of 16 bytes in the simulator: values at all lengths and places, fewer loads, as many sectors."""

import numpy as np
import pytest

import dcpy
from dcpy.runtime.gpu.simulator.memory_checks import watching

pytestmark = pytest.mark.cc


def axpy(a, x, y):
    y[:] = a * x + y


@pytest.mark.parametrize("warp", [32, 64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fewer_loads_and_as_many_sectors(dtype, warp):
    x, y = (np.random.default_rng(seed).random(4099).astype(dtype) for seed in (1, 2))
    options = {"device": "gpu", "gpu.backend": "simulator", "gpu.hooks": True, "gpu.warp": warp}
    compiled = dcpy.program(axpy).to_sdfg(dtype(2.5), x, y).compile(**options)
    for length in (1, 2, 5, 4099):
        result = y[:length].copy()
        with watching() as seen:
            compiled(dtype(2.5), x[:length], result)
        assert (result == dtype(2.5) * x[:length] + y[:length]).all()
    (kernel,) = seen.report.kernels
    sectors = -(-x.nbytes // 32)
    assert (kernel.read_sectors, kernel.written_sectors) == (2 * sectors, sectors)
    loads = sum(site.accesses for site in kernel.sites if site.way == "read" and site.space == "global")
    assert loads == 2 * (4099 // (16 // x.itemsize) + 4099 % (16 // x.itemsize))
    assert [site for site in kernel.sites if site.units > 1.1 * site.least] == []
    assert seen.report.races == ()

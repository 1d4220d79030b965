"""dcpy on all kernels, unmodified, at tiny sizes: NumPy's results, dtypes and shapes."""

import functools
import re

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.codegen.signature import default_signature

KERNELS = kernels()


@functools.cache
def expected(name):
    """Result and arguments after NumPy's run."""
    arguments = KERNELS[name].initialize("XS")
    return KERNELS[name].function(**arguments), arguments


@pytest.mark.cc
@pytest.mark.parametrize("auto_optimize", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", KERNELS)
def test_equals_numpy(name, auto_optimize):
    arguments = KERNELS[name].initialize("XS")
    result = dcpy.program(KERNELS[name].function, auto_optimize=auto_optimize)(**arguments)
    numpy_result, numpy_arguments = expected(name)
    same(result, numpy_result)
    for argument, value in arguments.items():
        same(value, numpy_arguments[argument])


# NumPy copies there, too: covariance stores each row at two places.
COPIES = {"cavity_flow", "channel_flow", "covariance", "mandelbrot2", "nbody", "stockham_fft", "vadv"}


@pytest.mark.parametrize("name", KERNELS)
def test_nothing_silly(name):
    """No atomic updates, no locks, no calls into Python; copies of whole arrays only where the kernel makes some."""
    kernel = KERNELS[name]
    sdfg = dcpy.program(kernel.function).to_sdfg(*kernel.initialize("XS").values())
    (unit,) = driver.artifact_of(sdfg, default_signature(sdfg), resolve_options()).units
    text = unit.text
    assert not re.search(r"omp (atomic|critical)|dcpy_atomic|PyObject", text)
    assert name in COPIES or not re.search(r"(?<!__builtin_)memcpy", text)


def same(mine, theirs):
    """Equal types, shapes and, up to the order of sums, values."""
    if isinstance(theirs, tuple):
        assert isinstance(mine, tuple)
        for x, y in zip(mine, theirs, strict=True):
            same(x, y)
        return
    assert type(mine) is type(theirs)
    if theirs is None:
        return
    assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)
    single = getattr(theirs, "dtype", None) == np.float32
    np.testing.assert_allclose(
        mine, theirs, rtol=1e-4 if single else 1e-10, atol=1e-4 if single else 1e-12, strict=True
    )

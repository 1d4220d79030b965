"""dcpy on all kernels, unmodified, at tiny sizes: NumPy's results, dtypes and shapes; and what is still refused."""

import copy
import functools

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels

KERNELS = kernels()

# What dcpy refuses so far, and the first line of its message. This list only gets shorter.
REFUSED = {
    "mandelbrot2": "attributes are never written by a program",
}


@functools.cache
def expected(name):
    """Result and arguments after NumPy's run."""
    arguments = KERNELS[name].initialize("XS")
    return KERNELS[name].function(**arguments), arguments


@pytest.mark.cc
@pytest.mark.parametrize("auto_optimize", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", [name for name in KERNELS if name not in REFUSED])
def test_equals_numpy(name, auto_optimize):
    arguments = KERNELS[name].initialize("XS")
    result = dcpy.program(KERNELS[name].function, auto_optimize=auto_optimize)(**arguments)
    numpy_result, numpy_arguments = expected(name)
    same(result, numpy_result)
    for argument, value in arguments.items():
        same(value, numpy_arguments[argument])


@pytest.mark.parametrize("name", REFUSED)
def test_the_list_of_refusals_is_current(name):
    arguments = copy.deepcopy(KERNELS[name].initialize("XS"))
    with pytest.raises(dcpy.DcpyError) as refusal:
        dcpy.program(KERNELS[name].function).to_sdfg(**arguments)
    assert str(refusal.value).splitlines()[0].partition(": ")[2] == REFUSED[name]


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

"""Section 3, `scipy.ndimage`: correlation and convolution in all modes, with origins, of all dtypes."""

import numpy as np
import pytest
import scipy.ndimage as ndi

import dcpy
from tests.support.oracles import check_same

RNG = np.random.default_rng(1)
IMAGE = RNG.normal(size=(5, 4))
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
SHAPES = [(3, 3), (2, 4), (1, 9)]
#: every mode with one shape, by turns; with the others, too, where there is time
COMBINED = [
    pytest.param(mode, shape, marks=[] if (i + j) % len(SHAPES) == 0 else [pytest.mark.heavy])
    for i, mode in enumerate(MODES)
    for j, shape in enumerate(SHAPES)
]


@pytest.mark.parametrize(("mode", "shape"), COMBINED)
@pytest.mark.parametrize("function", [ndi.convolve, ndi.correlate], ids=lambda f: f.__name__)
def test_modes(function, mode, shape):
    def f(x, w):
        return function(x, w, mode=mode, cval=2.5)

    check_same(f, IMAGE, RNG.normal(size=shape), rtol=1e-12, compiled=False)


@pytest.mark.parametrize("mode", MODES[:5])
@pytest.mark.parametrize("function", [ndi.convolve1d, ndi.correlate1d], ids=lambda f: f.__name__)
def test_modes_along_an_axis(function, mode):
    def f(x, w):
        return function(x, w, mode=mode), function(x, w, axis=0, mode=mode, origin=-1), function(x[0], w, cval=1.0)

    for size in (4, 9):
        check_same(f, IMAGE, RNG.normal(size=size), rtol=1e-12, compiled=False)


def test_origins():
    def f(x, w):
        return ndi.convolve(x, w, origin=1), ndi.correlate(x, w, origin=(-1, 0)), ndi.convolve(x, w, origin=(1, -1))

    check_same(f, IMAGE, RNG.normal(size=(4, 3)), rtol=1e-12, compiled=False)


def test_outputs_and_dtypes():
    def f(x, w, out):
        ndi.convolve(x, w, output=out)
        return ndi.convolve(x, w, output=np.float32), ndi.correlate(x, w)

    weights = np.array([[1.0, 2.0, 1.0], [0.0, 0.5, 0.0], [-1.0, 1.0, 0.25]])
    for dtype in ("float64", "float32", "int32", "uint8"):
        x = (np.abs(IMAGE) * 10).astype(dtype)
        check_same(f, x, weights, np.zeros(x.shape, dtype), rtol=1e-6, compiled=False)


def test_complex_numbers():
    def f(x, w):
        return ndi.convolve(x, w, mode="wrap")

    check_same(f, IMAGE + 1j * IMAGE[::-1], RNG.normal(size=(3, 3)), rtol=1e-12, compiled=False)


def test_other_ranks():
    def f(x, w):
        return ndi.convolve(x, w)

    check_same(f, RNG.normal(size=7), RNG.normal(size=3), rtol=1e-12, compiled=False)
    check_same(f, RNG.normal(size=(4, 5, 6)), RNG.normal(size=(3, 3, 2)), rtol=1e-12, compiled=False)


@pytest.mark.parametrize("origin", [2, -2])
def test_exceptions(origin):
    check_same(lambda x: ndi.convolve(x, np.ones((3, 3)), origin=origin), IMAGE, compiled=False)


@pytest.mark.cc
def test_compiled():
    def f(x, w):
        return ndi.convolve(x, w), ndi.correlate(x, w, mode="wrap"), ndi.convolve1d(x, w[0], mode="constant")

    check_same(f, IMAGE, RNG.normal(size=(3, 3)), rtol=1e-12)


def test_images_of_four_dimensions_are_refused_at_the_call():
    with pytest.raises(dcpy.DcpyError, match="more than three dimensions is not compiled") as caught:
        dcpy.program(lambda a, w: ndi.convolve(a, w)).to_sdfg(np.ones((2, 2, 2, 2)), np.ones((1, 1, 1, 1)))
    assert "test_ndimage.py" in str(caught.value)

"""numpy.fft against NumPy: a table of calls over dtypes, lengths and layouts; the messages; compiled programs."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import find
from tests.support.numpy_records import Record, check, interpreted, op
from tests.support.oracles import assert_equal

VECTORS = ((1,), (2,), (5,), (8,), (12,), (37,))
MATRICES = ((3, 4), (5, 1), (2, 7))
CUBES = ((2, 3, 4),)
REAL = ("bool", "int32", "uint8", "float16", "float32", "float64")
ANY = (*REAL, "complex64", "complex128")
LAYOUTS = ("C", "F", "strided", "reversed")

RECORDS = [
    op(lambda a: np.fft.fft(a), shapes=VECTORS, dtypes=ANY),
    op(lambda a: np.fft.fft(a), shapes=(*MATRICES, *CUBES), dtypes=("float64", "complex64"), layouts=LAYOUTS),
    op(lambda a: np.fft.ifft(a), shapes=(*VECTORS, *MATRICES), dtypes=ANY),
    op(lambda a: np.fft.rfft(a), shapes=(*VECTORS, *MATRICES), dtypes=REAL),
    op(lambda a: np.fft.irfft(a), shapes=((2,), (3,), (6,), (3, 5)), dtypes=ANY),
    op(lambda a: np.fft.hfft(a), shapes=((2,), (3,), (6,), (3, 5)), dtypes=ANY),
    op(lambda a: np.fft.ihfft(a), shapes=VECTORS, dtypes=REAL),
    op(lambda a: np.fft.fft(a, 4, 0), shapes=(*MATRICES, *CUBES), layouts=LAYOUTS),
    op(lambda a: np.fft.fft(a, n=3, axis=-2, norm="ortho"), shapes=(*MATRICES, *CUBES), dtypes=("complex128",)),
    op(lambda a: np.fft.ifft(a, a.shape[0] + 2, 0, "forward"), shapes=MATRICES, dtypes=("float32", "complex128")),
    op(lambda a: np.fft.rfft(a, 5, norm="forward"), shapes=(*VECTORS, *MATRICES)),
    op(lambda a: np.fft.rfft(a, axis=0, norm="ortho"), shapes=(*MATRICES, *CUBES), layouts=LAYOUTS),
    op(lambda a: np.fft.irfft(a, 5, axis=0), shapes=(*MATRICES, *CUBES), dtypes=("float64", "complex64")),
    op(lambda a: np.fft.irfft(a, n=6, norm="ortho"), shapes=((1,), (3,), (9,)), dtypes=("complex128",)),
    op(lambda a: np.fft.hfft(a, 7, norm="forward"), shapes=((3,), (4,), (9,)), dtypes=("complex128",)),
    op(lambda a: np.fft.ihfft(a, 4, 0, "ortho"), shapes=MATRICES),
    op(lambda a: np.fft.fft2(a), shapes=(*MATRICES, *CUBES), dtypes=("int32", "complex64"), layouts=LAYOUTS),
    op(lambda a: np.fft.ifft2(a, s=(2, 5)), shapes=(*MATRICES, *CUBES), dtypes=("complex128",)),
    op(lambda a: np.fft.fftn(a), shapes=((5,), *MATRICES, *CUBES), dtypes=("float64", "complex128")),
    op(lambda a: np.fft.fftn(a, axes=(0,)), shapes=(*MATRICES, *CUBES)),
    op(lambda a: np.fft.fftn(a, s=(-1, 2), axes=(0, 1), norm="ortho"), shapes=(*MATRICES, *CUBES)),
    op(lambda a: np.fft.ifftn(a, axes=(1, 0, 1)), shapes=MATRICES, dtypes=("complex128",)),
    op(lambda a: np.fft.rfft2(a), shapes=(*MATRICES, *CUBES), dtypes=("float32", "float64")),
    op(lambda a: np.fft.rfftn(a, axes=(1, 0)), shapes=(*MATRICES, *CUBES)),
    op(lambda a: np.fft.irfft2(a), shapes=((3, 4), (2, 3, 4)), dtypes=("complex128",)),
    op(lambda a: np.fft.irfft2(a, s=(3, 5)), shapes=((3, 4), (2, 3, 4)), dtypes=("complex128",)),
    op(lambda a: np.fft.irfftn(a, norm="forward"), shapes=((3,), (3, 4), (2, 3, 4)), dtypes=("complex64",)),
    op(lambda a: np.fft.fft(a[:, None], axis=0), shapes=((5,),)),
    op(lambda a: np.fft.fft(np.broadcast_to(a, (3, 4))), shapes=((4,),)),
    op(lambda a: np.fft.fftshift(a), shapes=((1,), (4,), (5,), *MATRICES), dtypes=("int32", "complex128")),
    op(lambda a: np.fft.ifftshift(a), shapes=((1,), (4,), (5,), *MATRICES)),
    op(lambda a: np.fft.fftshift(a, axes=1), shapes=MATRICES),
    op(lambda a: np.fft.ifftshift(a, axes=(0, -1)), shapes=CUBES),
    op(lambda a: np.fft.fftfreq(a.shape[0]), shapes=((1,), (4,), (5,))),
    op(lambda a: np.fft.fftfreq(n=8, d=a[0]), shapes=((1,),), dtypes=("float32", "float64"), positive=True),
    op(lambda a: np.fft.rfftfreq(a.shape[0], 0.5), shapes=((1,), (4,), (5,))),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_same_as_numpy(record: Record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("name", [name for name in np.fft.__all__ if name != "test"])
def test_signatures_are_numpys(name):
    function = getattr(np.fft, name)
    mine = [(p.name, p.default) for p in find(function).signature.parameters.values()]
    assert mine == [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


def into_out(a, out):
    result = np.fft.fft(a, out=out)
    result[0] = 7
    return np.fft.ifftn(out)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_results_go_into_out(dtype):
    check(Record(into_out, rtol=1e-5), (np.arange(6.0), np.zeros(6, dtype)))


def crop_or_pad(a, n):
    return np.fft.fft(a, n), np.fft.irfft(a, n)


@pytest.mark.parametrize("n", [-1, 0, 1, 4, 6, 9])
def test_lengths_known_at_run_time(n):
    check(Record(crop_or_pad), (np.arange(6.0), np.int64(n)))


WRONG = {
    "Invalid number of FFT data points (0) specified.": lambda a: np.fft.fft(a, 0),
    'Invalid norm value b; should be "backward","ortho" or "forward".': lambda a: np.fft.fft(a, norm="b"),
    "Shape and axes have different lengths.": lambda a: np.fft.fftn(a, s=(2, 2), axes=(0,)),
    "np.fft.rfft takes real numbers, not complex128": lambda a: np.fft.rfft(a * 1j),
    "axis 2 is out of bounds": lambda a: np.fft.fft(a, axis=2),
    "s must be a tuple of integers": lambda a: np.fft.fftn(a, s=3, axes=(0,)),
}


@pytest.mark.parametrize("message", WRONG)
def test_mistakes_are_named(message):
    with pytest.raises((FrontendError, ValueError)) as refusal:
        interpreted(WRONG[message], np.ones((3, 4)))
    assert message in str(refusal.value)


def spectra(a, z):
    half = np.fft.rfft(a[1:, ::2], axis=0)
    return np.fft.fft2(np.fft.ifft(z)), np.fft.fft(z.T, 7, norm="ortho"), half, np.fft.irfft(half, a.shape[0] - 1, 0)


@pytest.mark.cc
def test_compiled():
    rng = np.random.default_rng(1)
    a, z = rng.random((9, 20)), rng.random((3, 101)) + 1j
    got, expected = dcpy.program(spectra)(a, z), spectra(a, z)
    for mine, theirs in zip(got, expected, strict=True):
        assert_equal(mine, theirs, rtol=1e-12)


@pytest.mark.cc
def test_compiled_single_precision_stays_single():
    a = np.random.default_rng(1).random((5, 8)).astype(np.float32)
    got = dcpy.program(lambda a: np.fft.ifftn(np.fft.fftn(a)))(a)
    assert got.dtype == np.complex64
    np.testing.assert_allclose(got, a, atol=1e-6)

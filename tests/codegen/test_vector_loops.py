"""Vector loops: complex numbers by parts, exponential functions of them, sines and cosines of an angle, records."""

import re
import subprocess

import numpy as np
import pytest

import dcpy
from dcpy.base.vector_math import vector_functions

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

N = dcpy.symbol("N")
#: no products that are infinite or denormal: NumPy adds to some before it rounds
ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e150, 709.5, 1000.0, -745.0, 1e-300)
DTYPES = (np.complex64, np.complex128)
has_vectors = pytest.mark.skipif("cos" not in vector_functions(), reason="this C library has no vectors of cos")


def random_complex(dtype, n=1000, seed=0):
    parts = np.random.default_rng(seed).standard_normal((2, n))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def odd_complex(dtype):
    """All pairs of numbers that are out of the ordinary; in the middle of others, so that some tiles have none."""
    grid = np.empty((len(ODD), len(ODD)), np.complex128)
    grid.real, grid.imag = np.array(ODD)[:, None], np.array(ODD)
    return np.concatenate((random_complex(dtype, 700), grid.ravel().astype(dtype), random_complex(dtype, 300)))


def products(z, w):
    total = z * w
    return total, np.conj(total) * 2, np.abs(total)


def quotients(z, w):
    return z / w, (z - 1) / (z + 1j)


def exponentials(z):
    return np.exp(z), 1 + z * np.exp(-2 * z)


def phases(x):
    return np.exp(1j * x), np.exp(-x * x + 2j * x)


def chosen(z, w):
    found = np.zeros_like(z)
    for i in range(len(z)):
        t = z[i] * w[i]
        if t.real > 0:
            t = t + 1
        found[i] = t * t
    return found


def sums(z):
    return z.sum(), np.vdot(z, z), np.abs(z).sum()


def transformed(x):
    k = np.arange(len(x))
    return (x * np.exp(-2j * np.pi * k[:, None] * k / len(x))).sum(axis=1)


def in_place(z):
    z[:] = np.exp(z)
    return z


def rotated(x, y, angle):
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def is_close(found, expected, rounding, *, whole):
    """Compare parts within a few roundings of the number; NaN, infinities and signs of zeros are the same."""
    found, expected = np.atleast_1d(found), np.atleast_1d(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    scale = np.max(np.abs(expected)) if whole else np.abs(expected)
    for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        assert np.all(same | (np.abs(one - other) <= rounding * scale))
        assert np.all((np.signbit(one) == np.signbit(other)) | ~same | np.isnan(other))


def check(function, *arguments, whole=False):
    expected = function(*(np.copy(each) for each in arguments))
    kind = np.result_type(*arguments)
    rounding = 32 * np.finfo(kind).eps * (16 if whole else 1)
    for optimized in (False, True):
        program = dcpy.program(auto_optimize=optimized)(function)
        found = program(*(np.copy(each) for each in arguments))
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
        for one, other in pairs:
            is_close(one, other, rounding, whole=whole)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [products, quotients, chosen])
def test_of_two(function, dtype):
    check(function, random_complex(dtype), random_complex(dtype, seed=1))
    odd = odd_complex(dtype)
    check(function, odd, np.roll(odd, 37))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [exponentials, in_place])
def test_of_one(function, dtype):
    check(function, random_complex(dtype))
    check(function, odd_complex(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_real_numbers(dtype):
    real = odd_complex(np.complex128).real.astype(dtype)
    check(phases, real[:900])
    check(phases, real)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [sums, transformed])
def test_of_all(function, dtype):
    check(function, random_complex(dtype, 300), whole=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotations(dtype):
    x, y, angle = np.random.default_rng(3).standard_normal((3, 1001)).astype(dtype)
    check(rotated, x, y, angle, whole=True)
    angle[5] = np.inf
    check(lambda a: (np.sin(a), np.cos(a)), angle)


def code(function, *arguments):
    sdfg = dcpy.program(auto_optimize=True)(function).to_sdfg(*arguments)
    return sdfg.code()


def test_variables_are_two():
    z = random_complex(np.complex128)
    text = code(chosen, z, z)
    assert re.search(r"double t\w*_real = ", text)


@has_vectors
def test_a_tile_asks_once_and_leaves_out_what_is_1():
    x = np.linspace(0, 1, 100)
    text = code(lambda x: np.exp(1j * x), x)
    assert "odd |= " in text
    assert "dcpy_cexp(" in text.partition("if (odd != 0)")[2].partition("else")[0]
    assert " exp(" not in text
    assert " exp(" in code(lambda x: np.exp(x + 1j * x), x)


@has_vectors
def test_what_is_computed_after_a_store_is_not_asked_before_it():
    def stored(z):
        for i in range(len(z)):
            z[i] = z[i] + 1
            z[i] = np.exp(z[i])

    assert "odd |= " not in dcpy.program(stored).to_sdfg(random_complex(np.complex128)).code()
    z = random_complex(np.complex128)
    expected = np.exp(z + 1)
    dcpy.program(auto_optimize=True)(stored)(z)
    np.testing.assert_allclose(z, expected, rtol=1e-14)


@has_vectors
def test_a_rotation_has_vectors_of_both_functions(tmp_path):
    x, y, angle = np.random.default_rng(3).standard_normal((3, 1000))
    library = dcpy.program(auto_optimize=True)(rotated).to_sdfg(x, y, angle).compile().path
    called = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True)
    assert re.search(r"_ZGV\w+_sin\b", called.stdout)
    assert re.search(r"_ZGV\w+_cos\b", called.stdout)


def speeds(states):
    return np.sqrt(states[:, 3] ** 2 + states[:, 4] ** 2 + states[:, 5] ** 2)


def headings(angles, lengths):
    return np.sum(lengths * np.cos(angles), axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_records_of_six(dtype):
    states = np.random.default_rng(4).standard_normal((1003, 6)).astype(dtype)
    check(speeds, states)
    check(headings, states, np.arange(1, 7).astype(dtype), whole=True)


def sums_of_rows(function, length):
    def rows(x: dcpy.float64[N, length]):
        return np.sum(function(x), axis=1)

    return dcpy.program(auto_optimize=True)(rows).to_sdfg().code()


@has_vectors
def test_strides_of_which_there_are_groups_stay():
    hidden = [length for length in range(2, 9) if "dcpy_hidden(" in sums_of_rows(np.cos, length)]
    assert hidden == [5, 6, 7]
    assert "dcpy_hidden(" not in sums_of_rows(np.negative, 5)


def anomalies(elements):
    found = elements[:, 5].copy()
    for _ in range(4):
        found -= (found - elements[:, 1] * np.sin(found) - elements[:, 5]) / (1 - elements[:, 1] * np.cos(found))
    return found


@has_vectors
def test_strides_are_hidden_in_front_of_all_loops():
    elements = np.random.default_rng(6).random((1000, 6)) * 0.6
    check(anomalies, elements, whole=True)

    def of_six(elements: dcpy.float64[N, 6]):
        return anomalies(elements)

    text = dcpy.program(auto_optimize=True)(of_six).to_sdfg().code()
    function = next(part for part in text.split("\n}") if "dcpy_hidden(6)" in part and "for (" in part)
    assert function.index("dcpy_hidden(6)") < function.index("for (")


def with_their_names(elements):
    stride = elements[:, 5].copy()
    for _ in range(4):
        stride -= (stride - elements[:, 1] * np.sin(stride) - elements[:, 5]) / (1 - elements[:, 1] * np.cos(stride))
    return 2 * np.tan(stride / 2)


def test_names_of_the_program_stay_its_own():
    check(with_their_names, np.random.default_rng(8).random((700, 6)) * 0.6, whole=True)

"""Known integers of NumPy's own, as 0-d arrays and as scalars, wrap around in their dtype, however they are folded."""

import numpy as np
import pytest

import dcpy
from tests.fuzz.program import define
from tests.support.oracles import check_same

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
OPERATIONS = ("{} + {}", "{} - {}", "{} * {}", "{} * {} > 0", "({} + {}) // 3", "-({} * {})", "np.multiply({}, {})")


def pairs(dtype):
    """Numbers whose sums and products leave the dtype."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    root = 1 << (np.iinfo(dtype).bits // 2)
    return (high, 2), (high, high), (low, high), (root, root), (high // 3, 5), (1, high)


def expressions(dtype, form):
    found = [
        each.format(*(form.format(dtype, number) for number in pair)) for pair in pairs(dtype) for each in OPERATIONS
    ]
    numbers = [form.format(dtype, number) for number in (np.iinfo(dtype).min, np.iinfo(dtype).max, 3)]
    bits = np.iinfo(dtype).bits
    found += [f"{number} << {form.format(dtype, count)}" for number in numbers for count in (1, bits // 2, bits - 1)]
    return found + [f"{number} ** {form.format(dtype, power)}" for number in numbers for power in (2, 3, 9)]


FORMS = {"array": "np.array({1}, np.{0})", "scalar": "np.{0}({1})"}


@pytest.mark.cc
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_known_numbers_wrap_around(dtype, form):
    check_same(define(f"def f():\n    return ({', '.join(expressions(dtype, FORMS[form]))},)\n"))


BESIDE_SYMBOLS = (
    "np.array(2**62) * n * np.array(8)", "np.int64(2**62) * np.int64(n) * 8", "a.size * np.array(2**61) * 8",
    "np.int64(n) * 2**62 + np.int64(2**62) * n", "(np.int64(n) + 2**62) * 4 - np.int64(n) * 4",
    "np.int64(n) ** 8 * 2**60 * 16", "np.array(2**62) + np.array(2**62) + n",
    "np.array(a.shape[0]) * np.array(2**62) * 4",
)  # fmt: skip


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True], ids=["plain", "optimized"])
def test_numbers_beside_symbols_wrap_around(auto):
    function = define(f"def f(a, n):\n    return ({', '.join(BESIDE_SYMBOLS)},)\n")
    check_same(function, np.ones(5), 3, optimized=auto)


@pytest.mark.cc
def test_conditions_see_what_is_left():
    def f(a):
        k, m = np.array(2**40), np.array(2**40)
        product = k * m
        if product > 0:
            a[0] = 1.0
        total = np.array(2**62) + np.array(2**62)
        while total < 0:
            total = total + np.array(2**62)
            a[1] += 1.0
        return product, total

    check_same(f, np.zeros(3), optimized=True)


@pytest.mark.cc
def test_integers_of_python_do_not():
    def f(n):
        return n * 2**62 * 4

    with pytest.raises(OverflowError):
        dcpy.program(f)(3)

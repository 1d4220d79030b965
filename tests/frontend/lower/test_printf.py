# ruff: noqa: UP031  # formats with a percent sign are what is tested
"""``"%d" % n``: texts of values that run time knows are those of Python, in ``print`` and in messages."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import lower, refusal, same

A = np.arange(6.0) + 0.25


def prints_the_same(function, arguments, capsys):
    """Python and the interpreter print one text, one after the other."""
    same(function, *arguments)
    printed = capsys.readouterr().out
    assert printed == 2 * printed[: len(printed) // 2] != ""


@pytest.mark.parametrize("k", [3, -40, np.int32(7), True, np.True_], ids=repr)
def test_integers(k, capsys):
    def f(k):
        print("%5d|%-5d|%05d|%+d|% d|%i" % (k, k, k, k, k, k))
        print("%d" % k, "%s" % k, "%10s|%-4s|%r" % (k, k, k), "%8.3f" % k)

    prints_the_same(f, (k,), capsys)


def test_floats_shapes_and_arrays(capsys):
    def f(a, k, z):
        print("%d %f" % (a.shape[0], a[0]))
        print("shape %s of %s" % (a.shape, a))
        print("%8.3f|%-8.2f|%e|%G|%.0f|%+08.2f|%g" % (a[1], a[2], a[3], a[4], a[5], a[0], z))
        print("%d%%|%x|%#X|%o|%.2s|%d" % (a[2], k, k, k, a[1], z))

    prints_the_same(f, (A, 31, np.array(2.5)), capsys)


def test_messages():
    def f(a, k):
        if k > 2:
            raise ValueError("row %d of %s" % (k, k))
        return a + k

    same(f, A, 1)
    same(f, A, 3)


@pytest.mark.parametrize(("text", "message"), [("%d %d", "not enough"), ("", "not all"), ("%c", "is not supported")])
def test_formats_that_do_not_fit(text, message):
    def f(k):
        print(text % (k,))

    if "supported" in message:
        assert "write an f-string" in refusal(f, 3)
    else:
        with pytest.raises(TypeError, match=message):
            dcpy.program(f)(3)


def test_values_that_do_not_fit():
    assert lower(lambda a: print("%s" % a), A)
    def of_an_array(a):
        print("%d" % a)

    def of_a_float(a):
        print("%x" % a[0])

    assert "a real number is required" in refusal(of_an_array, A)
    assert "an integer is required" in refusal(of_a_float, A)

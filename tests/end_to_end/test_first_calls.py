"""Callbacks whose results nobody declares: the first call of a program runs in Python, and tells their types."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc


def test_the_first_call_tells_the_types():
    @dcpy.callback
    def parts(x):
        return x * 2, np.float32(3), 2, True

    @dcpy.program
    def program(a, *, k):
        b, c, d, e = parts(a)
        return b + k, c * d, d, e

    a = np.arange(3.0)
    for known in (0, 1, 1):
        assert_equal(program(a, k=1), (a * 2 + 1, np.float32(6), 2, True))
        assert program.specializations == known


def test_another_type_raises():
    answers = [1.5, 2.5, 3, 4.5]

    @dcpy.callback
    def answer():
        return answers.pop(0)

    @dcpy.program
    def program(a):
        return a + answer()

    assert program(1.0) == 2.5
    assert program(1.0) == 3.5
    with pytest.raises(TypeError, match="answer returned int 3, but float the first time") as caught:
        program(1.0)
    assert "declare it" in caught.value.help
    assert program(1.0) == 5.5


def test_a_callback_that_was_not_reached_is_asked_for_again():
    @dcpy.callback
    def half(x):
        return x / 2

    @dcpy.program
    def program(a):
        if a > 1.0:
            return half(a)
        return a

    assert [program(0.5), program(4.0), program(5.0), program(0.25)] == [0.5, 2.0, 2.5, 0.25]
    assert program.specializations == 1


def test_results_that_programs_do_not_have_are_refused():
    @dcpy.callback
    def table(x):
        return {1: x}

    @dcpy.program
    def program(a):
        return a, table(a)

    program(1.0)
    with pytest.raises(dcpy.DcpyError, match=r"type of the result of table\(\) is not known") as caught:
        program(1.0)
    assert "its first call has returned dict" in caught.value.notes
    with pytest.raises(dcpy.DcpyError, match=r"type of the result of table\(\) is not known"):
        program.to_sdfg(1.0)

"""Views that NumPy makes read-only are so when a program returns them, and take no stores inside of it."""

import numpy as np
import pytest

import dcpy
from dcpy.driver import interpret
from dcpy.ir.text.parser import parse_sdfg

MATRIX = np.arange(12.0).reshape(3, 4)
SHOWN = {
    "broadcast": lambda m: np.broadcast_to(m[0], (3, 4)),
    "part of a broadcast": lambda m: np.broadcast_to(m[0], (3, 4))[1],
    "of its own shape": lambda m: np.broadcast_to(m, m.shape),
    "diagonal": lambda m: np.diagonal(m),
    "part of a diagonal": lambda m: m.diagonal(1)[::2],
    "diag": lambda m: np.diag(m),
    "windows": lambda m: np.lib.stride_tricks.sliding_window_view(m, (2, 2)),
    "of a local array": lambda m: np.diagonal(m * 2),
    "broadcast of a local array": lambda m: np.broadcast_to((m * 2)[1], (5, 4)),
    "with its array": lambda m: (m, m.diagonal(), m[1:]),
    "a copy": lambda m: np.broadcast_to(m[0], (3, 4)).copy(),
    "computed": lambda m: np.diagonal(m) + 1,
}


def same(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    np.testing.assert_array_equal(found, expected)
    assert found.flags.writeable == expected.flags.writeable
    assert found.strides == expected.strides


@pytest.mark.cc
@pytest.mark.parametrize("name", SHOWN)
def test_results_are_read_only_as_numpys(name):
    same(dcpy.program(SHOWN[name])(MATRIX.copy()), SHOWN[name](MATRIX.copy()))


@pytest.mark.parametrize("name", SHOWN)
def test_the_interpreter_and_the_text_keep_it(name):
    sdfg = dcpy.program(SHOWN[name]).to_sdfg(MATRIX)
    expected = SHOWN[name](MATRIX)
    same(sdfg.interpret(MATRIX), expected)
    same(interpret(parse_sdfg(str(sdfg)), {sdfg.arguments[0]: MATRIX}), expected)


def test_the_kind_of_a_result_says_it():
    def f(m):
        return np.diagonal(m), m[1:]

    assert [result.kind for result in dcpy.program(f).to_sdfg(MATRIX).results] == ["readonly", "view"]


@pytest.mark.parametrize("make", [np.diagonal, lambda m: np.broadcast_to(m[0], (3, 4))[0]])
def test_stores_raise_as_numpys(make):
    def f(m):
        shown = make(m)
        shown[0] = 3.0
        return m

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        f(MATRIX.copy())
    with pytest.raises(ValueError, match="assignment destination is read-only") as caught:
        dcpy.program(f)(MATRIX.copy())
    assert "copy it first" in str(caught.value)


@pytest.mark.cc
def test_a_view_of_a_view_that_may_be_written_may_be():
    def f(m):
        return m.T[1:], m[:, 1]

    found = dcpy.program(f)(MATRIX.copy())
    assert all(part.flags.writeable for part in found)


@pytest.mark.cc
def test_a_program_compiled_for_a_broadcast_says_what_it_takes():
    def f(a):
        return a * 2 + a.sum()

    compiled = dcpy.program(f).compile(np.broadcast_to(MATRIX[0], (3, 4)))
    row = np.broadcast_to(MATRIX[1], (7, 4))
    np.testing.assert_array_equal(compiled(row), f(row))
    with pytest.raises(dcpy.ArgumentError, match="stride 32 in dimension 0, but 0 is needed"):
        compiled(MATRIX)

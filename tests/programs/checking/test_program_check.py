"""`program.check`: the first statement, iteration, element and values that differ from Python."""

import inspect

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc
X = np.array([1.0, np.nan, 3.0])
SEEN = []


def line_of(program, text):
    """The line of a statement, from its text."""
    lines, first = inspect.getsourcelines(program.function)
    (found,) = [k for k, line in enumerate(lines) if line.strip().startswith(text)]
    return first + found


@dcpy.program
def right(x, n):
    x[0] = 7.0
    for k in range(n):
        x[1] += k
    return x.sum(), n


@dcpy.program(cpu_fast_math=True)
def straight(x):
    y = x * 2.0
    z = np.where(np.isnan(y), 0.0, y)
    return z + 1.0


@dcpy.program(cpu_fast_math=True)
def in_a_branch(x, n):
    s = 0.0
    for k in range(n):
        z = x + k
        if k > 2:
            w = np.where(np.isnan(z), 0.0, z)
            s += w.sum()
        else:
            s += k
    return s * 2


@dcpy.program(int_overflow="wrap")
def powers(n):
    k = 1
    rounds = 0
    while rounds < n:
        for _ in range(3):
            k = k * 3
        rounds += 1
    return k % 1000


def test_a_program_that_agrees():
    x = np.arange(3.0)
    found = right.check(x, 4)
    assert found
    assert str(found) == "right() on the target cpu agrees with Python"
    np.testing.assert_array_equal(x, [0.0, 1.0, 2.0])  # copies were changed
    assert powers.check(5)


def test_the_first_statement():
    found = straight.check(X)
    assert not found
    assert found.place.line == line_of(straight, "z = np.where")
    assert (found.difference.name, found.difference.element, found.without) == ("z", (1,), "cpu_fast_math=False")
    text = str(found)
    assert text.startswith("straight() on the target cpu differs from Python: z[1] is 0.0 in Python, and nan in the")
    assert "z = np.where(np.isnan(y), 0.0, y)" in text
    assert "  = note: 1 of 3 elements differ" in text
    assert text.endswith("  = help: with cpu_fast_math=False the program agrees")


def test_the_iteration_and_the_branch():
    found = in_a_branch.check(X, 8)
    assert found.place.line == line_of(in_a_branch, "w = np.where")
    assert [count for _, count in found.iterations] == [4]
    assert [place.line for place, _ in found.iterations] == [line_of(in_a_branch, "for k")]


def test_the_iterations_of_nested_loops():
    found = powers.check(n=40)
    assert found.place.line == line_of(powers, "k = k * 3")
    assert [count for _, count in found.iterations] == [14, 1]
    assert (found.difference.python, found.difference.compiled) == (3**40, 3**40 - 2**64)
    assert found.without == ""


def test_an_exception_in_one_of_them():
    @dcpy.program
    def product(n):
        k = 1
        for i in range(n):
            k = k * 10
        return k > 5

    found = product.check(30)
    assert str(found.difference) == "it returns in Python, and raises OverflowError in the program"
    assert found.place.line == line_of(product, "k = k * 10")
    assert [count for _, count in found.iterations] == [19]


def test_the_same_exception_in_both():
    @dcpy.program
    def reads(x, k):
        return x[k]

    assert reads.check(np.ones(3), 7)


def test_methods_and_disabled_programs():
    class Owner:
        def __init__(self):
            self.scale = 2.0

        @dcpy.program(cpu_fast_math=True)
        def cleaned(self, x):
            y = x * self.scale
            return np.where(np.isnan(y), 0.0, y)

    with dcpy.disable():
        found = Owner().cleaned.check(X)
    assert found.difference.name == "the result"
    assert found.place.line == line_of(Owner.cleaned, "return")


def test_what_is_not_written_is_not_compared():
    @dcpy.program(cpu_fast_math=True)
    def cleaned(x):
        out = np.empty_like(x)
        for k in range(x.shape[0]):
            out[k] = 0.0 if np.isnan(x[k]) else x[k]
        return out

    found = cleaned.check(X)
    assert found.place.line == line_of(cleaned, "out[k] =")
    assert [count for _, count in found.iterations] == [2]
    assert found.difference.element == (1,)


def test_a_lambda_has_one_statement():
    found = dcpy.program(lambda x: np.where(np.isnan(x), 0.0, x), cpu_fast_math=True).check(X)
    assert (found.place, found.difference.element) == (None, (1,))
    assert "no single statement shows it" in str(found)


def test_refused():
    with pytest.raises(dcpy.DcpyError, match="cannot be checked: it has no fixed parameters"):
        dcpy.program(lambda *x: x[0]).check(1)
    with pytest.raises(dcpy.FrontendError):
        dcpy.program(lambda x: SEEN.append(x)).check(1)
    assert SEEN == []  # nothing ran
    with pytest.raises(TypeError):
        right.check(1, 2, 3)

"""Python that is refused, each with its own message, the line, the reason and a rewrite: `test_refuses_...`."""

import sys

import numpy as np
import pytest

import dcpy

A8 = np.arange(8.0)
HISTORY = []
GLOBAL = [1, 2]


def unknown(x):
    return sys.getsizeof(x)


def refusal(function, *arguments):
    """The message for a program, which names this file and says what to write instead."""
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(*(arguments or (A8, 3)))
    text = str(caught.value)
    assert "test_python_refused.py:" in text
    assert "^" in text
    assert "= help: " in text
    return text


def test_refuses_recursion_that_data_ends():
    def halved(x):
        return 1 if x < 2 else 1 + halved(x / 2)

    assert "calls itself" in refusal(lambda a, n: halved(a[0]))


def test_refuses_lists_whose_rows_differ_in_length():
    def f(a, n):
        rows = []
        for i in range(n):
            rows.append(a[:i])
        return len(rows)

    assert "different lengths or shapes" in refusal(f)


def test_refuses_changes_of_a_list_that_may_be_another_one():
    def f(a, n):
        first, second = [1, 2], [3, 4]
        chosen = first
        if n > 3:
            chosen = second
        chosen.append(n)
        return first, second

    assert "'chosen' shows another list on another path through the program" in refusal(f)


def test_refuses_loops_that_change_the_list_that_they_go_over():
    def f(a, n):
        found = [x for x in a]
        for x in found:
            if x > 1:
                found.append(x / 2)
        return len(found)

    def g(a, n):
        found = [1, 2, 3]
        for k, x in enumerate(found):
            found[2 - k] = x
        return found

    for function in (f, g):
        assert "a loop changes the list that it iterates over" in refusal(function)


def test_refuses_changes_of_a_global_list():
    def f(a, n):
        GLOBAL.append(n)
        return a

    assert "it is a global list, which a program only reads" in refusal(f)


def test_refuses_functions_over_the_variable_of_a_comprehension():
    def f(a, n):
        scales = [lambda x: x * k for k in (1, 2, 3)]
        return scales[0](a)

    assert "sees the last value of its variable" in refusal(f)


def test_refuses_sdfgs_of_generators():
    def f(a, n):
        yield a[n]

    assert "a generator has no SDFG of its own" in refusal(f)


def test_refuses_coroutines():
    async def f(a, n):
        return a

    with pytest.raises(dcpy.DcpyError, match="coroutines are not supported"):
        dcpy.program(f).to_sdfg(A8, 3)


def test_refuses_try():
    def f(a, n):
        try:
            return a[n]
        except IndexError:
            return a[0]

    assert "try is not supported" in refusal(f)


def test_refuses_with():
    def f(a, n):
        with open("file"):
            return a / n

    assert "with is not supported" in refusal(f)


def test_refuses_classes_other_than_dataclasses():
    class Counted:
        def __new__(cls):
            return object.__new__(cls)

    def inside(a, n):
        class Local:
            pass

        return a

    refusal(lambda a, n: Counted())
    assert "classes inside a program" in refusal(inside)


def test_refuses_unknown_functions_and_names_the_callback_form():
    assert "callback" in refusal(lambda a, n: a * unknown(n))


def test_refuses_global_and_enclosing_variables_that_are_written():
    def writes_global(a, n):
        global HISTORY
        HISTORY = a
        return a

    known = 0

    def writes_enclosing(a, n):
        nonlocal known
        known = n
        return n

    assert "cannot assign global variables" in refusal(writes_global)
    assert "function around the program are never written" in refusal(writes_enclosing)


def test_refuses_imports_of_unknown_modules():
    def f(a, n):
        import modules_that_nobody_has

        return modules_that_nobody_has.sqrt(n)

    assert "'modules_that_nobody_has' has not been imported" in refusal(f)


def test_refuses_patterns_that_take_the_rest_of_a_dictionary():
    def f(a, n):
        match {"n": n, "m": 2}:
            case {"n": k, **others}:
                return k + len(others)
        return 2

    assert "the pattern \"{'n': k, **others}\" is not supported" in refusal(f)


def test_refuses_writes_to_imaginary_parts_of_real_arrays():
    def whole(a, n):
        a.imag = 3

    def element(a, n):
        a.imag[n] = 3

    for function in (whole, element):
        with pytest.raises(dcpy.DcpyError, match="read-only"):
            dcpy.program(function).to_sdfg(A8, 3)

"""The search without a compiler: a fault is put into one operation, and found wherever it is first seen."""

import numpy as np
import pytest

from dcpy.base.errors import FrontendError
from dcpy.base.options import Options
from dcpy.programs.checking.program_check import check_program


def exact(x):
    return x


def faulty(x):
    return x + 1


def make_with(fault, refused=()):
    """Programs that run in Python, with another function for `operation`; those with some names are refused."""

    def make(function, options):
        def run(**arguments):
            code = function.__code__
            if any(name in code.co_varnames and name in refused for name in code.co_varnames):
                raise FrontendError("refused")
            before = function.__globals__["operation"]
            function.__globals__["operation"] = fault
            try:
                return function(**arguments)
            finally:
                function.__globals__["operation"] = before

        return run

    return make


operation = exact


def straight(x):
    a = x + 1
    b = operation(a)
    c = b * 2
    return c


def in_loops(n):
    total = 0
    for i in range(n):
        part = 0
        for j in range(i):
            if j == 2:
                part += operation(j)
            else:
                part += j
            if part > 100:
                break
        total += part
    else:
        total += 0
    return total


def while_loop(n):
    k = 0
    found = np.zeros(n)
    while k < n:
        if k % 2:
            k += 1
            continue
        found[k] = operation(k)
        k += 1
    return found


def early(n):
    if n > 5:
        m = n + 1
        return operation(m)
    return n


def out_of_a_loop(n):
    for k in range(n):
        if operation(k) == 4:
            return k
    return -1


def found_in_a_loop(n):
    for k in range(n):
        if k == 3:
            return operation(k)
    return -1


def in_a_condition(n):
    s = 0
    for k in range(n):
        if operation(k) > 3:
            s += 1
        else:
            s += 10
    return s


def compensated(n):
    s = operation(n)
    s = 0
    for k in range(n):
        s += k
    return s + operation(0)


def find(function, *, fault=faulty, refused=(), **arguments):
    found = check_program(function, Options(), make_with(fault, refused), arguments)
    return found, found.place.excerpt().strip() if found.place is not None else "", [k for _, k in found.iterations]


@pytest.mark.parametrize(("function", "arguments", "statement", "iterations"), [
    (straight, {"x": 1}, "b = operation(a)", []),
    (in_loops, {"n": 6}, "part += operation(j)", [4, 3]),
    (while_loop, {"n": 5}, "found[k] = operation(k)", [1]),
    (early, {"n": 9}, "return operation(m)", []),
    (out_of_a_loop, {"n": 9}, "if operation(k) == 4:", [4]),
    (found_in_a_loop, {"n": 9}, "return operation(k)", [4]),
    (in_a_condition, {"n": 6}, "if operation(k) > 3:", [4]),
    (compensated, {"n": 3}, "return s + operation(0)", []),
])  # fmt: skip
def test_the_statement(function, arguments, statement, iterations):
    found, place, counts = find(function, **arguments)
    assert not found
    assert (place, counts) == (statement, iterations)


def test_agreement():
    for function in (straight, in_loops, early):
        arguments = {"x": 1} if function is straight else {"n": 6}
        assert find(function, fault=exact, **arguments)[0]


def test_what_cannot_be_compiled_is_stepped_over():
    _, place, counts = find(in_loops, refused=("dcpy_stop_1",), n=6)
    assert (place, counts) == ("for j in range(i):", [4])
    _, place, counts = find(in_loops, refused=("dcpy_stop_0",), n=6)
    assert (place, counts) == ("for i in range(n):", [])


def test_a_condition_is_told():
    assert str(find(in_a_condition, n=6)[0].difference) == "the condition is False in Python, and True in the program"


def test_exceptions():
    def raising(x):
        raise ValueError("wrong")

    found, place, _ = find(straight, fault=raising, x=1)
    assert place == "b = operation(a)"
    assert str(found.difference) == "it returns in Python, and raises ValueError in the program"

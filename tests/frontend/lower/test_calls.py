"""Calls of the user's functions: nodes of their own where arguments allow, in place elsewhere."""

import textwrap

import numpy as np
import sympy

from tests.support.lowering import refusal, refused_line, same, text

A = np.arange(8) * 1.5 - 3
TABLE = np.arange(3.0)


def scale(x, f):
    return x * f


def shift(x, y):
    x[:] = y + 1


def several(x):
    return x.sum(), x + 1, 3, None


def add_table(x):
    return x[:3] + TABLE


def window(x):
    return x[1:3]


def limited(x, n):
    if x[0] > n:
        return x * 2
    return x + 1


def factorial(n):
    if n == 0:
        return 1
    return n * factorial(n - 1)


def test_one_node_per_call_and_one_sdfg_per_types():
    def f(a):
        return scale(a, a[0]) + scale(a, a[1]), scale(a[0], a[1])

    same(f, A)
    printed = text(f, A)
    assert printed.count("call @scale (") == 2
    assert printed.count("call @scale_1 (") == 1
    assert printed.count("sdfg @") == 3


def test_callees_write_through_windows_and_overlaps():
    def f(a, b):
        shift(a[1:], b[:-1])
        shift(a, a)
        shift(a[::-1], b)
        shift(a[2:6], a[1:5])

    same(f, A, A.copy())


def test_results_of_all_kinds():
    def f(a):
        s, b, k, n = several(a)
        return s, b, k, n, limited(a, 3.0), limited(a, -100.0)

    same(f, A)


def test_global_arrays_of_callees_are_arguments():
    def f(a):
        return add_table(a) * 2

    same(f, A)


def test_views_are_evaluated_in_place():
    def f(a):
        v = window(a)
        v[:] = 7
        return v

    same(f, A)


def test_functions_as_arguments():
    def apply(g, x):
        return g(x)

    def f(a):
        return apply(lambda x: x + a[1], a), apply(np.sqrt, a[4:])

    same(f, A)


def test_defaults_keywords_and_varargs():
    def g(a, *rest, k=2, **more):
        for x in rest:
            a = a + x
        return a * k + len(more)

    def f(a):
        return g(a), g(a, 1, a[0], k=3), g(a, other=5)

    same(f, A)


def test_what_was_read_before_a_call_that_writes():
    def set_first(x):
        x[0] = 100
        return x[1]

    def f(a):
        return a[0] + set_first(a), a[0]

    same(f, A)


def test_wrong_arguments():
    assert "scale() missing 1 required argument(s): 'f'" in refusal(lambda a: scale(a), A)
    assert "scale() got an unexpected keyword argument 'g'" in refusal(lambda a: scale(a, f=1, g=2), A)


def test_recursion_is_refused_where_nothing_is_known_of_the_numbers():
    assert refusal(factorial, 3) == (
        "error[frontend.unsupported]: 'factorial' calls itself\n"
        f"  = note: in factorial, called at test_calls.py:{factorial.__code__.co_firstlineno + 3}:5\n"
        "  = note: the recursion is deeper than 64 calls\n"
        "  = note: a recursion is compiled for known sizes and integers: "
        "what is known at run time only cannot decide where it ends\n"
        "  = help: write a loop that keeps the open work in a list: `todo = [...]`, "
        "`while todo: part = todo.pop()`"
    )
    assert refused_line(factorial, 3) == "return n * factorial(n - 1)"


def test_unknown_functions():
    def g(a):
        return textwrap.dedent(a)

    assert refusal(g, A).startswith("error[frontend.unsupported]: textwrap.dedent() is not supported\n")
    assert "`dedent = dcpy.callback(textwrap.dedent, returns=...)`" in refusal(g, A)
    assert "module 'numpy' has no attribute 'summ'" in refusal(lambda a: np.summ(a), A)
    assert "help: did you mean 'sum'?" in refusal(lambda a: np.summ(a), A)
    chebmul = np.polynomial.chebyshev.chebmul
    assert "docs/reference/numpy.md lists the functions of NumPy that compile" in refusal(lambda a: chebmul(a, a), A)


def test_errors_in_callees_point_there():
    def bad(x):
        return x.foo

    def f(a):
        return bad(a)

    assert refused_line(f, A) == "return x.foo"


def fill(x):
    x[...] = np.ones((2, 7))


def fill_a_part(x, flag):
    if flag:
        fill(x[::-1][1:])
    return flag


def test_numbers_of_errors_in_callees_are_those_of_the_caller():
    """The check is the caller's, and mentioned symbols of the callee, which nobody had declared."""
    for rows, columns, flag in ((4, 3, 1), (4, 3, 0), (4, 1, 1)):
        same(fill_a_part, np.zeros((rows, columns)), flag)


def test_a_nested_function_reads_what_its_own_result_is_bound_to():
    def f(a):
        result, factor = 0.0, 1.0

        def add(value):
            return result + value * factor

        for value in a:
            result = add(value)
            factor = add(value)
        return result

    same(f, A)


def fits(x):
    return np.polynomial.Polynomial.fit(x, x, 1)(x)


def test_methods_of_numpys_classes_are_refused_in_the_users_line():
    assert refused_line(fits, A) == "return np.polynomial.Polynomial.fit(x, x, 1)(x)"
    assert "it contains code that does not compile" in refusal(fits, A)


def formatted(x):
    return x if "{a}".format(a="b") == "b" else -x


def test_methods_of_strings_have_keywords():
    assert refusal(lambda x: "{b}".format(**{}), A) .startswith("error[frontend.raises]: 'b'")
    assert text(formatted, A) == text(lambda x: x, A).replace("@function", "@formatted")


def installed_class(x):
    return x if sympy.Symbol("x").name == "x" else -x


def test_classes_of_installed_packages_stay_outside():
    assert "make it outside of the program and pass its arrays" in refusal(installed_class, A)

"""What a program is made of: partial calls, wrapped and cached functions, methods and objects that can be called.

Section 3 of what real use found: "functools.partial, methods, decorators, objects with __call__".
"""

import functools
import pickle

import numpy as np
import pytest

import dcpy

A = np.arange(4.0)
pytestmark = pytest.mark.cc


def scaled(a, k, shift=1.0, *, more=0.0):
    return a * k + shift + more


def forwarding(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * factor

        return wrapper

    return decorate


class Scale:
    """An object that can be called."""

    def __init__(self, k):
        self.k = k

    def __call__(self, a):
        return a * self.k

    def shifted(self, a, by=1.0):
        return self(a) + by


@pytest.mark.parametrize(
    "made",
    [
        functools.partial(scaled, k=2.0),
        functools.partial(functools.partial(scaled, shift=3.0), k=2, more=0.5),
        functools.partial(scaled, A),
        functools.partial(dcpy.program(scaled), k=3),
    ],
    ids=["keyword", "twice", "array", "of a program"],
)
def test_s3_partial_calls_are_programs(made):
    program = dcpy.program(made)
    given = 2.5 if made.args else A
    np.testing.assert_array_equal(program(given), made(given))
    assert "scaled" in str(program.to_sdfg(given))


def test_s3_what_a_partial_call_binds_is_passed_at_each_call():
    bound = np.ones(4)

    def f(a, b):
        a += b

    program = dcpy.program(functools.partial(f, bound))
    program(A)
    bound[0] = 10.0
    program(A)
    np.testing.assert_array_equal(bound, np.array([10.0, 3.0, 5.0, 7.0]))
    with pytest.raises(TypeError, match="multiple values"):
        program(A, a=A)


def test_s3_programs_of_partial_calls_are_pickled_by_name():
    program = pickle.loads(pickle.dumps(dcpy.program(functools.partial(scaled, k=2.0))))
    np.testing.assert_array_equal(program(A), scaled(A, 2.0))


def test_s3_methods_and_objects_that_can_be_called_are_programs():
    made = Scale(3)
    np.testing.assert_array_equal(dcpy.program(made)(A), made(A))
    np.testing.assert_array_equal(dcpy.program(made.__call__)(A), made(A))
    np.testing.assert_array_equal(dcpy.program(made.shifted)(A, by=2.0), made.shifted(A, by=2.0))


def test_s3_static_and_class_methods_in_either_order():
    class Model:
        k = 2.0

        @staticmethod
        @dcpy.program
        def below(a):
            return a + 1

        @dcpy.program
        @staticmethod
        def above(a):
            return a + 2

        @dcpy.program
        @classmethod
        def of_class(cls, a):
            return a * cls.k

    np.testing.assert_array_equal(Model().below(A), A + 1)
    np.testing.assert_array_equal(Model.above(A), A + 2)
    np.testing.assert_array_equal(Model().above(A), A + 2)
    np.testing.assert_array_equal(Model.of_class(A), A * 2)


def test_s3_wrapped_functions_are_compiled_as_python_runs_them():
    @forwarding(3.0)
    @forwarding(2.0)
    def f(a, k=3, *, z=1.0):
        return a * k + z

    program = dcpy.program(f)
    np.testing.assert_array_equal(program(A), f(A))
    np.testing.assert_array_equal(program(A, z=4.0, k=2), f(A, z=4.0, k=2))

    def doubling(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) * 2

        return wrapper

    np.testing.assert_array_equal(dcpy.program(doubling(Scale(2).shifted.__func__))(Scale(2), A, 3), A * 4 + 6)

    @forwarding(2.0)
    def of_many(a, *rest):
        return a + sum(rest)

    np.testing.assert_array_equal(dcpy.program(of_many)(A, 1, 2.0), of_many(A, 1, 2.0))


def test_s3_a_wrapper_with_the_same_parameters_is_taken():
    def decorate(function):
        @functools.wraps(function)
        def wrapper(a, k=3):
            return function(a, k) + 1

        return wrapper

    @decorate
    def f(a, k=3):
        return a * k

    np.testing.assert_array_equal(dcpy.program(f)(A), f(A))


def test_s3_wrappers_that_see_how_they_are_called_are_refused():
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * len(args)

        return wrapper

    with pytest.raises(dcpy.FrontendError, match=r"looks into 'args'[\s\S]*keywords of a call are not known"):
        dcpy.program(decorate(scaled))(A, 2.0)

    def renaming(function):
        @functools.wraps(function)
        def wrapper(x, y=3):
            return function(x, y)

        return wrapper

    with pytest.raises(dcpy.FrontendError, match="does not take the same arguments"):
        dcpy.program(renaming(scaled))(A, 2.0)

    def by_position(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)

        return wrapper

    with pytest.raises(dcpy.FrontendError, match="does not take the same arguments"):
        dcpy.program(by_position(scaled))(A, 2.0)  # `more` has to be named


@functools.lru_cache
def table(n):
    return np.arange(n) * 1.0


@functools.cache
def factorial(n):
    result = 1
    for k in range(2, n + 1):
        result *= k
    return result


@functools.lru_cache
def counted(n):
    COUNTS[0] += 1
    return n


@functools.lru_cache
def total(a):
    return a.sum()


COUNTS = np.zeros(1)


def test_s3_cached_functions_are_called_for_what_they_compute():
    def f(a, n):
        return a * factorial(n) + table(4)

    np.testing.assert_array_equal(dcpy.program(f)(A, 5), f(A, 5))


def into_the_cache(a):
    known = table(4)
    known[0] = 5.0
    return known


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (into_the_cache, r"read-only[\s\S]*the cache of table\(\) keeps it"),
        (lambda a: counted(3), r"does more than compute[\s\S]*depend on earlier calls"),
        (lambda a: total(a), r"Python raises TypeError here \(unhashable type\)"),
    ],
    ids=["array", "effect", "unhashable"],
)
def test_s3_caches_that_would_be_seen_are_refused(f, message):
    with pytest.raises(dcpy.FrontendError, match=message):
        dcpy.program(f)(A)


def test_s3_a_cache_goes_around_a_program():
    with pytest.raises(dcpy.FrontendError, match=r"`@functools\.lru_cache` above `@dcpy.program`"):
        dcpy.program(factorial)
    cached = functools.lru_cache(dcpy.program(lambda n: n * 2))
    assert cached(3) == cached(3) == 6
    assert cached.cache_info().hits == 1


@pytest.mark.parametrize("found", [np.sin, len, Scale, 3, "f"], ids=str)
def test_what_has_no_python_source_is_refused(found):
    with pytest.raises(dcpy.FrontendError, match="takes a Python function, not"):
        dcpy.program(found)

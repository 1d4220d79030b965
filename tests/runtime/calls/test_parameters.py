"""Calls that Python refuses: the dispatcher refuses them in the same words."""

from __future__ import annotations

import inspect
import itertools

import pytest

import dcpy
from dcpy.base.errors import FrontendError
from dcpy.runtime.calls.parameters import parameters_of
from dcpy.runtime.dispatch import Dispatcher

FUNCTIONS = [
    lambda: None,
    lambda a: None,
    lambda a, b, c: None,
    lambda a, b=1: None,
    lambda a, /, b: None,
    lambda a, b, /, c=2: None,
    lambda a, *, k: None,
    lambda a, b=1, *, k, m=3: None,
    lambda *, k, m, n: None,
]
CALLS = [
    (args, kwargs)
    for args in [(), (1,), (1, 2), (1, 2, 3, 4)]
    for size in range(3)
    for kwargs in itertools.combinations(["a", "b", "k", "zz"], size)
]


def dispatcher_like(function) -> Dispatcher:
    """Binds as `function` does; returns the bound values."""
    parameters, positional_only, keyword_only = parameters_of(function)
    name = function.__qualname__
    return Dispatcher(name, parameters, lambda values: values, positional_only, keyword_only)


def outcome(call):
    try:
        return call()
    except TypeError as error:
        return str(error).partition(". Did you mean")[0]  # Python 3.13 also proposes a name


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: str(inspect.signature(f)))
def test_arguments_bind_and_fail_as_in_python(function):
    bound = dispatcher_like(function)
    for args, names in CALLS:
        kwargs = dict.fromkeys(names, 7)
        said = outcome(lambda args=args, kwargs=kwargs: bound(*args, **kwargs))
        expected = outcome(lambda args=args, kwargs=kwargs: function(*args, **kwargs))
        if expected is None:
            bindings = inspect.signature(function).bind(*args, **kwargs)
            bindings.apply_defaults()
            expected = tuple(bindings.arguments.values())
        assert said == expected


def test_any_keywords_are_refused():
    with pytest.raises(FrontendError, match=r"takes \*\*rest"):
        parameters_of(lambda a, **rest: None)


def test_errors_of_calls_show_the_lambda_that_is_called():
    first, second = dcpy.program(lambda x: x), dcpy.program(lambda y: y)
    for program, parameter in [(first, "x"), (second, "y")]:
        with pytest.raises(TypeError) as caught:
            program(z=3)
        line, carets = caught.value.__notes__[0].splitlines()[-2:]
        assert line[carets.index("^") :].startswith(f"lambda {parameter}:")


def test_functions_below_a_lambda_are_not_it():
    def below():
        return None

    with pytest.raises(TypeError) as caught:
        dcpy.program(below)(1)
    assert "def below():" in caught.value.__notes__[0]

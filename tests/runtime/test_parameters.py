"""Calls that Python refuses: the dispatcher refuses them in the same words."""

from __future__ import annotations

import inspect
import itertools

import pytest

from dcpy.base.errors import FrontendError
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.parameters import parameters_of

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

"""What `inspect`, `help` and others that look at functions see of a program, and what a misspelt option says."""

import inspect
import pydoc

import numpy as np
import pytest

import dcpy
from dcpy.base.options import InvalidOption


@dcpy.program
def scaled(x, factor: float = 2.0, *, out=None):
    """Scale an array.

    By a factor.
    """
    return x * factor


class Grid:
    @dcpy.method
    def relax(self, x, n: int = 1):
        """Relax `n` times."""
        return x * n

    @dcpy.program
    def plain(self, x):
        return x


def shown(found):
    return pydoc.render_doc(found, renderer=pydoc.plaintext)


def test_a_program_looks_like_its_function():
    assert str(inspect.signature(scaled)) == "(x, factor: float = 2.0, *, out=None)"
    assert scaled.__wrapped__ is scaled.function
    names = ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__")
    assert all(getattr(scaled, name) == getattr(scaled.function, name) for name in names)
    assert "scaled(x, factor: float = 2.0, *, out=None)\n    Scale an array." in shown(scaled)
    assert dcpy.Program[..., float].__origin__ is dcpy.Program


def test_a_bound_program_looks_like_a_method():
    bound = Grid().relax
    assert str(inspect.signature(bound)) == "(x, n: int = 1)"
    assert (bound.__name__, bound.__qualname__, bound.__doc__) == ("relax", "Grid.relax", "Relax `n` times.")
    assert "relax(x, n: int = 1)\n    Relax `n` times." in shown(bound)
    assert "plain(x)" in shown(Grid().plain)
    assert type(bound).__doc__.startswith("A program with some of its arguments given")
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        _ = bound.missing
    assert str(inspect.signature(Grid.relax)) == "(self, x, n: int = 1)"


def test_a_bound_program_stays_bound_in_another_class():
    class Holder:
        relax = Grid().relax

    np.testing.assert_array_equal(Holder().relax(np.ones(2), 3), [3.0, 3.0])


def test_a_misspelt_option_is_an_error_at_once():
    for make in (dcpy.program, dcpy.method):
        with pytest.raises(dcpy.UnknownName, match=r"'auto_optimise' is not known[\s\S]*did you mean auto_optimize\?"):
            make(auto_optimise=True)  # before there is a function
        with pytest.raises(InvalidOption, match="option 'cpu_openmp' is 'maybe', but bool is needed"):
            make(cpu_openmp="maybe")
    with pytest.raises(dcpy.UnknownName):
        dcpy.program(dcpy.float64, simplfy=False)


def test_what_is_not_given_is_the_environments(monkeypatch):
    monkeypatch.setenv("DCPY_AUTO_OPTIMIZE", "1")
    assert dcpy.program(scaled.function).options.auto_optimize
    assert not dcpy.program(auto_optimize=False)(scaled.function).options.auto_optimize

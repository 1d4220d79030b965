"""Tables of whole programs with arguments, as scientists write them: both tests of such a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.oracles import check_same

#: a function, its arguments, and how far from NumPy's results it may be, relatively
Written = tuple[Callable[..., Any], tuple[Any, ...], float]

COMPILED = 6  # one in so many is compiled too


def checks_of(programs: Sequence[Written]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Every program interpreted, some of them compiled: give the results names that pytest looks for."""

    @_each(programs)
    def test_programs(program: Callable[..., Any], arguments: tuple[Any, ...], rtol: float) -> None:
        check_same(program, *arguments, rtol=rtol, compiled=False)

    @pytest.mark.cc
    @_each(programs[::COMPILED])
    def test_programs_in_compiled_code(program: Callable[..., Any], arguments: tuple[Any, ...], rtol: float) -> None:
        check_same(program, *arguments, rtol=rtol)

    return test_programs, test_programs_in_compiled_code


def _each(programs: Sequence[Written]) -> pytest.MarkDecorator:
    names = [program.__name__ for program, _, _ in programs]
    return pytest.mark.parametrize(("program", "arguments", "rtol"), programs, ids=names)

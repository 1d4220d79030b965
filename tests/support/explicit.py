"""Programs with explicit dataflow beside their meaning in NumPy: Python cannot run tasklets, so each has a twin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import dcpy
from dcpy.ir.verify import verify
from tests.support.oracles import assert_equal

#: a program, the same in plain NumPy, and arguments for both
Pair = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]


def check_pair(
    program: Callable[..., Any], twin: Callable[..., Any], *arguments: Any, rtol: float = 1e-12,
    compiled: bool = False,
) -> None:  # fmt: skip
    """The program interpreted as written and simplified, and compiled: results and arguments are the twin's."""
    expected_arguments = copy.deepcopy(arguments)
    expected = twin(*expected_arguments)
    made = program if isinstance(program, dcpy.Program) else dcpy.program(program)
    runs: list[Callable[..., Any]] = [_interpreted(made, simplify=False), _interpreted(made, simplify=True)]
    if compiled:
        runs += [made, dcpy.program(made.function, auto_optimize=True)]
    for run in runs:
        mine = copy.deepcopy(arguments)
        got = run(*mine)
        assert_equal(got, expected, rtol)
        assert_equal(tuple(mine), tuple(expected_arguments), rtol)


class Pairs(list[Pair]):
    """A table that is written as decorators: ``@PAIRS.like(twin, *arguments)`` above a program."""

    def like(self, twin: Callable[..., Any], *arguments: Any) -> Callable[[Any], Any]:
        """Registers the decorated program with its twin and arguments."""

        def register(program: Any) -> Any:
            self.append((program, twin, arguments))
            return program

        return register


def _interpreted(program: dcpy.Program, *, simplify: bool) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        sdfg = program.to_sdfg(*arguments, simplify=simplify)
        verify(sdfg)
        return sdfg.interpret(**{name: value for name, value in program._bound(arguments, {}).items()
                                 if name in sdfg.arguments})  # fmt: skip

    return run


def pair_tests(pairs: Sequence[Pair]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Every pair interpreted, and compiled: give the results names that pytest looks for."""
    names = [program.__name__ for program, _, _ in pairs]

    @pytest.mark.parametrize(("program", "twin", "arguments"), pairs, ids=names)
    def test_interpreted(program: Any, twin: Any, arguments: tuple[Any, ...]) -> None:
        check_pair(program, twin, *arguments)

    @pytest.mark.cc
    @pytest.mark.parametrize(("program", "twin", "arguments"), pairs, ids=names)
    def test_compiled(program: Any, twin: Any, arguments: tuple[Any, ...]) -> None:
        check_pair(program, twin, *arguments, compiled=True)

    return test_interpreted, test_compiled

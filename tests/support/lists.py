"""Lists, under every oracle: their items with types, which of them are one list, exceptions with their words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.support.oracles import assert_equal


def assert_same_items(got: Any, expected: Any, rtol: float = 0.0, known: dict[int, int] | None = None) -> None:
    """Equal types and values, however nested; what is one list on one side is one on the other."""
    known = {} if known is None else known
    if not isinstance(expected, list | tuple):
        assert_equal(got, expected, rtol)
        return
    assert type(got) is type(expected), f"{got!r} instead of {expected!r}"
    assert len(got) == len(expected), f"{got!r} instead of {expected!r}"
    if isinstance(expected, list):
        assert known.setdefault(id(expected), id(got)) == id(got), "one list became two"
    for mine, theirs in zip(got, expected, strict=True):
        assert_same_items(mine, theirs, rtol, known)


def check_lists(
    function: Callable[..., Any], *arguments: Any, compiled: bool = False, rtol: float = 0.0, words: bool = True
) -> dcpy.Program:
    """Results, arguments and exceptions are Python's: in the interpreter, as written and simplified, and compiled."""
    program = dcpy.program(function)
    runs: dict[str, Callable[..., Any]] = {
        "as written": lambda *mine: program.to_sdfg(*mine, simplify=False).interpret(*mine),
        "simplified": lambda *mine: program.to_sdfg(*mine).interpret(*mine),
    }
    if compiled:
        runs |= {"compiled": program, "once more": program}
        runs["optimized"] = dcpy.program(function, auto_optimize=True)
    theirs = copy.deepcopy(arguments)
    expected, raised = _outcome(function, theirs)
    for name, run in runs.items():
        mine = copy.deepcopy(arguments)
        got, error = _outcome(run, mine)
        try:
            if raised is not None or error is not None:
                if type(error) is not type(raised) and not (raised and isinstance(error, type(raised))):
                    raise error or AssertionError(f"did not raise {raised!r}")
                assert not words or str(raised) in str(error), f"{error} instead of {raised}"
                continue
            assert_same_items((got, mine), (expected, theirs), rtol)
        except Exception as difference:
            raise AssertionError(f"{name}: {difference}") from difference
    return program


def _outcome(run: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"):
            return run(*arguments), None
    except dcpy.DcpyError as error:
        if type(error).__mro__[1:2] and any(kind.__module__ == "builtins" and kind is not Exception
                                           for kind in type(error).__mro__[:-3]):  # fmt: skip
            return None, error
        raise
    except Exception as error:
        return None, error

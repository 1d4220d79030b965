"""The three oracles: NumPy, the interpreter (as written and simplified), compiled code."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.support import tiers
from tests.support.layouts import assert_same_order


def assert_equal(got: Any, expected: Any, rtol: float = 0.0) -> None:
    """Same Python type, dtype, shape, strides and values (NaN equals NaN; signs of zeros count where `rtol` is 0)."""
    if isinstance(expected, dict):
        assert isinstance(got, dict)
        got, expected = list(got.items()), list(expected.items())
    if isinstance(expected, tuple | list):
        assert isinstance(got, tuple) is isinstance(expected, tuple), f"{got!r} instead of {expected!r}"
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert_equal(mine, theirs, rtol)
        return
    assert type(got) is type(expected), f"{type(got)} {got!r} instead of {type(expected)} {expected!r}"
    if isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype
        assert np.shape(got) == np.shape(expected)
        assert_same_order(got, expected)
    if isinstance(expected, np.ndarray | np.generic | float | complex):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=0 if rtol == 0 else rtol)
        if rtol == 0 and np.issubdtype(np.result_type(expected), np.floating):
            np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    else:
        assert got == expected


def sharing(result: Any, arguments: tuple[Any, ...]) -> list[list[int]]:
    """For each result the arguments whose memory it shares."""
    results = result if isinstance(result, tuple | list) else (result,)
    arrays = [argument if isinstance(argument, np.ndarray) else np.empty(0) for argument in arguments]
    return [
        [k for k, array in enumerate(arrays) if isinstance(one, np.ndarray) and np.shares_memory(one, array)]
        for one in results
    ]


def sharing_among(result: Any) -> list[tuple[int, int]]:
    """The pairs of results that share memory which the program has made, or the caller."""
    results = result if isinstance(result, tuple | list) else (result,)
    arrays = [(k, one) for k, one in enumerate(results) if isinstance(one, np.ndarray)]
    return [(k, n) for k, one in arrays for n, other in arrays if k < n and np.shares_memory(one, other)]


def assert_sharing(got: list[list[int]], expected: list[list[int]]) -> None:
    """Results share memory with the same arguments; where paths meet, they may be new (docs/explanation/numpy.md)."""
    for mine, theirs in zip(got, expected, strict=True):
        assert mine in (theirs, []), f"a result shares memory with arguments {mine} instead of {theirs}"


class Difference(AssertionError):
    """An oracle disagrees with NumPy; the message names it."""


def check_same(
    function: Callable[..., Any], *arguments: Any, rtol: float = 0.0, compiled: bool = True, optimized: bool = False,
    paths_meet: bool = False,
) -> None:  # fmt: skip
    """Runs `function` under every oracle and compares results and what happened to the arguments with NumPy's.

    Where NumPy raises, all must raise the same type of exception. `optimized`: under the auto-optimizer as well.
    `paths_meet`: results that are one array on some paths only may be two (docs/explanation/numpy.md).
    """
    runs: dict[str, Callable[..., Any]] = {}
    program = dcpy.program(function)
    runs["interpreter, as written"] = lambda *args: _interpret(program, args, simplify=False)
    runs["interpreter, simplified"] = lambda *args: _interpret(program, args)
    if compiled:
        runs["compiled"] = program
        if tiers.EXHAUSTIVE:
            runs["compiled, as written"] = dcpy.program(function, simplify=False)
    if optimized:
        runs["auto-optimized"] = dcpy.program(function, auto_optimize=True)
    reference = copy.deepcopy(arguments)
    expected, raised = _outcome(function, reference)
    for name, run in runs.items():
        mine = copy.deepcopy(arguments)
        got, error = _outcome(run, mine)
        try:
            if type(error) is not type(raised) and not (raised and isinstance(error, type(raised))):
                raise error or AssertionError(f"did not raise {raised!r}")
            if raised is None:
                assert_equal(got, expected, rtol)
                assert_equal(tuple(mine), tuple(reference), rtol)
                assert_sharing(sharing(got, mine), sharing(expected, reference))
                shared, allowed = set(sharing_among(got)), set(sharing_among(expected))
                assert shared <= allowed if paths_meet else shared == allowed, "other results share memory"
        except Exception as difference:
            raise Difference(f"{name} differs from NumPy: {difference}") from difference


def _interpret(program: dcpy.Program, arguments: tuple[Any, ...], **options: bool) -> Any:
    sdfg = program.to_sdfg(*arguments, **options) if arguments else program.to_sdfg(**options)
    call = inspect.signature(program.function).bind(*arguments)
    call.apply_defaults()
    known = call.arguments
    parts = sdfg.convention is not None and bool(sdfg.convention.passing.records)
    if sdfg.convention is not None and (not parts or not known.keys() >= set(sdfg.arguments)):
        names = sdfg.convention.parameters
        return sdfg.interpret(*(known[name] if name in known else _global(program, name) for name in names))
    return sdfg.interpret(
        **{name: known[name] if name in known else _global(program, name) for name in sdfg.arguments}
    )


def _global(program: dcpy.Program, name: str) -> Any:
    found = inspect.getclosurevars(program.function)
    return (found.globals | found.nonlocals)[name]


def _outcome(run: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"):
            return run(*arguments), None
    except dcpy.DcpyError:
        raise
    except Exception as error:
        return None, error

"""What a random program is compared with: NumPy; and by whom: the interpreter, compiled code, transformed SDFGs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np

import dcpy
from dcpy.base.errors import DataRace, FrontendError
from dcpy.ir.interp import run as interpret
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify import verify
from tests.fuzz.expressions import undefined
from tests.fuzz.program import ARGUMENTS, RAISED, Program
from tests.support.applications import applications
from tests.support.oracles import Difference, assert_equal, assert_sharing, sharing
from tests.support.used import Used

RTOL = 1e-6
DOCUMENTED = {  # what compiled code refuses at run time on purpose: docs/explanation/numpy.md
    "a size that turns out to be 1": re.compile(r"could not (?:be )?broadcast.*(\b1\b|remapped)"),
    "a power that is no integer, or complex": re.compile(r"fractional power is complex|negative integer powers"),
    "vector products of two elements": re.compile(r"np\.cross of vectors of two elements"),
}
COMPILED: dict[str, dict[str, bool]] = {
    "compiled": {},
    "compiled as written": {"simplify": False},
    "compiled, optimized": {"auto_optimize": True},
}
ON_DEVICE: dict[str, dict[str, Any]] = {
    "on the device": {},
    "on the device, optimized": {"auto_optimize": True, "gpu_warp": 64, "gpu_seed": 3},
}
Outcome = tuple[Any, Exception | None, tuple[Any, ...]]  # result, exception, arguments afterwards


class NotComparable(Exception):
    """NumPy does not take the program, or what it computes is undefined."""


def reference(program: Program, sizes: tuple[int, int] | None = None) -> Outcome:
    """What NumPy makes of a program. Raises `NotComparable`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = outcome(program.function(), program.arguments(sizes))
    if any(undefined(str(warning.message)) for warning in caught):
        raise NotComparable("a conversion that C leaves undefined")
    result, raised, arguments = found
    if raised is not None and not isinstance(raised, RAISED):
        raise NotComparable(type(raised).__name__)
    if not all(map(comparable, (*arguments, *parts_of(result)))):
        raise NotComparable("large numbers")
    return found


def parts_of(result: Any) -> list[Any]:
    """The numbers and arrays of a result."""
    if isinstance(result, dict):
        return parts_of(list(result.values()))
    return [part for one in result for part in parts_of(one)] if isinstance(result, tuple | list) else [result]


def outcome(run: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Result, exception, and arguments after a call; what dcpy itself refuses passes through."""
    try:
        return run(*arguments), None, arguments
    except dcpy.DcpyError:
        raise
    except Exception as error:
        return None, error, arguments


def comparable(value: Any) -> bool:
    """Whether a value is a number or an array whose rounding errors stay below the tolerance."""
    if value is None or isinstance(value, int | bool):
        return value is None or abs(value) < 2**62
    with np.errstate(all="ignore"):
        return bool(np.all(~(np.abs(np.asarray(value)).astype(float) > 1e12) | np.isinf(value)))


def assert_same(found: Outcome, expected: Outcome, who: str) -> None:
    """Same results, arguments and exceptions, and results that share memory with the same arguments.

    Where the paths through a program differ, two things may: docs/explanation/numpy.md tells.
    """
    (result, raised, arguments), (their_result, their_raised, their_arguments) = found, expected
    for reason, known in DOCUMENTED.items():
        if isinstance(raised, ValueError) and known.search(str(raised)):
            raise NotComparable(reason)
    try:
        if type(raised) is not type(their_raised):
            raise AssertionError(f"raised {raised!r} instead of {their_raised!r}")
        if raised is None:
            assert_equal(arguments, their_arguments, RTOL)
            assert_equal(result, like(their_result, result), RTOL)
            assert_sharing(sharing(listed(result), arguments), sharing(listed(their_result), their_arguments))
    except Exception as difference:
        raise Difference(f"{who}: {difference}") from difference


def listed(result: Any) -> Any:
    """The items of a dictionary."""
    return list(result.values()) if isinstance(result, dict) else result


def like(theirs: Any, mine: Any) -> Any:
    """A number of Python's own, or a 0-d array, as one of NumPy's, where dcpy gives that: they met where paths meet."""
    if isinstance(theirs, tuple | list) and type(mine) is type(theirs) and len(theirs) == len(mine):
        return type(theirs)(map(like, theirs, mine))
    if isinstance(theirs, dict) and isinstance(mine, dict) and list(theirs) == list(mine):
        return {key: like(value, mine[key]) for key, value in theirs.items()}
    if type(theirs) in (int, float, complex) and isinstance(mine, np.generic) and mine.dtype.kind in "iufc":
        return mine.dtype.type(theirs)
    if isinstance(theirs, np.ndarray) and not theirs.shape and isinstance(mine, np.generic):
        return theirs[()]
    return theirs


# -- interpreter and compiled code -----------------------------------------------------------------------------------


def check_interpreted(program: Program) -> None:
    """The interpreter does what NumPy does: as written, simplified, and optimized; with maps in any order."""
    expected = reference(program)
    sdfg = dcpy.program(program.function()).to_sdfg(*program.arguments(), simplify=False)
    steps: dict[str, Callable[[], object]] = {
        "as written": lambda: None, "simplified": sdfg.simplify, "optimized": sdfg.auto_optimize,
    }  # fmt: skip
    for who, step in steps.items():
        step()
        verify(sdfg)
        assert_same(run_strictly(sdfg, program, strict=who == "optimized"), expected, f"interpreter, {who}")


def check_compiled(program: Program, *ways: str) -> None:
    """Compiled code, in these ways or in all, does what NumPy does, and does it again for arrays of other sizes."""
    _check_calls(program, {who: COMPILED[who] for who in ways or COMPILED})


def check_on_device(program: Program) -> None:
    """Kernels in the simulator do what NumPy does, in two orders of threads; and again for arrays of other sizes."""
    device = {"device": dcpy.DeviceType.GPU, "gpu_backend": "simulator"}
    _check_calls(program, {who: device | options for who, options in ON_DEVICE.items()})


def _check_calls(program: Program, ways: dict[str, dict[str, Any]]) -> None:
    expected = {program.sizes: reference(program)}
    larger = (program.sizes[0] + 1, program.sizes[1] + 1)
    with suppress(NotComparable):
        expected[larger] = reference(program, larger)
    for who, options in ways.items():
        decorated = dcpy.program(program.function(), **options)
        for sizes in (program.sizes, *expected):
            with suppress(NotComparable) if sizes == larger else nullcontext():
                found = outcome(decorated, program.arguments(sizes))
                assert_same(found, expected[sizes], f"{who}, sizes {sizes}")


def check_versions(program: Program) -> None:
    """Calls with several patterns of sizes, each by the version that fits it or gets made: the interpreter again."""
    n, m = program.sizes
    used = Used(program.function())
    for sizes in ((n, m), (n + 1, m + 1), (m, n), (n, 1), (n + 2, m), (n, m)):
        try:
            expected = reference(program, sizes)
            found = outcome(used, program.arguments(sizes))
        except (FrontendError, NotComparable, DataRace):  # a map is independent for the sizes that it was made for
            if sizes == program.sizes:
                raise
            continue
        with suppress(NotComparable):
            assert_same(found, expected, f"used, sizes {sizes}")


def run_strictly(sdfg: Sdfg, program: Program, *, strict: bool) -> Outcome:
    """An SDFG in the interpreter; `strict`: maps in a shuffled order, watched for races."""

    def run(*arguments: Any) -> Any:
        named = dict(zip(ARGUMENTS, arguments, strict=True))
        found = interpret(sdfg, {name: named[name] for name in sdfg.arguments}, strict=strict)
        return found if convention is None else convention.delivered(named, found)

    convention = sdfg.convention if isinstance(sdfg, dcpy.SDFG) else None

    return outcome(run, program.arguments())


# -- transformations -------------------------------------------------------------------------------------------------


def check_transformations(program: Program, *, limit: int = 3) -> int:
    """Each transformation, at each match that it allows (the first few), keeps what the SDFG means."""
    reference(program)
    count = 0
    for simplify in (False, True):
        sdfg = dcpy.program(program.function()).to_sdfg(*program.arguments(), simplify=simplify)
        sdfg.convention = None  # what is returned is put together from the same parts
        expected = run_strictly(sdfg, program, strict=False)
        for one in applications(sdfg, limit):
            count += 1
            result, *rest = run_strictly(one.changed(), program, strict=True)
            assert_same((_returned(result, expected[0]), *rest), expected, one.entry)
    return count


def _returned(parts: Any, expected: Any) -> Any:
    """The parts of a result without those that the path taken does not return: None, until their sizes are known."""
    if expected is None or not isinstance(parts, tuple) or not isinstance(expected, tuple):
        return None if expected is None else parts
    return tuple(map(_returned, parts, expected)) if len(parts) == len(expected) else parts

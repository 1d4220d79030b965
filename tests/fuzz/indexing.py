"""Random index expressions against NumPy: `python -m tests.fuzz.indexing N [first seed] [compiled every]`.

Values, shapes, dtypes, whether a part is a view, and the types of exceptions are compared: by the interpreter, many
cases to a program; one that raises, or is not as it should be, stands alone. Some batches are compiled as well.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import dcpy
from dcpy.base.errors import FrontendError
from dcpy.ir.interp import run as interpret
from dcpy.ir.verify import verify
from tests.fuzz.indices import Case, drawn, source_of
from tests.fuzz.oracles import DOCUMENTED, NotComparable
from tests.fuzz.program import define
from tests.support.oracles import assert_equal
from tests.support.spent import Stopwatch

BATCH = 12  # cases of a program
CHUNK = 240  # cases that a process checks at a time
Run = Callable[[Callable[..., Any], tuple[Any, ...]], Any]
Outcome = tuple[Any, Exception | None]


@dataclass
class Findings:
    """What became of some cases."""

    checked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # by reason
    failures: list[tuple[int, str, str]] = field(default_factory=list)  # seed, oracle, message

    def add(self, other: Findings) -> None:
        self.checked += other.checked
        self.refused += other.refused
        self.failures += other.failures


def interpreted(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What the interpreter makes of the function as written."""
    sdfg = dcpy.program(function).to_sdfg(*given, simplify=False)
    verify(sdfg)
    named = dict(zip(_parameters(function), given, strict=True))
    found = interpret(sdfg, {name: named[name] for name in sdfg.arguments})
    convention = sdfg.convention
    return found if convention is None else convention.delivered(named, found)


def compiled(function: Callable[..., Any], given: tuple[Any, ...], *, auto_optimize: bool = False) -> Any:
    """What compiled code does."""
    return dcpy.program(function, auto_optimize=auto_optimize)(*given)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def outcome(run: Run, cases: list[Case]) -> Outcome:
    """Results of cases that are one program, or the exception."""
    given = {name: value for case in cases for name, value in case.arguments.items()}
    function = define(source_of(cases))
    mine = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in given.values())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(function, mine), None
        except Exception as error:
            return None, error


def plainly(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What NumPy does."""
    return function(*given)


def check(case: Case, run: Run = interpreted) -> None:
    """Compares one case with NumPy. Raises `NotComparable` where dcpy refuses what NumPy does."""
    expected, raised = outcome(plainly, [case])
    found, mine = outcome(run, [case])
    if mine is None and raised is None:
        assert_equal(found, expected)
        return
    if raised is not None and isinstance(mine, type(raised)):
        return
    if isinstance(mine, FrontendError):
        what = "" if raised is None else f" (NumPy raises {type(raised).__name__}: {raised})"
        raise NotComparable(f"{mine.message}{what}")
    for reason, known in DOCUMENTED.items():
        if isinstance(mine, ValueError | IndexError) and known.search(str(mine)):
            raise NotComparable(reason)
    raise AssertionError(f"raised {mine!r} instead of {raised!r}") from mine


def check_all(seeds: range, ways: Sequence[str] = ("interpreted",)) -> Findings:
    """Checks cases, as many together as do not raise."""
    found = Findings()
    cases = [drawn(seed) for seed in seeds]
    calm = [case for case in cases if outcome(plainly, [case])[1] is None]
    calm_ones = {case.number for case in calm}
    wild = [case for case in cases if case.number not in calm_ones]
    for way in ways:
        run = WAYS[way]
        alone = list(wild) if way == "interpreted" else []
        for batch in (calm[at : at + BATCH] for at in range(0, len(calm), BATCH)):
            expected, got = outcome(plainly, batch)[0], outcome(run, batch)
            try:
                assert got[1] is None
                assert_equal(got[0], expected)
                found.checked[way] += len(batch)
            except AssertionError:
                alone += batch
        for case in alone:
            try:
                check(case, run)
            except NotComparable as reason:
                found.refused[str(reason).splitlines()[0]] += 1
            except Exception as error:
                found.failures.append((case.number, way, f"{type(error).__name__}: {error}"))
            found.checked[way] += 1
    return found


WAYS: dict[str, Run] = {
    "interpreted": interpreted, "compiled": compiled, "optimized": partial(compiled, auto_optimize=True),
}  # fmt: skip


def main(count: int, first: int = 0, every: int = 40) -> int:
    """Checks so many cases in two processes; 1 if one differs. Every so many chunks are compiled, too."""
    watch, found = Stopwatch(), Findings()
    chunks = [range(at, min(at + CHUNK, first + count)) for at in range(first, first + count, CHUNK)]
    ways = [("interpreted", *(list(WAYS)[1:] if k % every == every - 1 else ())) for k in range(len(chunks))]
    with ProcessPoolExecutor(2) as pool:
        for findings in pool.map(check_all, chunks, ways):
            found.add(findings)
            for seed, way, message in findings.failures:
                print(f"seed {seed}, {way}: {message[:600]}\n{drawn(seed).source}", flush=True)
    print(f"seeds {first} to {first + count - 1}: {', '.join(f'{n} {what}' for what, n in found.checked.items())}")
    print(f"{sum(found.refused.values())} refused, or documented to differ:")
    for reason, times in found.refused.most_common(25):
        print(f"{times:6}  {reason[:200]}")
    print(f"{len(found.failures)} mismatches, {watch}")
    return 1 if found.failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DCPY_CACHE_DIR", folder)
        sys.exit(main(*map(int, sys.argv[1:])))

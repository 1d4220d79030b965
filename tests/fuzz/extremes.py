"""Extreme numbers against NumPy: `python -m tests.fuzz.extremes N [first seed] [interpreted|compiled|address]`.

NumPy runs in a process of its own, with little memory: it corrupts its heap in places, and is killed. So does dcpy,
which may be killed nowhere. `address` compiles under AddressSanitizer and UndefinedBehaviorSanitizer, whose reports are
failures. Values, dtypes, and the types of exceptions are compared.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.extreme_cases import Case, drawn
from tests.fuzz.program import define
from tests.sanitizers.sanitizer import SANITIZERS, reports
from tests.support.spent import Stopwatch

MEMORY = 6 << 30  # of a process, in bytes
PATIENCE = {"numpy": 3, "interpreted": 20, "compiled": 40}  # seconds of processors for a case
FEW = 40  # elements that are compared one by one
Outcome = list[str]  # what came of it, and the value or the message
#: Where NumPy fails and dcpy need not: memory that is not needed, and NumPy's own faults.
LENIENT = {"MemoryError", "died"}
NEGATIVE_SIZES = "negative dimensions are not allowed"  # of `reshape`: NumPy takes each for -1
SAME = ({"ValueError", "MemoryError", "OverflowError"},)  # sizes that nothing has room for: which comes first is open


def shown(value: Any) -> str:
    """A result as text: its type, dtype, shape, and elements (the first ones of many, and the last one)."""
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, np.ndarray):
        few = value.reshape(-1) if value.size <= FEW else value[(slice(1),) * value.ndim].reshape(-1)
        numbers = list(map(_rounded, few.tolist())) if value.dtype.kind == "f" else few.tolist()
        return f"{value.dtype} {value.shape} {numbers}"
    return f"{type(value).__name__} {value}"


def _rounded(number: float) -> float:
    """A number without its last digits, in which functions of C libraries differ."""
    return round(float(f"{number:.12g}"), 12) + 0.0


def outcome(run: Callable[[Case], Any], case: Case) -> Outcome:
    """What a case gives, or raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return ["value", shown(run(case))]
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException, Exception)]
            return [kinds[0] if "DcpyError" not in kinds else "DcpyError", f"{kinds[0]}: {error}"]


def plainly(case: Case) -> Any:
    """What NumPy does."""
    return define(case.source)(*case.arguments)


def interpreted(case: Case) -> Any:
    """What the interpreter does."""
    import dcpy

    return dcpy.program(define(case.source)).to_sdfg(*case.arguments).interpret(*case.arguments)


def compiled(case: Case) -> Any:
    """What compiled code does."""
    import dcpy

    return dcpy.program(define(case.source))(*case.arguments)


RUNS: dict[str, Callable[[Case], Any]] = {"numpy": plainly, "interpreted": interpreted, "compiled": compiled}


def work(way: str, first: int, last: int) -> None:
    """Runs cases in this process, and says what came of each as soon as it is known."""
    if "LD_PRELOAD" not in os.environ:  # AddressSanitizer reserves terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in range(first, last):
        soft = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime + PATIENCE[way])
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
        print(json.dumps([seed, *outcome(RUNS[way], drawn(seed))]), flush=True)


def outcomes(way: str, seeds: range, environment: dict[str, str] | None = None) -> Iterator[Outcome]:
    """Those of cases in processes of their own: one that dies takes its case along, and the next one goes on."""
    at = seeds.start
    while at < seeds.stop:
        command = [sys.executable, "-m", "tests.fuzz.extremes", "work", way, str(at), str(seeds.stop)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        for line in ran.stdout.splitlines():
            if line.startswith("["):
                _, *found = json.loads(line)
                yield found
                at += 1
        if at < seeds.stop:
            yield ["died", f"status {ran.returncode}: {ran.stderr[-300:]}"]
            at += 1


def difference(mine: Outcome, theirs: Outcome) -> str:
    """Why an outcome is not NumPy's; "" where it is, or may be another one."""
    if mine[0] == "died":
        return "it died"
    if mine[0] == "DcpyError" or mine[:2] == theirs[:2] or theirs[0] in LENIENT:
        return ""
    if mine[0] == "ValueError" and NEGATIVE_SIZES in mine[1] and theirs[0] == "value":
        return ""
    if mine[0] == theirs[0] != "value" or any({mine[0], theirs[0]} <= kinds for kinds in SAME):
        return ""
    return "it differs"


def compare(seeds: range, way: str, environment: dict[str, str] | None = None) -> tuple[Counter[str], list[str]]:
    """What became of cases, counted; and the failures as text."""
    counts: Counter[str] = Counter()
    failures = []
    pairs = zip(seeds, outcomes(way, seeds, environment), outcomes("numpy", seeds), strict=True)
    for seed, mine, theirs in pairs:
        counts["refused" if mine[0] == "DcpyError" else "checked"] += 1
        if mine[0] == "DcpyError":
            counts[f"  {mine[1].splitlines()[0][:150]}"] += 1
        if reason := difference(mine, theirs):
            case = drawn(seed)
            failures.append(
                f"seed {seed}: {reason}: {case.expression} with k, m, s = {case.values}"
                f"{', written down' if case.fixed else ''}\n  NumPy {theirs}\n  dcpy  {mine}"
            )
    return counts, failures


def main(words: Sequence[str]) -> int:
    """Checks so many cases; 1 if one differs, or a sanitizer reports."""
    count, first, way = int(words[0]), int(words[1]) if len(words) > 1 else 0, (*words[2:], "interpreted")[0]
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DCPY_CACHE_DIR": folder}
        if way == "address":
            environment = SANITIZERS["address"].environment(Path(folder))
        counts, failures = compare(range(first, first + count), "compiled" if way == "address" else way, environment)
        reported = reports(Path(folder))
    for failure in failures:
        print(failure)
    for what, times in counts.most_common():
        print(f"{times:6} {what}")
    print(f"{reported}{len(failures)} mismatches, {watch}")
    return 1 if failures or reported else 0


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main(sys.argv[1:]))

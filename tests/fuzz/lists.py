"""Random programs with lists of several kinds of items: `python -m tests.fuzz.lists N [first seed] [compiled every]`.

Each makes a list in a loop, of ints, floats, NumPy's numbers, None, texts and tuples, changes it, searches it, and
returns all: values and types are compared with plain Python, at three lengths. A Python float may be an np.float64
(docs/explanation/numpy.md).
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

import dcpy
from tests.fuzz.program import define

ITEMS = (
    "i", "i * 0.5", "x[i % 4]", "None", "(i, i * 0.5)", "(i * 0.5, i)", "i > 2", "'t'", "'u'", "complex(i, 1)",
    "k[i % 4]", "(i, None)", "(i, i + 1)", "('t', i)", "float(x[i % 4])", "((i, 1), 0.5)", "0", "0.0", "-1",
)  # fmt: skip
NUMBERS = ("i", "i * 0.5", "x[i % 4]", "i > 2", "k[i % 4]", "0", "0.0", "float(x[i % 4])", "i * i")
MAKERS = (
    "a = []|for i in range(n):|    if i % 2:|        a.append({i})|    else:|        a.append({i})",
    "a = [{1}] * n|for i in range(n):|    if i % 2:|        a[i] = {i}",
    "a = [{i} for i in range(n)]",
    "a = [{2}, {3}]|for i in range(n):|    a.append({i})",
)
STEPS = (
    "a.insert(1, {n})", "a.insert(n // 2, {n})", "a[-1] = {n}", "a[n // 2] = {n}", "a.reverse()",
    "a.extend([{1}, {n}])", "del a[0]", "del a[-1]", "a[0], a[-1] = a[-1], a[0]",
    "for v in a:|    if v is None:|        c += 1",
)  # fmt: skip
RESULTS = (
    "a.pop()", "a.pop(0)", "a[1:]", "a[::-1]", "a[n // 2:]", "[v for v in a if v is not None]", "a.count({1})",
    "{1} in a", "list(a) == a", "a + [{n}]", "[(v, j) for j, v in enumerate(a)]", "a[0]", "a[n // 2]",
)  # fmt: skip
OF_NUMBERS = ("sum(a)", "max(a)", "min(a)", "sorted(a)", "sorted(a, reverse=True)", "sorted(a, key=lambda t: -t)")
CHANGES = ("a[0] += {n}", "a[-1] *= {n}", "for v in a:|    c += v")
LENGTHS = (5, 2, 0)


def source(seed: int) -> str:
    """The text of a program; the same seed gives the same one."""
    draw = random.Random(seed)
    of_numbers = draw.random() < 0.4
    pool = draw.sample(NUMBERS if of_numbers else ITEMS, draw.randint(1, 3))

    def filled(text: str) -> str:
        return re.sub(r"\{(\w)\}", lambda found: re.sub(r"\bi\b", found[1], draw.choice(pool)), text)

    lines = [*filled(draw.choice(MAKERS)).split("|"), "c = 0"]
    results = ["a", "c"]
    for number in range(draw.randint(2, 5)):
        if draw.random() < 0.5:
            lines += filled(draw.choice(STEPS + CHANGES if of_numbers else STEPS)).split("|")
            continue
        results.insert(-1, f"r{number}")
        lines.append(f"r{number} = {filled(draw.choice(RESULTS + OF_NUMBERS if of_numbers else RESULTS))}")
    return "\n    ".join(["def f(n, x, k):", *lines, f"return {', '.join(results)}"]) + "\n"


def check(seed: int, *, compiled: bool = False) -> str:
    """Compare a program with plain Python: "ran", "raised", or "refused"; raises `AssertionError` where they differ."""
    text = source(seed)
    function = define(text)
    program = dcpy.program(function)
    verdict = "ran"
    for length in LENGTHS:
        arguments: tuple[Any, ...] = (length, np.array([3.5, -1.0, 2.25, 0.0]), np.array([4, 1, 3, 2]))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = _outcome(lambda: function(*arguments))
            try:
                run = program if compiled else program.to_sdfg(*arguments).interpret
                got = _outcome(lambda: run(*arguments))
            except dcpy.FrontendError:
                return "refused"
        if isinstance(expected, Exception):
            if "ambiguous" in str(expected) or "inhomogeneous" in str(expected):  # NumPy's number beside a tuple
                return "raised"
            assert isinstance(got, type(expected)), f"{text}n = {length}: {got!r} instead of {expected!r}"
            verdict = "raised"
        else:
            assert _same(got, expected), f"{text}n = {length}:\n{got!r} instead of\n{expected!r}"
    return verdict


def _outcome(run: Any) -> Any:
    try:
        return run()
    except dcpy.CompilerFault:
        raise
    except dcpy.FrontendError:
        raise
    except Exception as error:
        return error


def _same(got: Any, expected: Any) -> bool:
    if type(got) is np.float64 and type(expected) is float:
        expected = np.float64(expected)
    if type(got) is not type(expected):
        return False
    if isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(map(_same, got, expected))
    return bool(got == expected) or (got != got and expected != expected)


if __name__ == "__main__":
    many, first, every = [*map(int, sys.argv[1:]), *(100, 0, 0)[len(sys.argv) - 1 :]]
    counts: Counter[str] = Counter()
    for seed in range(first, first + many):
        try:
            counts[check(seed, compiled=bool(every) and seed % every == 0)] += 1
        except (AssertionError, dcpy.CompilerFault) as error:
            counts["failed"] += 1
            print(f"seed {seed}: {error}")
    print(dict(counts))

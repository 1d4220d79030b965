"""Corpora: sets of programs that can be timed, under one interface.

``npbench`` are the 54 kernels, ``loops`` and ``patterns`` small loops, ``untuned`` programs that no pass was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import untuned
from benchmarks.loops.programs import PROGRAMS
from benchmarks.npbench import kernels
from benchmarks.patterns import PATTERNS

PATTERN_LENGTHS = {"S": 1_000, "M": 20_000, "L": 1_000_000}
NPBENCH_PRESETS = {"S": "S", "M": "M"}


@dataclass(frozen=True)
class Case:
    """A program with arguments by size; `program` has its peers' forms, where it is an untuned one."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Callable[[], tuple[Any, ...]]]
    program: untuned.Untuned | None = None


def _npbench() -> dict[str, Case]:
    def made(name: str, preset: str) -> tuple[Any, ...]:
        return tuple(kernels()[name].initialize(preset).values())

    return {
        name: Case(name, kernel.function, {size: partial(made, name, each) for size, each in NPBENCH_PRESETS.items()})
        for name, kernel in kernels().items()
    }


def _loops() -> dict[str, Case]:
    def made(name: str) -> tuple[Any, ...]:
        return PROGRAMS[name].arguments(np.random.default_rng(0))

    return {name: Case(name, each.function, {"L": partial(made, name)}) for name, each in PROGRAMS.items()}


def _patterns() -> dict[str, Case]:
    return {
        name: Case(name, each.function, {size: partial(each.arguments, n) for size, n in PATTERN_LENGTHS.items()})
        for name, each in PATTERNS.items()
    }


def _untuned(half: str = "") -> dict[str, Case]:
    return {
        name: Case(name, each.function, {size: partial(each.made, size) for size in each.sizes}, each)
        for name, each in untuned.programs().items()
        if half in ("", each.half)
    }


#: Each corpus by its name, with what lists its programs.
CORPORA: dict[str, Callable[[], dict[str, Case]]] = {
    "npbench": _npbench,
    "loops": _loops,
    "patterns": _patterns,
    "untuned": _untuned,
    **{f"untuned-{half}": partial(_untuned, half) for half in untuned.HALVES},
}

"""Objects as arguments: what happens to them, and which of them are one object, under every oracle."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.support.oracles import assert_equal


def assert_same_objects(got: Any, expected: Any, known: dict[int, int] | None = None) -> None:
    """Equal fields of equal types; what is one object (or array) on one side is one on the other."""
    known = {} if known is None else known
    if isinstance(expected, np.ndarray) or dataclasses.is_dataclass(expected):
        assert known.setdefault(id(expected), id(got)) == id(got), "one object became two"
    if dataclasses.is_dataclass(expected):
        assert type(got) is type(expected)
        for field in dataclasses.fields(expected):
            assert_same_objects(getattr(got, field.name), getattr(expected, field.name), known)
    elif isinstance(expected, tuple):
        assert type(got) is type(expected)
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert_same_objects(mine, theirs, known)
    else:
        assert_equal(got, expected, 1e-13)


def check_objects(function: Callable[..., Any], *arguments: Any, compiled: bool = False) -> dcpy.Program:
    """Results and arguments afterwards are Python's: in the interpreter, and compiled (twice, with one program)."""
    program = dcpy.program(function)
    theirs = copy.deepcopy(arguments)
    expected = function(*theirs)
    runs = [lambda *mine: program.to_sdfg(*mine, simplify=False).interpret(*mine),
            lambda *mine: program.to_sdfg(*mine).interpret(*mine)]  # fmt: skip
    for run in runs + [program, program] * compiled:
        mine = copy.deepcopy(arguments)
        assert_same_objects((run(*mine), mine), (expected, theirs))
    assert program.specializations == int(compiled)
    return program

"""Objects as arguments: what happens to them, and which of them are one object, under every oracle."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from tests.support.oracles import assert_equal


def assert_same_objects(
    got: Any, expected: Any, known: dict[int, int] | None = None, *, merged_floats: bool = False
) -> None:
    """Equal fields of equal types; what is one object (or array) on one side is one on the other.

    `merged_floats`: a float may be an ``np.float64`` instead, as where a float of each kind meets on two paths.
    """
    known = {} if known is None else known
    if isinstance(expected, np.ndarray) or dataclasses.is_dataclass(expected):
        assert known.setdefault(id(expected), id(got)) == id(got), "one object became two"
    pairs: list[tuple[Any, Any]] = []
    if dataclasses.is_dataclass(expected):
        assert type(got) is type(expected)
        names = [field.name for field in dataclasses.fields(expected)]
        pairs = [(getattr(got, name), getattr(expected, name)) for name in names]
    elif isinstance(expected, tuple):
        assert type(got) is type(expected)
        pairs = list(zip(got, expected, strict=True))
    elif merged_floats and isinstance(expected, float):
        assert_equal(float(got), float(expected), 1e-12)
    else:
        assert_equal(got, expected, 1e-12)
    for mine, theirs in pairs:
        assert_same_objects(mine, theirs, known, merged_floats=merged_floats)


def check_objects(function: Callable[..., Any], *arguments: Any, compiled: bool = False) -> dcpy.Program:
    """Results and arguments afterwards are Python's: in the interpreter, and compiled (twice, with one program)."""
    program = dcpy.program(function)
    theirs = copy.deepcopy(arguments)
    expected = function(*theirs)
    runs = [
        lambda *mine: program.to_sdfg(*mine, simplify=False).interpret(*mine),
        lambda *mine: program.to_sdfg(*mine).interpret(*mine),
    ]
    for run in runs + [program, program] * compiled:
        mine = copy.deepcopy(arguments)
        assert_same_objects((run(*mine), mine), (expected, theirs))
    assert program.specializations == int(compiled)
    return program

"""Untuned programs: small NumPy programs as people write them, for which no pass of dcpy was made.

Each is a function, what makes its arguments, and three sizes: ``S`` fits the first cache, ``M`` the second, ``L``
none, or takes some milliseconds. A program that a peer runs best in another form has that form beside it: `numpy` is
the best NumPy, `numba` are loops. All forms return the same values, and none changes its arguments.

Half of them is developed against; the other half is only counted (`half`), so that what is measured there is what
programs gain that nobody looked at. Nothing of dcpy is imported here: peers read the programs, too.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]
Arguments = Callable[[int, np.random.Generator], tuple[Any, ...]]
HALVES = ("develop", "counted")
_MARK = "untuned"


@dataclass(frozen=True)
class Untuned:
    """A program with its sizes and its peers' best forms.

    `numpy` and `numba` are None where that peer has no sensible form; `parallel` names the loop variables of `numba`
    that may become ``prange``. `jax` says whether ``jax.numpy`` runs the program as it stands. Results agree within
    `tolerance`, relative to the largest element. `seen`: somebody has read what dcpy makes of it.
    """

    function: Function
    arguments: Arguments
    sizes: dict[str, int]
    numpy: Function | None
    numba: Function | None
    parallel: tuple[str, ...]
    jax: bool
    tolerance: float
    seen: bool = False

    @property
    def name(self) -> str:
        """The function's name, which is unique among all programs."""
        return self.function.__name__

    @property
    def family(self) -> str:
        """The module that has it: the domain of the program."""
        return self.function.__module__.rpartition(".")[2]

    @property
    def half(self) -> str:
        """``"develop"`` for what was seen; else that or ``"counted"`` by a hash of the name: nobody chooses."""
        return HALVES[0] if self.seen else HALVES[hashlib.sha256(self.name.encode()).digest()[0] % 2]

    def made(self, size: str) -> tuple[Any, ...]:
        """The arguments of a size, the same in each process."""
        return self.arguments(self.sizes[size], np.random.default_rng(7))


def untuned(
    arguments: Arguments, small: int, medium: int, large: int, *, numpy: Function | bool = True,
    numba: Function | bool = True, parallel: str = "", jax: bool = False, tolerance: float = 1e-7, seen: bool = False,
) -> Callable[[Function], Function]:  # fmt: skip
    """Adds the decorated function. `numpy` and `numba`: True is the function itself, False is no form at all."""

    def form(given: Function | bool, function: Function) -> Function | None:
        return (function if given else None) if isinstance(given, bool) else given

    def add(function: Function) -> Function:
        sizes = {"S": small, "M": medium, "L": large}
        forms = (form(numpy, function), form(numba, function))
        program = Untuned(function, arguments, sizes, *forms, tuple(parallel.split()), jax, tolerance, seen)
        setattr(function, _MARK, program)
        return function

    return add


@functools.cache
def programs() -> dict[str, Untuned]:
    """All programs by name, in the order of their modules and in each of its text."""
    found: dict[str, Untuned] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        if module.startswith("_"):
            continue
        for function in vars(importlib.import_module(f"{__name__}.{module}")).values():
            program = getattr(function, _MARK, None)
            if program is not None:
                assert found.setdefault(program.name, program) is program, f"two programs are called {program.name}"
    return found

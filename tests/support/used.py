"""A program that is used: several calls of one function, each by the version that fits it, interpreted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy import plugins
from dcpy.codegen.signature import linear
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.ir.interp import run
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.signatures import Convention, signature_of_call
from dcpy.programs.specialization.size_versions import SizeVersions
from dcpy.runtime.calls.argument_errors import _array_problem, _memory_problem, conditions_hold
from dcpy.transforms.simplify.pipeline import simplify


class Used:
    """Finds the version for a call, or makes it, as `Specializer` and the dispatcher do. No compiler is needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        plugins.load()  # library nodes are found by name
        self.function = function
        self.versions = SizeVersions()
        self.made: list[tuple[Any, Sdfg]] = []
        self.conventions: dict[int, Convention] = {}

    def __call__(self, *values: Any) -> Any:
        """What the program returns."""
        sdfg = self.found(values)
        named = self.bound(values)
        result = run(sdfg, {name: value for name, value in named.items() if name in sdfg.arguments})
        return self.conventions[id(sdfg)].delivered(named, result)

    def bound(self, values: Sequence[Any]) -> dict[str, Any]:
        """The values by parameter."""
        return dict(zip(inspect.signature(self.function).parameters, values, strict=True))

    def found(self, values: Sequence[Any]) -> Sdfg:
        """The version for a call."""
        known = next((sdfg for signature, sdfg in self.made if fits(signature, values)), None)
        return known or self.make(self.bound(values))

    def make(self, bound: dict[str, Any]) -> Sdfg:
        """Another version."""
        version = self.versions.next(bound, {}, ())
        lowered = lower_function(self.function, version.types, examples=bound if version.speculates else None)
        simplify(lowered.sdfg, check=True)
        convention = Convention.of(lowered, bound)
        signature, _ = signature_of_call(lowered.sdfg, convention)
        self.made.append((replace(signature, better_if=tuple(map(linear, lowered.better_if))), lowered.sdfg))
        self.conventions[id(lowered.sdfg)] = convention
        self.versions.add(version)
        return lowered.sdfg


def fits(signature: Any, values: Sequence[Any]) -> bool:
    """Whether a version is for a call."""
    arrays = [(arg, value) for arg, value in zip(signature.args, values, strict=True) if isinstance(value, np.ndarray)]
    if any(_array_problem(arg, value) is not None for arg, value in arrays):
        return False
    return conditions_hold(signature, values) and _memory_problem(signature, values) is None

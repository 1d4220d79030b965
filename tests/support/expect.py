"""The test trio of a transformation: shape, value, refusal.

``expect(MapFusion(), on=parse(text)).becomes(text).same_values(N=[0, 1, 7])`` and ``.is_refused("reason")``. Each
application is verified, and its history is replayed on the original, which must give the same text.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.interp import interpret
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg as parse
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import Refusal, Transformation, apply_once, apply_repeated, matches
from dcpy.transforms.history import replay

__all__ = ["assert_same_values", "expect", "parse"]


class Expectation:
    """A transformation and the SDFG that it is tried on; the SDFG given is left as it is."""

    def __init__(self, transformation: Transformation[Any], sdfg: Sdfg, pins: Mapping[str, Any]) -> None:
        self.transformation, self.before, self.pins = transformation, sdfg, pins
        self.after = copy_sdfg(sdfg)

    def becomes(self, text: str) -> Expectation:
        """Applied, the SDFG has this text."""
        self.applies()
        assert_same_text(print_sdfg(self.after), print_sdfg(parse(text)))
        replayed = replay(copy_sdfg(self.before), self.after.history[len(self.before.history) :], check=True)
        assert_same_text(print_sdfg(replayed), print_sdfg(self.after))
        return self

    def applies(self) -> Expectation:
        """It is applied wherever possible, at least once; just once if captures are pinned or it never settles."""
        if self.pins or not self.transformation.settles:
            apply_once(self.after, self.transformation, check=True, **self.pins)
        else:
            assert apply_repeated(self.after, self.transformation, check=True) > 0, self.reasons()
        return self

    def same_values(self, **values: list[Any]) -> Expectation:
        """The interpreter gives the same for both, on random arguments, for all combinations of the given values.

        Applied first, if it is not yet.
        """
        if print_sdfg(self.after) == print_sdfg(self.before):
            self.applies()
        assert_same_values(self.before, self.after, values)
        return self

    def is_refused(self, reason: str) -> None:
        """No match allows it, and one says so with a reason that holds this text."""
        untouched = print_sdfg(self.after)
        if self.transformation.settles:
            assert apply_repeated(self.after, self.transformation, check=True) == 0
        else:
            assert all(self.reasons()), self.reasons()
        assert print_sdfg(self.after) == untouched
        assert any(reason in found for found in self.reasons()), self.reasons()

    def reasons(self) -> list[str]:
        """Why each match of the SDFG as given is refused."""
        plans = [self.transformation.plan(match) for match in matches(self.transformation, self.before)]
        return [plan.reason if isinstance(plan, Refusal) else "" for plan in plans]


def expect(transformation: Transformation[Any], *, on: Sdfg, **pins: Any) -> Expectation:
    """What is expected of a transformation on an SDFG; `pins` fix captures by name."""
    return Expectation(transformation, on, pins)


def assert_same_text(found: str, expected: str) -> None:
    """Two texts are equal; what differs is shown line by line."""
    difference = difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    assert found == expected, "\n".join(["", *difference])


def assert_same_values(before: Sdfg, after: Sdfg, values: Mapping[str, list[Any]]) -> None:
    """Two SDFGs do the same to the same random arguments; maps in any order, raising the same exceptions."""
    names = list(values)
    for number, combination in enumerate(itertools.product(*values.values())):
        given = dict(zip(names, combination, strict=True))
        arguments = random_arguments(before, given, seed=number)
        for strict in (False, True):
            expected = outcome(before, arguments, given, strict)
            assert_same_outcome(outcome(after, arguments, given, strict), expected, given)


def outcome(sdfg: Sdfg, arguments: Mapping[str, Any], given: Mapping[str, Any], strict: bool) -> Any:
    """What running an SDFG makes of a copy of the arguments, or the type of the exception that it raises."""
    mine = {name: value.copy() for name, value in arguments.items()}
    symbols = {name: given[name] for name in sdfg.symbols if name in given}
    try:
        with np.errstate(all="ignore"):
            interpret(sdfg, mine, symbols, strict=strict, seed=len(arguments))
    except (IndexError, ValueError, ZeroDivisionError, AssertionError) as error:
        return type(error)
    return mine


def assert_same_outcome(found: Any, expected: Any, given: Mapping[str, Any]) -> None:
    assert isinstance(found, dict) == isinstance(expected, dict), f"{found} instead of {expected} for {given}"
    if not isinstance(expected, dict):
        assert found is expected
        return
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, err_msg=f"{name}, for {given}")


def random_arguments(sdfg: Sdfg, given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Random contents for every container that the caller passes; those in `given` are taken from there."""
    random = np.random.default_rng(seed)
    return {name: np.asarray(given.get(name, value)) for name, value in _arguments(sdfg, given, random)}


def _arguments(sdfg: Sdfg, given: Mapping[str, Any], random: np.random.Generator) -> Iterator[tuple[str, Any]]:
    for name, desc in sdfg.containers.items():
        if not desc.transient and isinstance(desc, Array | Scalar):
            shape = tuple(size.evaluate(given) for size in desc.shape)
            if desc.dtype.kind in "fc":
                yield name, random.uniform(-4, 4, shape).astype(desc.dtype.numpy)
            else:
                yield name, random.integers(0, 2 if desc.dtype.kind == "b" else 5, shape).astype(desc.dtype.numpy)

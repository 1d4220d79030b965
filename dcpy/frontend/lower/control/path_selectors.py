"""Path selectors: the cases that a name may stand for, by the numbers in its selectors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dcpy.frontend.abstract_values.values import Missing, Value, VariantValue
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, op

MAX_CASES = 64


class NoOuterPlace(Exception):
    """There is no place outside for what a name stands for on a path; without a name: there are too many states."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Case:
    """Values of names on a path where the selectors have these numbers."""

    numbers: tuple[tuple[str, int], ...]
    values: Mapping[str, Value]

    @property
    def test(self) -> ScalarExpr:
        """Return whether it is the one, known at run time."""
        return all_hold([is_number_of(which, number) for which, number in self.numbers])


def is_number_of(which: str, number: int) -> ScalarExpr:
    """Return whether a selector has this number."""
    return op("eq", Load(which, (), types.int64), Const(number, types.int64))


def all_hold(tests: Sequence[ScalarExpr]) -> ScalarExpr:
    """``tests[0] and tests[1] and …``"""
    first, *others = tests or [Const(True, types.bool_)]
    for test in others:
        first = op("and", first, test)
    return first


def cases(env: Mapping[str, Value], names: Sequence[str]) -> list[Case]:
    """Return the values of names in an environment, one case for each state that it may be in."""
    found = [env[name] for name in names if isinstance(env.get(name), VariantValue)]
    selectors: dict[str, list[int]] = {}
    for value in found:
        assert isinstance(value, VariantValue)
        selectors[value.which] = sorted({*selectors.get(value.which, []), *(number for number, _ in value.options)})
    if prod(map(len, selectors.values())) > MAX_CASES:
        raise NoOuterPlace
    result = []
    for numbers in itertools.product(*selectors.values()):
        at = dict(zip(selectors, numbers, strict=True))
        values = {name: chosen(env[name], at) if name in env else unset(name) for name in names}
        result.append(Case(tuple(at.items()), values))
    return result


def chosen(value: Value, numbers: Mapping[str, int]) -> Value:
    """Return a value for these numbers of the selectors."""
    if isinstance(value, VariantValue) and value.which in numbers:
        return next((option for number, option in value.options if number == numbers[value.which]), value.options[0][1])
    return value


def unset(name: str) -> Missing:
    """Return the value of a name on a path that has not assigned it."""
    reason = f"cannot access local variable {name!r} where it is not associated with a value"
    return Missing(reason, help=f"assign {name!r} on every path", unset=True)

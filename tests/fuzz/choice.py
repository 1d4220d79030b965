"""Where the random decisions of the generator come from: hypothesis (which shrinks), or a seed (which is fast)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class RandomSource(Protocol):
    """Makes the decisions."""

    def number(self, low: int, high: int) -> int:
        """An integer of low..high."""
        ...


class Drawn:
    """Decided by hypothesis."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))


class Seeded:
    """Decided by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


def pick(choice: RandomSource, options: Sequence[T]) -> T:
    """One of the options; the first are the simplest."""
    return options[choice.number(0, len(options) - 1)]


def chance(choice: RandomSource, percent: int) -> bool:
    """True in so many of 100 cases."""
    return choice.number(0, 99) >= 100 - percent

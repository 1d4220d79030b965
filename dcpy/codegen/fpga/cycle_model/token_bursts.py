"""Token bursts: when a process pushes and pops, with the cycles of each burst."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

MOST_POINTS = 256  #: of bursts of tokens that are distinguished


@dataclass(frozen=True, slots=True)
class TokenBursts:
    """Tokens of a process at one queue: the first and the last one, in cycles of its own, and how many.

    Tokens come in bursts: `points` has the numbers of the first and last token of each, with their cycles. Where there
    are very many bursts, all of them are one. So many cycles (`delay`) before a token its iteration starts, in a
    pipeline that does not stand still meanwhile, whatever later iterations wait for.
    """

    first: int
    last: int
    tokens: int
    points: tuple[tuple[int, int], ...] = ()
    delay: int = 0

    @classmethod
    def burst(cls, first: int, last: int, tokens: int, delay: int = 0) -> TokenBursts:
        """Tokens in a row."""
        return cls(first, last, tokens, ((0, first), (tokens - 1, last)), delay)

    def later(self, cycles: int) -> TokenBursts:
        """The same, so many cycles later."""
        points = tuple((token, cycle + cycles) for token, cycle in self.points)
        return TokenBursts(self.first + cycles, self.last + cycles, self.tokens, points, self.delay)

    def each(self, interval: int) -> TokenBursts:
        """The same, where cycles were numbers of iterations, of which one starts each so many cycles."""
        points = tuple((token, cycle * interval) for token, cycle in self.points)
        return TokenBursts(self.first * interval, self.last * interval, self.tokens, points, self.delay)

    def then(self, other: TokenBursts) -> TokenBursts:
        """Both, one behind the other."""
        points = (*self.points, *((token + self.tokens, cycle) for token, cycle in other.points))
        tokens = self.tokens + other.tokens
        known = points if len(points) <= MOST_POINTS else ((0, self.first), (tokens - 1, other.last))
        return TokenBursts(self.first, other.last, tokens, known, min(self.delay, other.delay))

    def at(self, token: int) -> int:
        """The cycle of a token."""
        for (before, cycle), (after, end) in pairwise(self.points):
            if token <= after:
                return cycle + (end - cycle) * (token - before) // max(after - before, 1)
        return self.last


def again(one: TokenBursts, count: int, cycles: int) -> TokenBursts:
    """The same each so many cycles."""
    if len(one.points) * count > MOST_POINTS:
        return TokenBursts.burst(one.first, one.last + (count - 1) * cycles, one.tokens * count, one.delay)
    found = one
    for number in range(1, count):
        found = found.then(one.later(number * cycles))
    return found

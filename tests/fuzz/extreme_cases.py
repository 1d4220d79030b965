"""Random programs with numbers near the limits of 32 and 64 bits, as sizes, bounds, steps, indices and counts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

POWERS = (0, 1, 2, 4, 31, 32, 47, 48, 61, 62, 63)
SMALL = (-17, -16, -3, -2, -1, 0, 1, 2, 3, 7, 15, 16, 17)
#: ``x`` has 16 numbers, ``t`` is 4 by 4, ``b`` has 2**32 by a stride of 0; `k`, `m`, `s` are integers of Python
EXPRESSIONS = (
    "x[k:m]", "x[k:m:s]", "x[::s]", "x[k:]", "x[:m]", "x[k]", "x[np.uint64(abs(k))]", "t[k, m]", "t[k:m, ::s]",
    "b[k]", "b[k:m].shape", "b[::s].shape", "b[k:m:s].shape", "len(range(k, m, s))", "counted(k, m, s)",
    "list_of(k, m)", "np.arange(k, m, s)", "np.arange(k, m)", "np.arange(m).shape",
    "np.tile(x, k)", "np.tile(x, (k, m))", "np.repeat(x, max(k, 0))", "np.repeat(t, max(k, 0), axis=1)",
    "np.pad(x, k)", "np.pad(x, (k, m))",
    "np.pad(t, ((0, k), (m, 0)))", "np.linspace(0.0, 1.0, k)", "np.zeros(k)", "np.zeros((k, m))",
    "np.zeros((k, m, s))", "np.ones((k, m), np.int8)", "np.full((2, k), 1.5)", "np.empty(k).shape", "np.eye(k)",
    "np.eye(3, 4, k)", "np.identity(k)", "np.tri(3, 4, k)", "x.reshape(k, m)", "x.reshape(k, -1)",
    "t.reshape(k, m, s)", "np.resize(x, k)", "np.broadcast_to(x, (k, 16))[:1]", "np.broadcast_to(x[0], (k, m)).shape",
    "np.outer(b, b).shape", "np.roll(x, k)", "np.roll(t, k, axis=1)", "np.take(x, k)",
    "np.take(x, [k, m], mode='wrap')", "np.take(x, [k, m], mode='clip')", "x[np.array([k, m])]", "np.delete(x, k)",
    "np.insert(x, k, 9.0)", "np.diag(x, k)", "np.diagonal(t, k)", "np.trace(t, k)", "np.triu(t, k)", "np.tril(t, k)",
    "np.split(x, [k, m])[1]", "np.zeros(k)[m:s]", "np.zeros((k, 0))", "np.zeros((0, k, m))", "np.ones(k)[:1] + m",
    "np.concatenate((x[k:m], x[s:]))", "x[k:m] + x[k:m]", "np.indices((k, 2))", "np.hanning(k)",
    "np.bincount(np.array([1, 2]), minlength=k)", "np.sum(x[k:m:s])", "np.cumsum(x[::s])", "np.vander(x[:2], k)",
    "np.logspace(0.0, 1.0, k)", "np.rot90(t, k)", "np.partition(x, k)", "filled(x, k, m, s)", "len([0.0] * k)",
    "(x[:2].tolist() if False else [0.0, 1.0] * k)[:2]", "np.unravel_index(k, (4, 4))",
    "np.ravel_multi_index((k, m), (4, 4))", "np.left_shift(1, k)", "np.right_shift(m, k)",
    "np.array(k) * np.array(m)", "np.int64(k) + np.int64(m)", "np.abs(np.int64(k))", "np.int64(k) // np.int64(m)",
    "np.int64(k) % np.int64(s)", "np.int64(k) // -1", "divmod(np.int64(m), np.int64(s))[0]",
)  # fmt: skip
PRELUDE = """
def counted(k, m, s):
    count = 0
    for i in range(k, m, s):
        count += 1
        if count == 40:
            break
    return count


def list_of(k, m):
    last = 0
    for i in range(k, m):
        last = i
        if i - k >= 10:
            break
    return last


def filled(x, k, m, s):
    found = x * 0
    for place, i in enumerate(range(k, m, s)):
        if place == 16:
            break
        found[place] = i % 1000
    return found
"""


@dataclass(frozen=True)
class Case:
    """One expression over arrays and integers; `fixed`: those that are written into the program."""

    number: int
    expression: str
    values: tuple[int, int, int]
    fixed: bool

    @property
    def source(self) -> str:
        """A function of ``x, t, b``, and of the integers where they are known at run time only."""
        if not self.fixed:
            return f"{PRELUDE}\n\ndef f(x, t, b, k, m, s):\n    return {self.expression}\n"
        k, m, s = self.values
        return f"{PRELUDE}\n\ndef f(x, t, b):\n    k, m, s = {k}, {m}, {s}\n    return {self.expression}\n"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Made anew each time."""
        x = np.arange(16.0)
        return (x, x.reshape(4, 4) * 2, np.broadcast_to(np.float64(1.0), 2**32), *(() if self.fixed else self.values))


def drawn(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    values = tuple(_number(rng) for _ in range(3))
    if rng.random() < 0.3:  # ranges of a few steps, wherever they are
        k = _number(rng)
        s = rng.choice([-1, 1]) * max(1, abs(_number(rng)) // 4)
        values = (k, _within(k + s * rng.randint(-1, 5) + rng.randint(-1, 1)), s)
    return Case(seed, rng.choice(EXPRESSIONS), values, rng.random() < 0.4)  # type: ignore[arg-type]


def _number(rng: random.Random) -> int:
    if rng.random() < 0.4:
        return rng.choice(SMALL)
    return _within(rng.choice([-1, 1]) * (1 << rng.choice(POWERS)) + rng.randint(-2, 2))


def _within(number: int) -> int:
    return max(-(2**63), min(2**63 - 1, number))

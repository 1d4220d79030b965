"""Programs of any length: slices, temporaries, calls of helpers and small loops, as simulation codes mix them."""

from __future__ import annotations

import numpy as np

HELPERS = '''
def smooth(x, weight):
    y = x.copy()
    y[1:-1, 1:-1] = weight * x[1:-1, 1:-1] + 0.25 * (1.0 - weight) * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2])
    return y


def flux(x, y, rate):
    d = np.zeros_like(x)
    d[:-1] = rate * (x[1:] - x[:-1]) * np.maximum(y[:-1], 0.0)
    return d

'''
KINDS = (
    "    {a}[1:-1, 1:-1] = 0.5 * ({b}[:-2, 1:-1] + {c}[2:, 1:-1]) - {k} * {a}[1:-1, 1:-1]",
    "    t{n} = {b} * {c} + {k} * {a}",
    "    {b} = smooth({a}, {k})",
    "    for i in range(1, 4): {c}[i] = {k} * {c}[i - 1] + {a}[i]",
    "    {c} += flux({a}, {b}, {k})",
    "    {a}[:, 2:] -= {k} * np.sqrt(np.abs({b}[:, :-2])) * t{last}[:, 1:-1]",
    "    {b}[1:-1] += {k} * ({c}[2:] - 2.0 * {c}[1:-1] + {c}[:-2])",
    "    {c}[:, 0] = {k} * t{last}[:, 1] + {b}[:, -1]",
)
NAMES = "uvwpqr"


def source(count: int) -> str:
    """A module whose ``program`` has `count` statements over six arrays."""
    lines = ["import numpy as np\n", HELPERS, f"def program({', '.join(NAMES)}):"]
    last = 1
    for n in range(count):
        kind = KINDS[n % len(KINDS)]
        last = n if n % len(KINDS) == 1 else last
        a, b, c = (NAMES[(n * step + n // 8 + shift) % 6] for step, shift in ((1, 0), (1, 2), (1, 4)))
        lines.append(kind.format(a=a, b=b, c=c, n=n, last=last, k=0.001 * (n % 97 + 1)))
    lines.append(f"    return {', '.join(NAMES)}\n")
    return "\n".join(lines)


def terms(count: int) -> str:
    """A module whose ``program`` returns a sum of `count` terms over its first array."""
    summands = " + ".join(f"u * {n}.5 * np.sin(u - {n})" for n in range(count))
    return f"import numpy as np\n\n\ndef program({', '.join(NAMES)}):\n    return {summands}\n"


def arguments(n: int) -> tuple[np.ndarray, ...]:
    """Six fields."""
    rng = np.random.default_rng(0)
    return tuple(rng.random((n, n)) for _ in NAMES)

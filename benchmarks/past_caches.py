"""``python -m benchmarks.past_caches``: large results, stored past the caches, beside the same programs without that.

Milliseconds, medians of calls in turn. The last one reads neighbours, and is the same program both times: what it shows
is how exact these figures are (decision 0193).
"""

from __future__ import annotations

import tempfile
from functools import partial

import numpy as np

import dcpy
from benchmarks.npbench import kernels
from benchmarks.timing import interleaved

WITHOUT = ("stores-past-caches=off",)


def affine(x):
    """One array is read, another one made."""
    return 3 * x + 1


def both(x, y):
    """Two are read."""
    return 3 * x + y


def tangent(x):
    """There is much to compute."""
    return np.tanh(x)


def sweep(x, y):
    """Five neighbours are read."""
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def main() -> None:
    """A line for each program."""
    draw = np.random.default_rng(0)
    squares, line = draw.random((2, 4000, 4000)), draw.random((2, 16_000_000))
    known = kernels()
    cases = [(affine, squares[:1]), (both, line), (tangent, squares[:1])]
    cases += [(known[name].function, known[name].initialize("L").values()) for name in ("compute", "go_fast")]
    cases += [(sweep, squares)]
    print("| program | with | without | times as fast |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for function, arguments in cases:
            programs = [
                dcpy.program(function, auto_optimize=True, overrides=overrides, cache_dir=folder)
                for overrides in ((), WITHOUT)
            ]
            within, without = interleaved(*(partial(each, *arguments) for each in programs), repeats=25)
            name = function.__name__
            print(f"| {name} | {1e3 * within:.2f} | {1e3 * without:.2f} | {without / within:.2f} |", flush=True)


if __name__ == "__main__":
    main()

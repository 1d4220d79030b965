"""``python -m benchmarks.tuning [NAME ...]``: what `program.tune` finds for kernels of NPBench at preset S.

Says of each kernel how many times quicker calls of these sizes are afterwards, by which decisions, and how many
versions were measured: how far the compiler's choice, for all sizes, is from the best of its neighbours, for these.
``--seconds 20`` limits the search for each; ``--preset M`` takes other sizes.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import dcpy
from benchmarks.npbench import kernels
from dcpy.programs.autotuning.local_search import Tuning


def tuned(names: Sequence[str], preset: str, seconds: float) -> Iterator[tuple[str, Tuning]]:
    """Each kernel, and what was found, in a cache of its own."""
    for name in names or tuple(kernels()):
        with tempfile.TemporaryDirectory() as cache:
            program = dcpy.program(kernels()[name].function, auto_optimize=True, cache_dir=cache)
            yield name, program.tune(*kernels()[name].initialize(preset).values(), seconds=seconds)


def main() -> None:
    """Prints a line for each kernel, and the geometric mean."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--preset", default="S")
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    gains = []
    with np.errstate(all="ignore"):
        for name, found in tuned(given.names, given.preset, given.seconds):
            gains.append(found.speedup)
            versions = f"{len(found.versions)} versions, {found.refused} refused"
            print(
                f"{name:26}{found.before.seconds * 1e3:10.3f} ms{found.speedup:7.2f}  {found.chosen} ({versions})",
                flush=True,
            )
    print(f"{statistics.geometric_mean(gains):.3f} times as quick, geometric mean of {len(gains)}")


if __name__ == "__main__":
    main()

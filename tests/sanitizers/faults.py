"""Faults on purpose, which a sanitizer must report: `python -m tests.sanitizers.faults race` compiles and runs one.

The SDFGs are written by hand and not verified, since verification refuses them.
"""

import sys

import numpy as np

import tests.sanitizers.teams  # noqa: F401  (a thousand elements start a team)
from tests.support.compiled import compile_sdfg

FAULTS = {
    "race": """
        sdfg @race(a: f64[N]) symbols(N: size) {
          state { map i = 0:N @parallel {
            tasklet (x <- a[N - 1 - i]) -> (y -> a[i]) { y = x + 1.0 }
          } }
        }""",
    "heap": """
        sdfg @heap(a: f64[N]) symbols(N: size) {
          state { map i = 0:N @sequential { tasklet (x <- a[i + N]) -> (y -> a[i]) { y = x } } }
        }""",
    "stack": """
        sdfg @stack(a: f64[N]) symbols(N: size) {
          data t: f64[8] transient @stack
          state { map i = 0:N @sequential { tasklet (x <- a[i]) -> (y -> t[i]) { y = x } } }
          state { map i = 0:N @sequential { tasklet (x <- t[i]) -> (y -> a[i]) { y = x } } }
        }""",
}

if __name__ == "__main__":
    compile_sdfg(FAULTS[sys.argv[1]], cpu_bounds_check=False)(np.ones(1000))

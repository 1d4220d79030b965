"""A chain of processes: each time step of a three-point average streams into the next one, so the grid is read once."""

import numpy as np

import dcpy

STEPS = 4


@dcpy.program
def smooth(x, y):
    n = len(x)
    between = dcpy.define_streamarray(STEPS + 1, x.dtype, 8)
    with dcpy.dataflow():

        @dcpy.process
        def read():
            for i in range(n):
                between[0].push(x[i])

        @dcpy.process(range(STEPS))
        def step(t):
            left = between[t].pop()
            middle = between[t].pop()
            between[t + 1].push(left)
            for _ in range(n - 2):
                right = between[t].pop()
                between[t + 1].push((left + middle + right) / 3)
                left = middle
                middle = right
            between[t + 1].push(middle)

        @dcpy.process
        def write():
            for i in range(n):
                y[i] = between[STEPS].pop()


def initialize(n, dtype=np.float64):
    """Arguments for `n` points."""
    return {"x": ((np.arange(n) * 7) % 11).astype(dtype), "y": np.zeros(n, dtype)}

"""What an element costs in three processes, by the depth of their streams: ``python -m benchmarks.streams``."""

from __future__ import annotations

import time

import numpy as np

import dcpy

DEPTHS = (1, 2, 8, 64, 1024, 0)
REPETITIONS = 3


def main() -> None:
    """Prints a table: nanoseconds of the clock and of all cores, per element, the best of a few runs."""
    print(f"{'depth':>8} {'wall ns':>9} {'cpu ns':>9}")
    for depth in DEPTHS:
        program = made(depth)
        count = 20_000 if 0 < depth < 64 else 400_000
        x, y = np.random.default_rng(0).random(count), np.empty(count)
        program(2.0, x, y)
        assert np.array_equal(y, 2 * x)
        best = min(measured(program, x, y) for _ in range(REPETITIONS))
        print(f"{depth or 'any':>8} {best[0] / count * 1e9:>9.0f} {best[1] / count * 1e9:>9.0f}")


def measured(program: dcpy.Program, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Seconds of the clock and of all cores for one call."""
    wall, cores = time.perf_counter(), time.process_time()
    program(2.0, x, y)
    return time.perf_counter() - wall, time.process_time() - cores


def made(depth: int) -> dcpy.Program:
    """``y = a * x`` as three processes."""

    @dcpy.program
    def axpy(a, x, y):
        xs = dcpy.define_stream(dcpy.float64, depth)
        ys = dcpy.define_stream(dcpy.float64, depth)
        with dcpy.dataflow():

            @dcpy.process
            def read():
                for i in range(len(x)):
                    xs.push(x[i])

            @dcpy.process
            def work():
                for _ in range(len(x)):
                    ys.push(a * xs.pop())

            @dcpy.process
            def write():
                for i in range(len(x)):
                    y[i] = ys.pop()

    return axpy


if __name__ == "__main__":
    main()

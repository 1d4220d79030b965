"""What the first call of a program of one kernel costs, with an empty cache, in new processes: on the CPU, on the GPU.

    python -m benchmarks.first_calls [--stand-in] [--repeat 5]

Seconds by the clock, and those of processors with the compilers'; what importing dcpy costs is not in them. The bar is
0.3 s more of processors than for the CPU. ``--stand-in``: no GPU is needed; a driver that has none answers, and its
kernels do nothing.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import in_new_process

BAR = 0.3
MEASURE = """
import json, linecache, resource, sys, time
import numpy as np
import dcpy
source = '''def axpy(a, x, y):
    y[:] = a * x + y
'''
linecache.cache["<axpy>"] = (len(source), None, source.splitlines(keepends=True), "<axpy>")
namespace = {}
exec(compile(source, "<axpy>", "exec"), namespace)
program = dcpy.program(namespace["axpy"], device=dcpy.DeviceType[sys.argv[1]])
x, y = np.ones(1000), np.ones(1000)
start, wall = time.process_time(), time.perf_counter()
program(2.0, x, y)
own, wall = time.process_time() - start, time.perf_counter() - wall
print(json.dumps([wall, own + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])]))
"""


def measure(device: str, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock, and of processors, of one first call."""
    wall, own = in_new_process(MEASURE, device, environment=environment)
    return wall, own


def stand_in(folder: Path) -> dict[str, str]:
    """The environment in which a driver without a device, built in a folder, is taken for CUDA's."""
    from tests.runtime.gpu.fakes import FakeDriver

    return {"DCPY_GPU_BACKEND": "cuda", "DCPY_GPU_DRIVER": str(FakeDriver(folder).path)}


def main(repeat: int, environment: dict[str, str]) -> int:
    """Prints the medians; 1 where the bar is not met."""
    found = {device: [measure(device, environment) for _ in range(repeat)] for device in ("CPU", "GPU")}
    walls, owns = ({d: statistics.median(each[n] for each in found[d]) for d in found} for n in (0, 1))
    print("| device | seconds | of processors |\n|---|---|---|")
    for device in found:
        print(f"| {device} | {walls[device]:.2f} | {owns[device]:.2f} |")
    more = owns["GPU"] - owns["CPU"]
    print(f"{more:+.2f} s of processors on the GPU; the bar is {BAR} s")
    return more > BAR


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_calls")
    parser.add_argument("--stand-in", action="store_true", help="a driver that needs no device")
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(given.repeat, stand_in(Path(folder)) if given.stand_in else {}))

"""One call of a kernel of NPBench in dcpy, with arrays on the device, for ncu: ``... once KERNEL PRESET``."""

from __future__ import annotations

import sys

import numpy as np

import dcpy
from benchmarks.npbench import kernels


def main(name: str, preset: str) -> None:
    """Compiles it, or loads what is in the cache, and waits until it is done."""
    kernel = kernels()[name]
    program = dcpy.program(kernel.function, auto_optimize=True, device=dcpy.DeviceType.GPU)
    arguments = kernel.initialize(preset)
    program(*(dcpy.gpu.array(value) if isinstance(value, np.ndarray) else value for value in arguments.values()))
    dcpy.gpu.synchronize()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Options of programs for GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Backend(Enum):
    """Runtime of GPU kernels."""

    AUTO = "auto"
    CUDA = "cuda"
    HIP = "hip"
    SIMULATOR = "simulator"


class Failures(Enum):
    """Time at which a failed check on a device raises."""

    EXACT = "exact"
    DEFERRED = "deferred"


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """Settings of the ``gpu`` target."""

    backend: Backend = Backend.AUTO  #: ``cuda``, ``hip``, ``auto`` (what is installed), or ``simulator`` (no device)
    arch: str = ""  #: chip to compile kernels for, such as ``sm_90`` or ``gfx90a``; empty: the device's own
    driver: str = ""  #: file of the driver's library; empty: the system's libcuda.so.1 or libamdhip64.so
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    fma: bool = False  #: fuse products and sums, which rounds once; off: elementwise results are NumPy's
    deterministic: bool = True  #: the same bits in every run: no floating-point sums in the order of threads
    max_workspace: int = -1  #: device memory kept between calls, in bytes; below 0: all that a call needed
    graphs: bool = True  #: record a loop of launches as a graph, which is submitted in one call
    libraries: bool = True  #: call the vendor's installed libraries for products, solvers and transforms
    errors: Failures = Failures.EXACT  #: a failed check raises in its call (``exact``) or a later one (``deferred``)
    profile: bool = False  #: measure kernels by events of the device: `program.kernel_times()`
    warp: int = 32  #: threads per warp in the simulator: 32 or 64
    seed: int = 0  #: seed of the order in which the simulator runs blocks and threads; 0: the natural order
    hooks: bool = False  #: the simulator checks each memory access for races and counts bytes; slow

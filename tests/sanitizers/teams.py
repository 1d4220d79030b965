"""A pytest plug-in for sanitized runs: maps start their team however small they are; what bears none is skipped.

Tests that count what kernels do in the simulator compile them for calls of ThreadSanitizer, which exclude others.
NVIDIA's compilers do not run in a process with a preloaded sanitizer.
"""

import contextlib
from collections.abc import Iterator

import pytest

from dcpy.ir.machine import COSTS
from dcpy.runtime.devices import nvrtc
from dcpy.runtime.devices.simulator import hooks

object.__setattr__(COSTS, "threads_pay_above", 0)  # frozen, but for this


@contextlib.contextmanager
def _not_watching() -> Iterator[hooks.Seen]:
    pytest.skip("kernels that are watched are compiled for calls of another sanitizer")
    yield hooks.Seen()


hooks.watching = _not_watching
nvrtc._places = nvrtc.find_nvcc = tuple

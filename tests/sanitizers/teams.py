"""A pytest plug-in for sanitized runs: maps start their team however small they are; what bears none is skipped.

Tests that count what kernels do in the simulator compile them for calls of ThreadSanitizer, which exclude others.
NVIDIA's compilers do not run in a process with a preloaded sanitizer.
"""

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import pytest

from dcpy.ir.machine_model import COSTS
from dcpy.runtime.gpu import device_selection, nvrtc
from dcpy.runtime.gpu.simulator import memory_checks

object.__setattr__(COSTS, "threads_pay_above", 0)  # frozen, but for this


@contextlib.contextmanager
def _not_watching() -> Iterator[memory_checks.WatchedErrors]:
    _skip()
    yield memory_checks.WatchedErrors()


def _skip() -> NoReturn:
    pytest.skip("kernels with simulator hooks call another sanitizer")


memory_checks.watching = _not_watching
device_selection.hook_flags = lambda _: _skip()
nvrtc._places, nvrtc.find_nvcc = tuple, lambda *_: None

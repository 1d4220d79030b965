"""A pytest plug-in for sanitized runs: maps start their team however small they are; what bears none is skipped.

Tests that count what kernels do in the simulator compile them for calls of ThreadSanitizer, which exclude others.
NVIDIA's compilers do not run in a process with a preloaded sanitizer.
"""

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import pytest

from dcpy.ir.machine import COSTS
from dcpy.runtime.devices import nvrtc, opening
from dcpy.runtime.devices.simulator import hooks

object.__setattr__(COSTS, "threads_pay_above", 0)  # frozen, but for this


@contextlib.contextmanager
def _not_watching() -> Iterator[hooks.Seen]:
    _skip()
    yield hooks.Seen()


def _skip() -> NoReturn:
    pytest.skip("kernels that are watched are compiled for calls of another sanitizer")


class _Skipping(tuple[str, ...]):
    """The flags of such kernels: whoever asks for them is not run."""

    def __iter__(self) -> Iterator[str]:
        _skip()


hooks.watching = _not_watching
opening.HOOKS = _Skipping()
nvrtc._places, nvrtc.find_nvcc = tuple, lambda *_: None

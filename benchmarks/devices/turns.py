"""Turns at a device, by a lock on a file: of many processes that prepare, one is measured at a time."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

TURNS = "BENCHMARKS_GPU_TURNS"  #: names the file; without it, a process is the only one


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The process is killed when its time is over, even inside of a compiler that answers no other signal."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def measuring() -> Iterator[None]:
    """One process at a time. Others may compile meanwhile, and call what they have compiled once."""
    if TURNS not in os.environ:
        yield
        return
    with open(os.environ[TURNS], "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

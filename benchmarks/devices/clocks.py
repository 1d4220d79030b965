"""Clocks: how long a call takes, by events of the driver on its stream, and by the host until its commands have ended.

Whoever is only known by the clock of the host is compared with others by that clock: it has the wait in it, too.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

LIBRARIES = (("libcuda.so.1", "cu"), ("libamdhip64.so", "hip"))


class Span(NamedTuple):
    """Seconds of one call."""

    device: float  #: between two events on its stream; the host's where nobody knows the stream
    host: float  #: from the call until nothing of it is left to do


class Clock(Protocol):
    """How long takes what `run` starts; it has ended when this returns."""

    name: str

    def span(self, run: Callable[[], object]) -> Span: ...


class HostClock:
    """By the clock of the host, for libraries that do not say on which stream they work: `wait` waits for all."""

    name = "host"

    def __init__(self, wait: Callable[[], object]) -> None:
        self.wait = wait

    def span(self, run: Callable[[], object]) -> Span:
        self.wait()
        start = time.perf_counter()
        run()
        self.wait()
        seconds = time.perf_counter() - start
        return Span(seconds, seconds)


class EventClock:
    """Two events on a stream, before and behind. `library` is that of the driver (default: the one that is there)."""

    name = "events"

    def __init__(self, stream: int, library: str = "") -> None:
        self._library, self._prefix = driver(library)
        self._stream = ctypes.c_void_p(stream)
        self._events = [ctypes.c_void_p() for _ in range(2)]
        create = "EventCreate" if self._prefix == "cu" else "EventCreateWithFlags"
        for event in self._events:
            self._call(create, ctypes.byref(event), ctypes.c_uint(0))

    def span(self, run: Callable[[], object]) -> Span:
        before, behind = self._events
        start = time.perf_counter()
        self._call("EventRecord", before, self._stream)
        run()
        self._call("EventRecord", behind, self._stream)
        self._call("EventSynchronize", behind)
        host = time.perf_counter() - start
        milliseconds = ctypes.c_float()
        self._call("EventElapsedTime", ctypes.byref(milliseconds), before, behind)
        return Span(milliseconds.value / 1e3, host)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, self._prefix + name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{self._prefix}{name} fails: {status}")


def new_stream(library: str = "") -> int:
    """A stream that waits for no other."""
    found, prefix = driver(library)
    stream = ctypes.c_void_p()
    create = "StreamCreate" if prefix == "cu" else "StreamCreateWithFlags"
    status = getattr(found, prefix + create)(ctypes.byref(stream), ctypes.c_uint(1))
    if status != 0 or stream.value is None:
        raise RuntimeError(f"{prefix}{create} fails: {status}")
    return stream.value


def driver(library: str = "") -> tuple[ctypes.CDLL, str]:
    """The library of the driver, and how its functions' names begin."""
    for name, prefix in LIBRARIES:
        try:
            found = ctypes.CDLL(library or name)
            getattr(found, prefix + "EventRecord")
        except (OSError, AttributeError):
            continue
        _enter(found, prefix)
        return found, prefix
    raise RuntimeError("there is no driver of a GPU")


def _enter(library: ctypes.CDLL, prefix: str) -> None:
    """Makes the first device's own context current in this thread: the one that all frameworks use."""
    if prefix == "hip":
        status = library.hipSetDevice(0)
    else:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        status = library.cuInit(0) or library.cuDeviceGet(ctypes.byref(device), 0)
        status = status or library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        status = status or library.cuCtxSetCurrent(context)
    if status != 0:
        raise RuntimeError(f"the device cannot be used: {status}")

"""Deferred interrupts: Ctrl-C waits until something has ended that must not be left half done.

A native module that is interrupted while it is imported may not survive the next try: islpy's aborts the process. A
rank that leaves a call alone would be waited for by the others.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """The handler of SIGINT meanwhile: it keeps what arrives, but while its block is `open`."""

    def __init__(self, handler: Callable[[int, FrameType | None], Any]) -> None:
        self._handler = handler
        self._arrived: list[tuple[int, FrameType | None]] = []
        self._is_open = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal now, or keep it for later; Python calls this."""
        if self._is_open:
            self._handler(number, frame)
        else:
            self._arrived.append((number, frame))

    def deliver(self) -> None:
        """Run the handler for what has arrived: `KeyboardInterrupt`, as a rule."""
        if self._arrived:
            last = self._arrived[-1]
            self._arrived.clear()
            self._handler(*last)

    @contextmanager
    def open(self) -> Iterator[None]:
        """A part of the block that may be interrupted; what arrived before it interrupts it at once."""
        self._is_open = True
        try:
            self.deliver()
            yield
        finally:
            self._is_open = False


@contextmanager
def interrupts_deferred() -> Iterator[Interrupts]:
    """Keep SIGINT back until the block has ended; its handler runs then. Only the main thread has handlers."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield Interrupts(lambda number, frame: None)
        return
    kept = Interrupts(handler)
    signal.signal(signal.SIGINT, kept)
    try:
        yield kept
    finally:
        signal.signal(signal.SIGINT, handler)
        kept.deliver()

"""Streams and processes in plain Python: a function with dataflow blocks runs without dcpy's compiler.

A stream is a bounded queue; a dataflow block runs its processes as a Kahn network (`base.process_scheduling`).
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from dcpy.base.errors import ProgramError
from dcpy.base.process_scheduling import ScheduledProcess, run_network, wait


class Stream:
    """A first-in, first-out queue of elements of a dtype; with a `depth` above 0, of at most so many.

    A `pop` waits for an element, a `push` waits for room. Without other processes that is a deadlock, and
    raises `RuntimeError`.
    """

    def __init__(self, dtype: Any, depth: int) -> None:
        self._dtype, self._depth = np.dtype(dtype), depth
        self._queue: deque[Any] = deque()

    def push(self, value: Any) -> None:
        """Append one element, converted to the stream's dtype as a store into an array converts it."""
        item = np.empty((), self._dtype)
        item[...] = value
        wait(lambda: self._depth == 0 or len(self._queue) < self._depth, f"for room in {self!r}, which is full")
        self._queue.append(item[()])

    def pop(self) -> Any:
        """Take the first element."""
        wait(lambda: bool(self._queue), f"for an element of {self!r}, which is empty")
        return self._queue.popleft()

    def __lshift__(self, value: Any) -> None:
        """``s << value`` pushes."""
        self.push(value)

    def __bool__(self) -> bool:
        raise TypeError("a stream cannot be asked whether it is empty: its elements are popped, or waited for")

    def __repr__(self) -> str:
        return f"a stream of {self._dtype}"


class StreamArray:
    """An array of streams; indices give one of them."""

    def __init__(self, shape: Any, dtype: Any, depth: int) -> None:
        self._streams = np.empty(shape, object)
        for index in np.ndindex(self._streams.shape):
            self._streams[index] = Stream(dtype, depth)

    def __getitem__(self, index: Any) -> Stream:
        found = self._streams[index]
        if not isinstance(found, Stream):
            raise TypeError(f"an array of streams has {self._streams.ndim} dimensions: give an index for each")
        return found


def define_stream(dtype: Any = np.float64, depth: int = 0) -> Any:
    """A new stream for elements of a dtype, which holds at most `depth` of them (0: any number)."""
    return Stream(dtype, _checked(depth))


def define_streamarray(shape: Any, dtype: Any = np.float64, depth: int = 0) -> Any:
    """An array of new streams: ``s[i].push(x)``, ``s[i].pop()``."""
    return StreamArray(shape, dtype, _checked(depth))


def _checked(depth: int) -> int:
    if depth < 0:
        raise ValueError(f"the depth of a stream is at least 0, not {depth}")
    return depth


class _OpenBlocks(threading.local):
    """The dataflow blocks that are open in this thread, each with its processes so far."""

    def __init__(self) -> None:
        self.blocks: list[list[ScheduledProcess]] = []


_open = _OpenBlocks()


@contextmanager
def dataflow() -> Iterator[None]:
    """``with dcpy.dataflow():`` holds processes, which run at the same time when the block ends."""
    processes: list[ScheduledProcess] = []
    _open.blocks.append(processes)
    try:
        yield
    finally:
        _open.blocks.pop()
    if processes:
        run_network(processes)


def process(*given: Any, endless: bool = False) -> Any:
    """``@dcpy.process`` makes a function of a dataflow block a process; ``@dcpy.process(range(4))`` four of them.

    Several ranges give a process for each point. One that is `endless` may wait for ever when the others have ended.
    """
    if len(given) == 1 and callable(given[0]):
        return _add(given[0], (), endless)
    return lambda function: _add(function, given, endless)


def _add(function: Callable[..., Any], ranges: tuple[Any, ...], endless: bool) -> Callable[..., Any]:
    if not _open.blocks:
        raise ProgramError(
            f"the process {function.__name__!r} is in no dataflow block",
            help="write it inside of `with dcpy.dataflow():`",
        )
    for point in itertools.product(*ranges):
        _open.blocks[-1].append(ScheduledProcess(function.__name__, partial(function, *point), endless))
    return function


def consume(stream: Stream, workers: int = 1) -> Callable[[Callable[[Any, int], Any]], Callable[[Any, int], Any]]:
    """``@dcpy.consume(s, 4) def work(element, worker):`` runs on each element of a stream until it is empty.

    The function may push to the stream. Elements are taken in their order; the workers are numbered in turn.
    """

    def run(function: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
        def work() -> None:
            for count in itertools.count():
                element = stream.pop()
                function(element, count % workers)

        run_network([ScheduledProcess(function.__name__, work, endless=True)])
        return function

    return run


consumescope = consume

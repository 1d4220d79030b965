"""The world: the ranks of a job, and how this one talks to the others outside of compiled programs.

One rank is a world too, without any MPI. mpi4py is imported where a launcher of MPI has started this process, or where
another module has imported it; texts travel as JSON, not as pickles.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from dcpy.base.errors import MissingMpi
from dcpy.base.installation import install_extra
from dcpy.base.options import launched_by_mpi, resolve_options
from dcpy.runtime.distributed.watchdog import Watchdog

INSTALL = install_extra("mpi")


@dataclass(eq=False)
class World:
    """Ranks that run together. `comm` is a communicator of their own (mpi4py's), or None for a rank alone.

    `side_comm` is for messages beside the order of calls: positions and failures of ranks.
    `calls_comm` is that of compiled programs; after a call that has failed it is another one. `patience`: after so many
    seconds of waiting (0: no limit) the `watchdog` ends the job.
    """

    rank: int = 0
    size: int = 1
    comm: Any = field(default=None, repr=False)
    side_comm: Any = field(default=None, repr=False)
    calls_comm: Any = field(default=None, repr=False)
    watchdog: Watchdog | None = field(default=None, repr=False)
    patience: int = 0

    @property
    def handle(self) -> int:
        """The communicator as compiled programs take it that send by themselves."""
        return 0 if self.comm is None else int(self.comm.py2f())

    def renew(self) -> None:
        """Give calls of all ranks a communicator without earlier messages. All ranks call this."""
        if self.side_comm is not None:
            self.calls_comm = self.side_comm.Dup()

    @property
    def library_version(self) -> str:
        """Version of MPI; "" where there is none."""
        if self.comm is None:
            return ""
        from mpi4py import MPI

        return str(MPI.Get_library_version())

    def limited(self, what: str, seconds: int | None = None) -> contextlib.AbstractContextManager[None]:
        """End the job where what is inside takes more seconds than that, `patience` by default; 0: never."""
        seconds = self.patience if seconds is None else seconds
        if self.watchdog is None or self.size == 1 or not seconds:
            return contextlib.nullcontext()
        return self.watchdog.limited(seconds, what)

    def most(self, numbers: Sequence[int]) -> list[int]:
        """The greatest of each number over all ranks: one message, of 64-bit integers."""
        if self.comm is None:
            return list(numbers)
        mine = np.array(numbers, np.int64)
        found = np.empty_like(mine)
        with self.limited("an agreement of all ranks"):
            self.comm.Allreduce(mine, found, op=_operation("MAX"))
        return [int(number) for number in found]

    def any_of(self, says: bool, seconds: float = 0.0) -> bool | None:
        """Return whether any rank says so; None where some do not come within so many seconds (0: they will)."""
        if self.side_comm is None:
            return says
        mine, found = np.array([says], np.int8), np.zeros(1, np.int8)
        arriving = self.side_comm.Iallreduce(mine, found, op=_operation("MAX"))
        until = time.monotonic() + seconds
        while seconds and not arriving.Test():
            if time.monotonic() > until:
                return None
            time.sleep(0.001)
        arriving.Wait()
        return bool(found[0])

    def end(self, error: BaseException, why: str) -> NoReturn:
        """End the job with an exception of this rank."""
        print_of_rank(self, type(error), error, error.__traceback__)
        sys.stderr.write(f"dcpy: rank {self.rank} ends the job: {why}\n")
        sys.stderr.flush()
        self.comm.Abort(1)
        os.abort()

    def tell(self, value: object, root: int = 0) -> Any:
        """Broadcast one rank's value, as JSON, to all ranks."""
        return json.loads(self.send(json.dumps(value).encode() if self.rank == root else b"", root))

    def send(self, content: bytes, root: int = 0) -> bytes:
        """Bytes of one rank, on all."""
        if self.comm is None:
            return content
        length = np.array([len(content)], np.int64)
        with self.limited(f"what rank {root} says"):
            self.comm.Bcast(length, root)
            found = np.frombuffer(content, np.uint8).copy() if self.rank == root else np.empty(int(length[0]), np.uint8)
            self.comm.Bcast(found, root)
        return found.tobytes()

    def all(self, value: object) -> list[Any]:
        """Return the values of all ranks, as JSON, in the order of the ranks."""
        if self.comm is None:
            return [json.loads(json.dumps(value))]
        mine = np.frombuffer(json.dumps(value).encode(), np.uint8)
        lengths = np.empty(self.size, np.int64)
        with self.limited("what all ranks say"):
            self.comm.Allgather(np.array([len(mine)], np.int64), lengths)
            found = np.empty(int(lengths.sum()), np.uint8)
            places = np.concatenate([[0], np.cumsum(lengths)])
            self.comm.Allgatherv(mine, [found, lengths, places[:-1], _operation("BYTE")])
        return [json.loads(found[places[k] : places[k + 1]].tobytes()) for k in range(self.size)]


def _operation(name: str) -> Any:
    from mpi4py import MPI

    return getattr(MPI, name)


_worlds: dict[int, World] = {}
_making = threading.Lock()


def current_world() -> World:
    """All ranks of the job. Raises `MissingMpi` for a process of several that has no mpi4py."""
    if "mpi4py.MPI" not in sys.modules and not launched_by_mpi():
        return _alone()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingMpi(
            f"this process was started by a launcher of MPI, and mpi4py cannot be imported: {error}", help=INSTALL
        ) from error
    return world_of(MPI.COMM_WORLD)


def world_of(comm: Any) -> World:
    """The world of a communicator of mpi4py's: with a communicator of its own, which is made once, by all its ranks."""
    if comm is None:
        return _alone()
    with _making:
        key = int(comm.py2f())
        if key not in _worlds:
            own = comm.Dup()
            side, patience = own.Dup(), resolve_options().ranks_timeout
            made = World(int(own.Get_rank()), int(own.Get_size()), own, side, None, Watchdog(side), patience)
            if patience and made.watchdog is not None and made.size > 1:
                made.watchdog.listen()
            _worlds[key] = made
            _end_together(made)
        return _worlds[key]


@functools.cache
def _alone() -> World:
    return World()


def _end_together(world: World) -> None:
    """A rank that ends with an exception ends the job: the others would wait for it for ever."""
    if world.size == 1 or len(_worlds) > 1:
        return
    before = sys.excepthook

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        print_of_rank(world, kind, error, trace)
        world.comm.Abort(1)
        before(kind, error, trace)

    sys.excepthook = end


def print_of_rank(
    world: World, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """The traceback, with the rank before it."""
    text = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(f"on rank {world.rank}:\n{text}")
    sys.stderr.flush()

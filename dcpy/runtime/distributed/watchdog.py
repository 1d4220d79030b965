"""A watchdog: when a rank has waited too long, it asks all ranks where they are, prints that, and ends the job.

Each rank has a thread that answers, over a communicator of its own, while its main thread waits or computes. Where MPI
may not be called from several threads, a rank says only where it is itself.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import linecache
import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

OWN = str(Path(__file__).parents[2]) + os.sep  # dcpy's code: it is not where the user is
QUESTION, ANSWER = 1, 2  # tags
TICK, PATIENCE = 0.1, 5.0  # seconds: between two looks; until a rank that does not answer is given up

Answer = Mapping[str, Any]  # "waits": in what, or ""; "late": whether too long; "place": file, line, function; "line"


class Watchdog:
    """The one of this process. `side` is a communicator of mpi4py's that nothing else uses."""

    def __init__(self, side: Any) -> None:
        self._side = side
        self._thread: threading.Thread | None = None
        self._ends = threading.Event()
        self._what, self._until = "", 0.0  # what the main thread waits in, and until when it is in time

    @contextlib.contextmanager
    def limited(self, seconds: int, what: str) -> Iterator[None]:
        """End the job where what is inside takes longer. The outermost limit counts."""
        if self._what:
            yield
            return
        self.listen()
        self._until = time.monotonic() + seconds
        self._what = what
        try:
            yield
        finally:
            self._what = ""

    @property
    def seconds_left(self) -> float:
        """Until the main thread is late."""
        return self._until - time.monotonic() if self._what else math.inf

    def listen(self) -> None:
        """Answer from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="dcpy-watchdog", daemon=True)
            self._thread.start()
            atexit.register(self._stop)  # before MPI is finalized

    def _stop(self) -> None:
        self._ends.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        together = _threads_may_call()
        while not self._ends.wait(TICK):
            if together:
                self._answer()
            if self._late():
                self._end_job(self._asked() if together else {int(self._side.Get_rank()): self._here()}, together)

    def _late(self) -> bool:
        return bool(self._what) and time.monotonic() > self._until

    def _answer(self) -> None:
        """Answer a rank that has asked for the position of this one."""
        from mpi4py import MPI

        asked = MPI.Status()
        while self._side.Iprobe(MPI.ANY_SOURCE, QUESTION, asked):
            self._side.Recv(np.empty(0, np.uint8), asked.Get_source(), QUESTION)
            said = np.frombuffer(json.dumps(self._here()).encode(), np.uint8)
            self._side.Isend(said, asked.Get_source(), ANSWER).Wait()  # short: it does not wait for the receiver

    def _here(self) -> Answer:
        """Return the place of the main thread: the innermost frame outside of dcpy."""
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        place, line = _place(frame)
        return {"waits": self._what, "late": self._late(), "place": place, "line": line}

    def _asked(self) -> dict[int, Answer]:
        """Return the answers of the ranks that answer in time."""
        from mpi4py import MPI

        me = int(self._side.Get_rank())
        found, status = {me: self._here()}, MPI.Status()
        others = [rank for rank in range(self._side.Get_size()) if rank != me]
        questions = [self._side.Isend(np.empty(0, np.uint8), rank, QUESTION) for rank in others]
        until = time.monotonic() + PATIENCE
        while len(found) <= len(others) and time.monotonic() < until:
            self._answer()
            while self._side.Iprobe(MPI.ANY_SOURCE, ANSWER, status):
                said = np.empty(status.Get_count(), np.uint8)
                self._side.Recv(said, status.Get_source(), ANSWER)
                found[status.Get_source()] = json.loads(said.tobytes())
            time.sleep(TICK / 10)
        for question in questions:
            question.Test()
        return found

    def _end_job(self, found: Mapping[int, Answer], together: bool) -> None:
        """The first of those that are late speaks; the others leave it some time to."""
        me, ranks = int(self._side.Get_rank()), int(self._side.Get_size())
        if me != min(rank for rank, said in found.items() if rank == me or said["late"]):
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                self._answer()
                time.sleep(TICK)
        sys.stderr.write(report(me, range(ranks) if together else [me], found))
        sys.stderr.flush()
        if together:
            self._side.Abort(1)
        os.abort()


def _threads_may_call() -> bool:
    from mpi4py import MPI

    return int(MPI.Query_thread()) == int(MPI.THREAD_MULTIPLE)


def _place(frame: FrameType | None) -> tuple[list[Any], str]:
    """File, line and function of the innermost frame that is the user's, and the text of the line."""
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    if frame is None:
        return [], ""
    code = frame.f_code
    return [code.co_filename, frame.f_lineno, code.co_name], linecache.getline(code.co_filename, frame.f_lineno).strip()


def report(rank: int, ranks: range | list[int], found: Mapping[int, Answer]) -> str:
    """Return the report: all ranks, those together that are at the same place."""
    places: dict[str, list[int]] = {}
    for each in ranks:
        places.setdefault(_told(found.get(each)), []).append(each)
    lines = [f"dcpy: rank {rank} has waited too long (ranks_timeout), and ends the job"]
    for text, here in places.items():
        lines.append(f"  rank{'s' if len(here) > 1 else ''} {', '.join(map(str, here))}: {text}")
    return "\n".join(lines) + "\n"


def _told(said: Answer | None) -> str:
    if said is None:
        return "no answer: it has ended, or has not begun to watch"
    waits = f"waits in {said['waits']}" if said["waits"] else "does not wait"
    if not said["place"]:
        return waits
    path, line, function = said["place"]
    return f"{waits}, at {path}:{line}, in {function}\n      {said['line']}"

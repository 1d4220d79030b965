"""Kahn process networks under Python: processes that wait for each other, and for nothing else.

Each process runs in a thread, one at a time: until it waits or ends; then the next in turn that can go on does. So all
is deterministic. What a network computes does not depend on these turns, as long as each queue has one writer and one
reader and nobody looks into a queue without taking from it (Kahn 1974); the interpreter and plain Python share them.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


class _ProcessUnwinding(BaseException):
    """Unwinds a process of a network in a deadlock."""


@dataclass(eq=False)
class ScheduledProcess:
    """One process: its name and body. An `endless` one may wait for ever: the others end the network."""

    name: str
    action: Callable[[], object]
    endless: bool = False
    title: str = ""  #: in reports, where several have one name: "pe[3]"
    fill: str = field(default="", init=False)  #: of the queue that it waits at: "4 of 4"
    error: BaseException | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)
    waits_for: str = field(default="", init=False)  #: for what: "for an element of 's', which is empty"
    ready: Callable[[], bool] = field(default=bool, init=False)
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0), init=False)

    @property
    def can_run(self) -> bool:
        """Return whether it can go on: it waits for no other process."""
        return not self.done and (not self.waits_for or self.ready())


class _CurrentProcess(threading.local):
    network: _TurnTaking | None = None
    process: ScheduledProcess | None = None


_current = _CurrentProcess()


def wait(ready: Callable[[], bool], what: str, fill: Callable[[], str] = str) -> None:
    """Let the other processes run until `ready()`. `what` is waited for, in words: "for room in 's', which is full".

    `fill` says for reports how full a queue is. `RuntimeError` where that cannot happen, because no
    process runs beside this one.
    """
    network, process = _current.network, _current.process
    if network is None or process is None:
        if not ready():
            raise RuntimeError(f"deadlock: the program waits {what}")
        return
    network.require_alive()
    while not ready():
        process.ready, process.waits_for, process.fill = ready, what, fill()
        network.pause(process)
    process.waits_for = ""


def run_network(processes: Sequence[ScheduledProcess], order: Sequence[int] = ()) -> None:
    """Run all until each has ended or none can go on; they take turns in this order, by default their own.

    Then the failure of the first process that raised is raised, whatever the others did meanwhile; else, if a process
    waits that is not endless, `RuntimeError`: a deadlock, with a note for each that waits.
    """
    network = _TurnTaking([processes[index] for index in order or range(len(processes))])
    try:
        network.run()
    finally:
        network.end()
    for process in processes:
        if process.error is not None:
            raise process.error
    waiting = [process for process in processes if process.waits_for]
    stuck = next((process for process in waiting if not process.endless), None)
    if stuck is not None:
        error = RuntimeError(f"deadlock: the process {stuck.name!r} waits {stuck.waits_for}")
        for process in waiting:
            fill = f": {process.fill}" if process.fill else ""
            error.add_note(f"{process.title or process.name} waits {process.waits_for}{fill}")
        for process in processes:
            if not process.waits_for:
                error.add_note(f"{process.title or process.name} has ended")
        raise error


class _TurnTaking:
    """Hands the turn round; the process that has it runs."""

    def __init__(self, processes: Sequence[ScheduledProcess]) -> None:
        self.processes = processes
        self.main_turn = threading.Semaphore(0)
        self.ended = False
        for process in processes:
            context = contextvars.copy_context()  # what the caller has set holds inside: error states of NumPy
            threading.Thread(target=context.run, args=(self._life, process), daemon=True).start()

    def run(self) -> None:
        """Give turns, round-robin, for as long as one process can go on."""
        count, last = len(self.processes), -1
        while True:
            order = [(last + step) % count for step in range(1, count + 1)]
            chosen = next((index for index in order if self.processes[index].can_run), None)
            if chosen is None:
                return
            last = chosen
            self.processes[chosen].turn.release()
            self.main_turn.acquire()

    def end(self) -> None:
        """Unwind those that wait."""
        self.ended = True
        for process in self.processes:
            if not process.done:
                process.turn.release()
                self.main_turn.acquire()

    def require_alive(self) -> None:
        """Unwind a process further that waits again while it is unwound."""
        if self.ended:
            raise _ProcessUnwinding

    def pause(self, process: ScheduledProcess) -> None:
        """Give the turn back until it comes round again."""
        self.main_turn.release()
        process.turn.acquire()
        self.require_alive()

    def _life(self, process: ScheduledProcess) -> None:
        process.turn.acquire()
        _current.network, _current.process = self, process
        try:
            if not self.ended:
                process.action()
        except _ProcessUnwinding:
            pass
        except BaseException as error:  # the caller's, whatever it is
            process.error, process.waits_for = error, ""
        finally:
            process.done = True
            self.main_turn.release()

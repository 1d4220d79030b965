"""Tasks: what a step consists of. Each has a key, seconds of its own, and becomes a row; a crash is one, too."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.device_campaign.residents import Resident, Role, crash, started, stop, tail

Row = dict[str, Any]
LEAST = 1.0  # seconds that must be left for a task to begin


@dataclass(frozen=True)
class Task(ABC):
    """`key` tells its row among those of a step, and is part of it; `limit` are the seconds that it may take."""

    key: Mapping[str, str]
    limit: float

    @abstractmethod
    def run(self, desk: Desk, seconds: float) -> Row:
        """What it finds within `seconds`; has a `status`."""


@dataclass(frozen=True)
class Question(Task):
    """One that a resident answers; `also` are facts of its row besides."""

    role: Role
    question: Mapping[str, Any]
    also: Mapping[str, Any] = field(default_factory=dict)

    def run(self, desk: Desk, seconds: float) -> Row:
        resident = desk.take(self.role)
        try:
            return {**resident.ask(self.question, seconds), **self.also}
        finally:
            desk.give_back(resident)


def nothing_more(code: int, said: str) -> Row:
    """A command is right if it says so by its exit status."""
    return {"status": "ok", "said": said[-400:].strip()} if code == 0 else {"status": crash(code, said)}


@dataclass(frozen=True)
class Command(Task):
    """One that is a command; `read` makes a row of its exit status and all that it said."""

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[int, str], Row] = nothing_more
    folder: Path | None = None

    def run(self, desk: Desk, seconds: float) -> Row:
        with tempfile.TemporaryFile() as said:
            try:
                process = started(
                    list(self.words), self.folder or desk.folder, self.environment, said, subprocess.DEVNULL
                )
            except OSError as error:
                return {"status": f"crash: {error}"}
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                stop(process)
                return {"status": f"timeout: more than {seconds:.3g} s", "said": tail(said)[-400:].strip()}
            stop(process)  # what it may have left running
            said.seek(0)
            return self.read(code, said.read().decode(errors="replace"))


class Desk:
    """Where residents wait for questions: at most `most` of them, those that answered last."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self._idle: deque[Resident] = deque()
        self._turn = threading.Lock()

    def take(self, role: Role) -> Resident:
        """One in this role; a new one where none waits."""
        with self._turn:
            for resident in [one for one in self._idle if one.role == role]:
                self._idle.remove(resident)
                if resident.is_there:
                    return resident
                resident.end()
        return Resident(role, self.folder)

    def give_back(self, resident: Resident) -> None:
        """It waits again, if it is still there; who has waited longest may have to go."""
        if not resident.is_there:
            return
        with self._turn:
            self._idle.append(resident)
            gone = [self._idle.popleft() for _ in range(len(self._idle) - self.most)]
        for one in gone:
            one.end()

    def ahead(self, task: Task) -> None:
        """Lets the resident that waits for a question of this kind get ready for it."""
        if isinstance(task, Question):
            with self._turn:
                for resident in self._idle:
                    if resident.role == task.role:
                        resident.post({"ahead": task.question})
                        return

    def close(self) -> None:
        """Ends all that wait."""
        with self._turn:
            while self._idle:
                self._idle.pop().end()


@dataclass
class Work:
    """Tasks that are done, `at_once` so many, until `end` (by `time.monotonic`); `record` takes each row.

    Whoever is still at work then is ended, and has no row: it was cut, and is no time-out.
    """

    tasks: Sequence[Task]
    at_once: int
    desk: Desk
    end: Callable[[], float]
    record: Callable[[Task, Row], None]
    _next: int = 0
    _turn: Any = field(default_factory=threading.Lock)

    def do(self) -> bool:
        """Whether all tasks have been done."""
        try:
            with ThreadPoolExecutor(self.at_once) as pool:
                ends = [pool.submit(self._some) for _ in range(min(self.at_once, len(self.tasks)))]
                return all([one.result() for one in ends])
        finally:
            self.desk.close()

    def _some(self) -> bool:
        while True:
            with self._turn:
                place, self._next = self._next, self._next + 1
            if place >= len(self.tasks):
                return True
            if self.end() - time.monotonic() < LEAST or not self._one(self.tasks[place]):
                return False
            if self.at_once == 1 and (following := self._following(place)):
                self.desk.ahead(following)

    def _one(self, task: Task) -> bool:
        left = self.end() - time.monotonic()
        row = task.run(self.desk, min(task.limit, left))
        if time.monotonic() >= self.end() and not row["status"].startswith(("ok", "wrong", "refused")):
            return False
        self.record(task, row)
        return True

    def _following(self, place: int) -> Task | None:
        """The next task that the resident of this one will be asked."""
        mine = self.tasks[place]
        rest = (one for one in self.tasks[place + 1 :] if isinstance(one, Question) and isinstance(mine, Question))
        return next((one for one in rest if one.role == mine.role), None)

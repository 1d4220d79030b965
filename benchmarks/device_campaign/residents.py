"""Residents: processes that answer one question after another, and are ended, with all they started, when silent.

A question is a line of JSON to a resident's standard input, its answer one on a pipe of its own (`answering`): what
libraries print goes to a file, whose last lines say why it crashed. So imports and contexts of devices are paid once,
and a crash or a hang costs one answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.timing import surroundings

ROOT = Path(__file__).parent.parent.parent
TAIL = 2000  # bytes of what a process has said last

_alive: dict[int, None] = {}  # the groups of processes that run now
_turn = threading.Lock()


@dataclass(frozen=True)
class Role:
    """What a resident is: an interpreter, the module that answers and who it is there, and its environment."""

    name: str  #: of the framework
    module: str  #: ``benchmarks.device_campaign.of_kernels``
    python: Path
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def command(self) -> list[str]:
        return [str(self.python), "-m", "benchmarks.device_campaign.answering", self.module, self.name]


class Resident:
    """One process in a role; `folder` is where it works."""

    def __init__(self, role: Role, folder: Path) -> None:
        self.role = role
        reading, writing = os.pipe()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        self._process = started(
            [*role.command, str(writing)], folder, role.environment, self._said, subprocess.PIPE, (writing,)
        )
        os.close(writing)
        self._answers, self._rest = reading, b""

    def post(self, question: Mapping[str, Any]) -> None:
        """Hands a question over, and does not wait."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Its answer; a `status` alone where it crashes, or is silent for `seconds`: it has ended then."""
        end = time.monotonic() + seconds
        self.post({**question, "seconds": seconds})
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], max(end - time.monotonic(), 0))
            if not ready:
                self.end()
                return {"status": f"timeout: more than {seconds:.3g} s"}
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                return {"status": self._crash()}
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if answer.pop("leaves", False):
            self.end()
        return answer

    @property
    def is_there(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Ends it, with all that it started."""
        stop(self._process)
        with contextlib.suppress(OSError):
            os.close(self._answers)
        self._answers = -1
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._said.close()

    def _crash(self) -> str:
        code = self._process.wait()
        status = crash(code, tail(self._said))
        self.end()
        return status


def started(
    words: list[str], folder: Path, environment: Mapping[str, str], said: Any, given: Any, kept: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """A process in a group of its own, which finds this repository's modules, and what PYTHONPATH has."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=surroundings({"PYTHONPATH": path, **environment}),
        stdin=given,
        stdout=said,
        stderr=said,
        pass_fds=kept,
        start_new_session=True,
    )
    with _turn:
        _alive[process.pid] = None
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kills the group of a process, and waits for it."""
    _kill(process.pid)
    process.wait()
    with _turn:
        _alive.pop(process.pid, None)


def stop_all() -> None:
    """Kills all groups that run now: whoever waits for one sees it end."""
    with _turn:
        groups = list(_alive)
    for group in groups:
        _kill(group)


def tail(said: Any) -> str:
    """The last of what a process has said into a file."""
    size = os.fstat(said.fileno()).st_size
    return os.pread(said.fileno(), TAIL, max(size - TAIL, 0)).decode(errors="replace")


def crash(code: int, said: str) -> str:
    """The status of who ended without an answer."""
    how = signal.Signals(-code).name if code < 0 else f"exit {code}"
    last = said.strip().splitlines()[-1:] or ["no message"]
    return f"crash: {how}: {last[0][:200]}"


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)

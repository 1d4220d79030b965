"""Signals that end ``dcpy run``, from a scheduler or a keyboard, end all ranks of the job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.mpi_job
SCRIPT = """
import os, signal, time
from mpi4py import MPI

signal.signal(signal.SIGINT, signal.SIG_DFL)
open(f"rank{MPI.COMM_WORLD.rank}.txt", "w").write(f"{os.getpid()} ")
while True:
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_ranks(tmp_path, number):
    """They compute meanwhile, and ask for nothing."""
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-c", "from dcpy.cli.main import main; main()", "run", "-n", "2", "script.py"]
    job = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True)  # fmt: skip
    try:
        ranks = [_process_of(tmp_path / f"rank{rank}.txt") for rank in range(2)]
        job.send_signal(number)
        assert job.wait(60) != 0
        assert _waited(lambda: not any(map(_runs, ranks))), "ranks go on"
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)


def _process_of(path):
    assert _waited(lambda: path.exists() and path.read_text().endswith(" ")), "it has not started"
    return int(path.read_text())


def _runs(process):
    """Whether there is a process that has not ended; one that nobody has waited for has."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _waited(says, seconds=60):
    end = time.monotonic() + seconds
    while not says() and time.monotonic() < end:
        time.sleep(0.05)
    return says()

"""Workers: one framework on one kernel in a process of its own, which nobody waits for too long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import Framework
from benchmarks.timing import surroundings

ROOT = Path(__file__).parent.parent.parent


def answer(
    python: Path,
    words: Sequence[str],
    framework: Framework,
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What a worker prints last, as JSON; a `status` alone where it crashes or takes longer than `seconds`.

    `environment` is what this process gets besides what the framework always gets.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        places = {"folder": folder, "prefix": python.parent.parent}
        own = {name: value.format(**places) for name, value in framework.environment.items()}
        process = subprocess.Popen(
            [str(python), *words],
            cwd=folder,
            env=surroundings({"PYTHONPATH": str(ROOT), "TMPDIR": folder, **own, **(environment or {})}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"status": f"timeout: more than {seconds:g} s"}
    if process.returncode:
        last = err.strip().splitlines()[-1:] or ["no message"]
        return {"status": f"crash: exit {process.returncode}: {last[0]}"}
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found

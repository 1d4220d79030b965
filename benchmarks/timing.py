"""How time is measured here: medians, in fresh processes where a first time is meant."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: In these some libraries read which processor to take the machine for, or which of its instructions to leave alone.
HELD_BACK = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_ENABLE_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES")


def surroundings(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment with `more`, without what holds some libraries back: all use the whole machine."""
    return {name: value for name, value in os.environ.items() if name not in HELD_BACK} | dict(more or {})


def median_seconds(run: Callable[[], object], repeats: int = 7) -> float:
    """Median wall time of `run`, after one call to warm up."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def interleaved(first: Callable[[], object], second: Callable[[], object], repeats: int = 9) -> tuple[float, float]:
    """Medians of two alternatives run in turn, so that a noisy neighbour disturbs both alike."""
    first(), second()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for run, kept in zip((first, second), times, strict=True):
            start = time.perf_counter()
            run()
            kept.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def in_new_process(
    code: str, *words: str, cache: str | None = None, environment: Mapping[str, str] | None = None
) -> Any:
    """Runs `code` in a fresh Python with its own cache folder (or `cache`); the JSON that it prints last.

    `words` are its arguments. Raises `RuntimeError` with what it says where it fails.
    """
    own = surroundings(environment)
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            env={**own, "DCPY_CACHE_DIR": cache or empty},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])

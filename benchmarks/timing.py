"""How time is measured here: medians, in fresh processes where a first time is meant."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable


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


def in_new_process(code: str, *, cache: str | None = None) -> dict[str, float]:
    """Runs `code` in a fresh Python with its own cache folder (or `cache`); it prints one JSON object last."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {"DCPY_CACHE_DIR": cache or empty}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**_environment(), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)

"""``python -m benchmarks.loops [NAME ...]``: each program in dcpy, plain and auto-optimized, and in its peer, in turn.

Medians in milliseconds, and the peer's time over dcpy's (above 1: dcpy is faster). Set ``OMP_NUM_THREADS=1``: the
peers have one thread. Each tool runs in processes of its own, whose medians differ by a fifth for the same machine
code: what `auto_optimize` gains, ``python -m benchmarks.auto_and_plain`` measures in one process. Numba runs in
``.venv-peers/numba`` (``make bench-peers``); without it its rows have no ratio.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.loops.programs import PROGRAMS

ROOT = Path(__file__).parent.parent.parent
NUMBA = ROOT / ".venv-peers" / "numba" / "bin" / "python"
ROUNDS, REPEAT = 3, 7


def main(names: list[str]) -> int:
    """Prints the table; returns 1 where a program is slower than its peer."""
    print(f"{'row':6}{'program':18}{'plain':>9}{'auto':>9}  peer      {'':>7}{'peer/plain':>12}{'peer/auto':>11}")
    slower = 0
    for name in names or PROGRAMS:
        program = PROGRAMS[name]
        tools = ("dcpy", "dcpy-auto", program.peer)
        times: dict[str, list[float]] = {tool: [] for tool in tools}
        for _ in range(ROUNDS):
            for tool in tools:
                times[tool] += _seconds(tool, name)
        plain, auto, peer = (statistics.median(times[tool]) * 1e3 if times[tool] else None for tool in tools)
        assert plain is not None
        assert auto is not None
        ratios = ("", "") if peer is None else (f"{peer / plain:.2f}", f"{peer / auto:.2f}")
        slower += peer is not None and peer < 0.95 * min(plain, auto)
        shown = "not there" if peer is None else f"{peer:.3f}"
        row = f"{program.row:6}{name:18}{plain:9.3f}{auto:9.3f}  {program.peer:6} {shown:>10}"
        print(f"{row}{ratios[0]:>12}{ratios[1]:>11}", flush=True)
    return int(slower > 0)


def _seconds(tool: str, name: str) -> list[float]:
    python = NUMBA if tool == "numba" else Path(sys.executable)
    if not python.exists():
        return []
    words = [str(python), "-m", "benchmarks.loops.worker", tool, name, str(REPEAT)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""``python -m benchmarks.patterns [NAME ...]``: which loops run in parallel, and why the others do not.

``--time`` calls each in dcpy and in Numba (``.venv-peers/numba``, where `make bench-peers` has installed it), in
milliseconds; each tool in processes of its own, with the threads that ``OMP_NUM_THREADS`` says.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.patterns import CLASSES, PATTERNS
from benchmarks.patterns.verdicts import INNER, PARALLEL, SEQUENTIAL, program_of, reason, verdict

ROOT = Path(__file__).parent.parent.parent
NUMBA = ROOT / ".venv-peers" / "numba" / "bin" / "python"
LENGTH = 400  # what programs are made for; nothing is called


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.patterns", description=__doc__)
    parser.add_argument("names", nargs="*", help="patterns, or classes: " + ", ".join(CLASSES))
    parser.add_argument("--time", action="store_true", help="call them, in dcpy and in Numba")
    chosen = parser.parse_args(words)
    names = [name for name, one in PATTERNS.items() if not chosen.names or {name, one.family} & {*chosen.names}]
    if chosen.time:
        return timed(names)
    warnings.simplefilter("ignore")
    found = {name: _told(name) for name in names}
    for family in CLASSES:
        counts = Counter(found[name] for name in names if PATTERNS[name].family == family)
        if counts:
            shown = ", ".join(f"{counts[kind]} {kind}" for kind in (PARALLEL, INNER, SEQUENTIAL) if counts[kind])
            print(f"{family:16}{counts.total():4}: {shown}")
    total = Counter(found.values())
    side_by_side = total[PARALLEL] + total[INNER]
    print(f"{side_by_side} of {total.total()} loops are parallel ({total[INNER]} of them: their inner loops)")
    return 0


def _told(name: str) -> str:
    """The verdict on a pattern; with its reason, if it is sequential, in a line."""
    made = program_of(PATTERNS[name].function, PATTERNS[name].arguments(LENGTH))
    kind = verdict(made)
    why = f": {reason(made)}" if kind == SEQUENTIAL else ""
    print(f"{name:36}{kind}{why}", flush=True)
    return kind


def timed(names: Sequence[str]) -> int:
    """Prints a table; returns 1 where a pattern is slower than in Numba."""
    print(f"{'pattern':36}{'dcpy':>10}{'numba':>10}{'numba/dcpy':>12}")
    slower = 0
    for name in names:
        times = {tool: _seconds(tool, name) for tool in ("dcpy", "numba")}
        shown = "".join(f"{'' if seconds is None else f'{seconds * 1e3:.3f}':>10}" for seconds in times.values())
        mine, its = times["dcpy"], times["numba"]
        ratio = its / mine if mine and its else None
        slower += ratio is not None and ratio < 0.95
        print(f"{name:36}{shown}{'' if ratio is None else f'{ratio:.2f}':>12}", flush=True)
    return int(slower > 0)


def _seconds(tool: str, name: str) -> float | None:
    """The fastest call of a pattern; None where the tool is not there, or refuses it."""
    python = NUMBA if tool == "numba" else Path(sys.executable)
    if not python.exists():
        return None
    words = [str(python), "-m", "benchmarks.patterns.worker", tool, name]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else None


if __name__ == "__main__":
    raise SystemExit(main())

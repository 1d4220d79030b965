"""``python -m benchmarks.ab REF [--corpus untuned] [NAME ...]``: this checkout beside another commit's, in turn.

Each has a process of its own, which is told to call a program when the other one rests; the fastest calls count. A
ratio above 1 says that this checkout is faster. REF is checked out under ``build/ab`` and built there, once for each
commit, with what the extra `bench` installs; ``HEAD`` beside itself says how much noise there is. One thread is timed
in processor time, more in wall time.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contenders import ROOT, Contender, Row, measured
from benchmarks.corpora import CORPORA

BAR = 0.95
AGAIN = 2  # a ratio below the bar is measured again as often: one bad moment is no loss


def checkout(reference: str) -> Path:
    """The folder of a commit, built in place; `CalledProcessError` where git or the build fails."""
    commit = _run("git", "rev-parse", "--verify", f"{reference}^{{commit}}").strip()
    folder = ROOT / "build" / "ab" / commit[:12]
    if not (folder / "built").exists():
        if not folder.exists():
            _run("git", "worktree", "add", "--detach", str(folder), commit)
        _run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", folder=folder)
        (folder / "built").touch()
    return folder


def _run(*words: str, folder: Path = ROOT) -> str:
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout


def geometric_mean(ratios: Iterable[float]) -> float:
    """Of positive numbers; NaN of none."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def main(words: Sequence[str] | None = None) -> int:
    """Prints the table; returns 1 where a program is slower than `BAR` of what it was."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ab", description=__doc__)
    parser.add_argument("reference", help="a commit")
    parser.add_argument("names", nargs="*", help="regular expressions of programs; default: all")
    parser.add_argument("--corpus", default="untuned", choices=CORPORA)
    parser.add_argument("--sizes", default="SM", help="letters of S, M, L (default: SM)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tool", default="dcpy", choices=("dcpy", "dcpy-plain"))
    parser.add_argument("--seconds", type=float, default=0.4, help="of timing, for each program and size")
    parser.add_argument("--json", default="", help="where to keep the rows")
    chosen = parser.parse_intermixed_args(words)
    here = Contender("here", chosen.tool, chosen.threads)
    there = Contender("there", chosen.tool, chosen.threads, checkout(chosen.reference))
    kept: list[dict[str, Any]] = []
    for name, case in CORPORA[chosen.corpus]().items():
        if chosen.names and not any(re.search(each, name) for each in chosen.names):
            continue
        for size in (each for each in chosen.sizes if each in case.arguments):
            row, ratio = _compared(here, there, chosen.corpus, name, size, chosen.seconds)
            kept.append(vars(row) | {"ratio": ratio})
            times = "".join(f"{row.seconds.get(each, math.nan) * 1e3:11.4f}" for each in ("there", "here"))
            said = "; ".join(f"{who}: {why}" for who, why in row.refused.items())
            print(f"{name:32}{size}{times} ms{ratio:8.2f}  {said}", flush=True)
            if chosen.json:
                Path(chosen.json).write_text(json.dumps(kept, indent=1))
    here.close()
    there.close()
    ratios = [row["ratio"] for row in kept if not math.isnan(row["ratio"])]
    slower = ", ".join(f"{row['name']} {row['size']}" for row in kept if row["ratio"] < BAR)
    print(f"{len(ratios)} timings: geometric mean {geometric_mean(ratios):.3f}; below {BAR}: {slower or 'none'}")
    return int(bool(slower))


def _compared(
    here: Contender, there: Contender, corpus: str, name: str, size: str, seconds: float
) -> tuple[Row, float]:
    """What was measured last, and the best ratio; NaN where one of them refuses."""
    ratio = math.nan
    for _ in range(1 + AGAIN):
        row = measured([here, there], corpus, name, size, seconds=seconds)
        if row.refused:
            return row, math.nan
        found = row.seconds["there"] / row.seconds["here"]
        ratio = found if math.isnan(ratio) else max(ratio, found)
        if ratio >= BAR:
            break
    return row, ratio


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m benchmarks.busy [NAME ...]``: kernels on all cores beside a process that computes, over one thread there.

A person's machine does something else meanwhile. A ratio is the mean time of calls on one thread over the mean on as
many threads as there are cores, both beside the other process: below 1, a team loses what it should not have tried.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.ab import geometric_mean
from benchmarks.contenders import Contender
from benchmarks.corpora import CORPORA

BAR = 0.8
OTHER = "while True: pass"


def main(words: Sequence[str] | None = None) -> int:
    """Prints the table, slowest first."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy", description=__doc__)
    parser.add_argument("names", nargs="*", help="regular expressions of programs; default: all")
    parser.add_argument("--corpus", default="npbench", choices=CORPORA)
    parser.add_argument("--size", default="S")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, for each program and number of threads")
    parser.add_argument("--others", type=int, default=1, help="processes that compute meanwhile")
    parser.add_argument("--tool", default="dcpy")
    chosen = parser.parse_intermixed_args(words)
    cores = len(os.sched_getaffinity(0))
    alone, team = (Contender(f"{count}", chosen.tool, count, neighbour=True) for count in (1, cores))
    others = [subprocess.Popen([sys.executable, "-c", OTHER]) for _ in range(chosen.others)]
    ratios: dict[str, float] = {}
    try:
        for name in CORPORA[chosen.corpus]():
            if chosen.names and not any(re.search(each, name) for each in chosen.names):
                continue
            for each in (alone, team):
                said, _ = each.prepare(chosen.corpus, name, chosen.size)
                if "refused" in said:
                    print(f"{name}: {said['refused']}")
                    break
            else:
                one, all_ = (
                    sum(each.timed(chosen.seconds / 4)["mean"] for _ in range(4)) / 4 for each in (alone, team)
                )
                ratios[name] = one / all_
                print(f"{name:28}{one * 1e3:12.4f} ms{all_ * 1e3:12.4f} ms{ratios[name]:8.2f}", flush=True)
    finally:
        for other in others:
            other.kill()
            other.wait()
        alone.close()
        team.close()
    worst = sorted(ratios, key=ratios.__getitem__)[:5]
    print(f"{len(ratios)} programs, geometric mean {geometric_mean(ratios.values()):.2f}, "
          f"below {BAR}: {sum(ratio < BAR for ratio in ratios.values())}; "
          f"slowest: {', '.join(f'{name} {ratios[name]:.2f}' for name in worst)}")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

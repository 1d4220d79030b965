"""``python benchmarks/run.py``: the kernels of NPBench in NumPy, dcpy and its peers, each in its own process.

Writes a JSON file, prints a table, and draws the heat map of the paper (figure 7) as SVG (and PNG, with matplotlib).
What runs in the processes is `benchmarks.peers.worker`; `benchmarks/README.md` says what each framework is given.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import limits  # noqa: E402
from benchmarks.npbench import kernels  # noqa: E402
from benchmarks.peers import FRAMEWORKS, Framework, best, heatmap, report  # noqa: E402
from benchmarks.peers.processes import answer  # noqa: E402

Row = dict[str, Any]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    parser.add_argument("--preset", default="S", choices=("XS", "S", "M", "L", "paper"))
    parser.add_argument("--only", help="kernels, with commas between")
    parser.add_argument("--frameworks", default="numpy,dcpy,numba,pythran,dace,jax", help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one variant of one framework")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("build/npbench.json"), help="where the figures go")
    parser.add_argument("--again", action="store_true", help="measure nothing: tell and draw what the JSON file has")
    parser.add_argument("--report", type=Path, help="a Markdown file whose part between the marks takes the results")
    chosen = parser.parse_args()
    chosen.only = chosen.only.split(",") if chosen.only else list(kernels())
    chosen.frameworks = chosen.frameworks.split(",")
    for name, known in ((chosen.only, kernels()), (chosen.frameworks, FRAMEWORKS)):
        unknown = sorted(set(name) - set(known))
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


def run(kernel: str, framework: Framework, variant: int, python: Path, chosen: argparse.Namespace) -> Row:
    """One process, with an empty cache of compiled programs; killed, with what it started, when its time is over."""
    words = ["-m", "benchmarks.peers.worker", kernel, framework.name, str(variant), chosen.preset]
    words += [str(chosen.repeat), str(chosen.timeout / 3)]
    threads = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))
    row: Row = {"kernel": kernel, "framework": framework.name, "preset": chosen.preset, "threads": threads}
    return row | answer(python, words, framework, chosen.timeout)


def fastest(rows: list[Row]) -> Row:
    """The variant that counts: the fastest of those that are right, else the first."""
    good = [row for row in rows if row["status"] == "ok"]
    return min(good, key=lambda row: row.get("median", 0.0), default=rows[0])


def line_of(row: Row) -> str:
    """One line of the table."""

    def ms(key: str) -> str:
        return f"{row[key] * 1e3:.3f}" if key in row else ""

    speedup = f"{row['numpy_median'] / row['median']:.2f}" if "median" in row else ""
    first = f"{row['first_call']:.2f}" if "first_call" in row else ""
    cells = (ms("numpy_median"), first, ms("median"), speedup)
    columns = "".join(f"{cell:>12}" for cell in cells)
    return f"{row['kernel']:<26}{row['framework']:<12}{columns}  {row['status']}"


HEADER = f"{'kernel':<26}{'framework':<12}{'numpy ms':>12}{'first s':>12}{'median ms':>12}{'speed-up':>12}  status"


def summary(rows: list[Row], framework: str) -> list[str]:
    """How many kernels ran, what was changed in them, how much faster than NumPy, and how long the first calls took."""
    mine = [row for row in rows if row["framework"] == framework]
    good = [row for row in mine if row["status"] == "ok"]
    text = [f"{framework}: {len(good)} of {len(mine)} kernels run"]
    if not good or framework == "numpy":
        return text
    added = statistics.median(row["lines"] - row["numpy_lines"] for row in good)
    covered = sum(row["coverage"] for row in good) / len(mine)
    text.append(f"  code coverage {covered:.0%} (a kernel that does not run has none), {added:+g} lines (median)")
    speedups = statistics.geometric_mean(row["numpy_median"] / row["median"] for row in good)
    text.append(f"  {speedups:.2f} times NumPy (geometric mean)")
    text.append("  first call " + median_and_longest([row["first_call"] for row in good]))
    stages = [row["stages"] for row in good if row.get("stages")]
    if stages:
        own = [stage["frontend"] + stage["simplify"] for stage in stages]
        text.append("  of which parse and simplify " + median_and_longest(own))
    return text


def median_and_longest(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s (longest)"


def installed(names: list[str]) -> dict[str, Path]:
    """The interpreters of the frameworks that are there; a word about the others."""
    present = {}
    for name in names:
        python = FRAMEWORKS[name].python
        if python is None:
            print(f"{name} is not installed (make bench-peers installs it): skipped")
        else:
            present[name] = python
    return present


def measured(chosen: argparse.Namespace) -> list[Row]:
    """All kernels in all frameworks that are there; a line for each as soon as it is known."""
    present = installed(chosen.frameworks)
    print(HEADER)
    rows = []
    for kernel in chosen.only:
        for name, python in present.items():
            framework = FRAMEWORKS[name]
            variants = range(len(framework.variants))
            rows.append(fastest([run(kernel, framework, variant, python, chosen) for variant in variants]))
            print(line_of(rows[-1]), flush=True)
    rows[0]["limits"] = limits.measured()
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"wrote {chosen.json}")
    return rows


def main() -> int:
    chosen = options()
    if chosen.again:
        rows = json.loads(chosen.json.read_text())
        print("\n".join([HEADER, *map(line_of, rows)]))
    else:
        rows = measured(chosen)
    for name in dict.fromkeys(row["framework"] for row in rows):
        print("\n".join(summary(rows, name)))
    for line in (*best.summary(rows), *report.limits(rows)):
        print(line)
    for path in heatmap.draw(rows, chosen.json.with_suffix("")):
        print(f"wrote {path}")
    if not heatmap.can_draw_pixels():
        print("no PNG: matplotlib is not installed (pip install 'dcpy[bench]' installs it)")
    if chosen.report:
        report.write(rows, chosen.report)
        print(f"wrote {chosen.report}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

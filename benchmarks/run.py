"""``python benchmarks/run.py``: the kernels of NPBench in NumPy, dcpy and its peers, each in its own process.

Writes a JSON file after each row, prints a table, and draws the heat map of the paper (figure 7) as SVG (and PNG, with
matplotlib). What runs in the processes is `benchmarks.peers.worker`; `benchmarks/README.md` says what each framework is
given. A whole campaign takes hours: it can be cut anywhere, and `--resume` goes on.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import limits  # noqa: E402
from benchmarks.npbench import kernels  # noqa: E402
from benchmarks.peers import FRAMEWORKS, Framework, bars, by_hand, heatmap, large, openmp, polybench, report, streaming  # noqa: E402
from benchmarks.peers.campaign import Campaign, Row, Table  # noqa: E402
from benchmarks.peers.processes import answer  # noqa: E402

PRESETS = ("XS", "S", "M", "L", "paper", "large", streaming.PRESET)
WAITING = ("default", "active", "passive")


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    threads = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    parser.add_argument("--preset", default="S", help="with commas between, of " + ", ".join(PRESETS))
    parser.add_argument("--threads", default=threads, help="how many, with commas between")
    parser.add_argument("--only", help="kernels, with commas between")
    parser.add_argument("--frameworks", default="numpy,dcpy,numba,pythran,dace,jax", help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument(
        "--waiting",
        default="default",
        help="OMP_WAIT_POLICY, with commas between: the fastest counts; active is for quiet machines. Of "
        + ", ".join(WAITING),
    )
    parser.add_argument("--polybench", type=Path, help="a folder with PolyBench/C: its programs, in C, take part")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one variant of one framework")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("build/npbench.json"), help="where the figures go")
    parser.add_argument("--resume", action="store_true", help="keep what the JSON file has, and measure what it lacks")
    parser.add_argument("--anew", default="", help="with --resume: frameworks to measure again all the same")
    parser.add_argument("--again", action="store_true", help="measure nothing: tell and draw what the JSON file has")
    parser.add_argument("--report", type=Path, help="a Markdown file whose part between the marks takes the results")
    chosen = parser.parse_args(words)
    for name in ("preset", "frameworks", "waiting", "anew", "threads"):
        setattr(chosen, name, [word for word in getattr(chosen, name).split(",") if word])
    chosen.only = chosen.only.split(",") if chosen.only else list(kernels())
    known = ((chosen.only, kernels()), (chosen.frameworks, FRAMEWORKS), (chosen.preset, PRESETS))
    for names, allowed in (*known, (chosen.waiting, WAITING), (chosen.anew, (*FRAMEWORKS, polybench.NAME))):
        unknown = sorted(set(names) - set(allowed))
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(allowed)}")
    if not all(word.isdecimal() and int(word) for word in chosen.threads):
        parser.error(f"--threads takes numbers, not {','.join(chosen.threads)}")
    return chosen


def fastest(rows: Sequence[Row]) -> Row:
    """The variant that counts: the fastest of those that are right, else the first."""
    good = [row for row in rows if row["status"] == "ok"]
    return min(good, key=lambda row: float(row.get("median", 0.0)), default=rows[0])


def run(kernel: str, framework: Framework, python: Path, part: Table, size: str, chosen: argparse.Namespace) -> Row:
    """Each variant, with each way to wait, in a process with an empty cache of compiled programs."""
    rows = []
    for variant, waiting in itertools.product(range(len(framework.variants)), chosen.waiting):
        words = ["-m", "benchmarks.peers.worker", kernel, framework.name, str(variant), size]
        words += [str(chosen.repeat), str(chosen.timeout / 3)]
        policy = {} if waiting == "default" else {"OMP_WAIT_POLICY": waiting}
        environment = {**framework.on_threads(part.threads), **policy}
        found = answer(python, words, framework, chosen.timeout, environment)
        rows.append({**found, "waiting": waiting, "variant": framework.variants[variant].__name__})
    return fastest(rows)


def line_of(row: Row) -> str:
    """One line of the table."""

    def ms(key: str) -> str:
        return f"{row[key] * 1e3:.3f}" if key in row else ""

    speedup = f"{row['numpy_median'] / row['median']:.2f}" if {"median", "numpy_median"} <= row.keys() else ""
    first = f"{row['first_call']:.2f}" if "first_call" in row else ""
    cells = (ms("numpy_median"), first, ms("median"), speedup)
    columns = "".join(f"{cell:>12}" for cell in cells)
    return f"{row['kernel']:<26}{row['framework']:<16}{columns}  {row['status']}"


HEADER = f"{'kernel':<26}{'framework':<16}{'numpy ms':>12}{'first s':>12}{'median ms':>12}{'speed-up':>12}  status"


def summary(rows: Sequence[Row], framework: str) -> list[str]:
    """How many kernels ran, what was changed in them, how much faster than NumPy, and how long the first calls took."""
    mine = [row for row in rows if row["framework"] == framework]
    good = [row for row in mine if row["status"] == "ok"]
    text = [f"{framework}: {len(good)} of {len(mine)} kernels run"]
    if not good or framework == "numpy":
        return text
    adapted = [row for row in good if "coverage" in row]
    if adapted:
        added = statistics.median(row["lines"] - row["numpy_lines"] for row in adapted)
        covered = sum(row["coverage"] for row in adapted) / len(mine)
        text.append(f"  code coverage {covered:.0%} (a kernel that does not run has none), {added:+g} lines (median)")
    speedups = [heatmap.speedup(row) for row in good if "numpy_median" in row]
    if speedups:
        text.append(f"  {statistics.geometric_mean(speedups):.2f} times NumPy (geometric mean)")
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
        if FRAMEWORKS[name].is_by_hand and by_hand.root() is None:
            print(f"{name} needs a checkout of NPBench, whose folder {by_hand.VARIABLE} names: skipped")
        elif python is None:
            print(f"{name} is not installed (make bench-peers installs it): skipped")
        else:
            present[name] = python
    return present


def measure(campaign: Campaign, chosen: argparse.Namespace) -> None:
    """All that is asked for and not there yet; a line for each row as soon as it is known, and the file with it."""
    present = installed(chosen.frameworks)
    for preset, threads in itertools.product(chosen.preset, chosen.threads):
        part = Table(preset, int(threads))
        print(f"{part}\n{HEADER}")
        if threads not in campaign.limits:
            campaign.limits[threads] = limits.measured(openmp(part.threads))
        for kernel in chosen.only:
            if preset == streaming.PRESET and kernel not in streaming.names():
                continue
            for row in _rows(campaign, part, kernel, present, chosen):
                campaign.add(row)
                campaign.write(chosen.json)
                print(line_of(row), flush=True)


def _rows(
    campaign: Campaign, part: Table, kernel: str, present: dict[str, Path], chosen: argparse.Namespace
) -> Iterator[Row]:
    """Those of a kernel that are to be measured."""
    if part.preset == "large" and kernel not in campaign.large:
        campaign.large[kernel] = large.preset_of(kernels()[kernel])
    size = campaign.large[kernel] if part.preset == "large" else part.preset
    head: Row = {"kernel": kernel, "preset": part.preset, "size": size, "threads": part.threads}
    for name, python in present.items():
        if name in chosen.anew or not campaign.has(part, kernel, name):
            measured = partial(run, kernel, FRAMEWORKS[name], python, part, size, chosen)
            row = streaming.beside_triads(measured, part.threads) if part.preset == streaming.PRESET else measured()
            yield {**row, **head, "framework": name}
    name = polybench.NAME
    if chosen.polybench and (name in chosen.anew or not campaign.has(part, kernel, name)):
        suite = polybench.Suite(chosen.polybench, chosen.repeat, chosen.timeout)
        found = suite.row(kernel, kernels()[kernel].sizes[size], openmp(part.threads), part.threads)
        if found is not None:
            yield {**found, **head, "framework": name}


def tell(campaign: Campaign, part: Table) -> None:
    """The table of a part and what it amounts to."""
    rows = campaign.of(part)
    print("\n".join([str(part), HEADER, *map(line_of, rows)]))
    for name in dict.fromkeys(row["framework"] for row in rows):
        print("\n".join(summary(rows, name)))
    for line in report.limits(campaign, part):
        print(line)
    for bar in bars.bars(rows, campaign.limits.get(str(part.threads), {})):
        print(bar)


def main(words: Sequence[str] | None = None) -> int:
    chosen = options(words)
    kept = chosen.again or (chosen.resume and chosen.json.exists())
    campaign = Campaign.read(chosen.json) if kept else Campaign()
    if not chosen.again:
        measure(campaign, chosen)
        print(f"wrote {chosen.json}")
    for part in campaign.parts():
        tell(campaign, part)
        stem = chosen.json.with_name(f"{chosen.json.stem}-{part.preset}-{part.threads}")
        for path in heatmap.draw(campaign.of(part), stem):
            print(f"wrote {path}")
    if not heatmap.can_draw_pixels():
        print("no PNG: matplotlib is not installed (pip install '.[bench]' installs it)")
    if chosen.report:
        report.write(campaign, chosen.report)
        print(f"wrote {chosen.report}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

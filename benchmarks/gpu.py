"""``python benchmarks/gpu.py``: NPBench on a GPU, in dcpy, CuPy, JAX and PyTorch, each kernel in its own process.

Arrays are on the device before the clock starts and results stay there; 64 bits everywhere. Writes a JSON file, prints
a table, and draws the heat map beside CuPy as SVG (and PNG, with matplotlib). Without a GPU it says so and ends with 2.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.devices import BASELINE, FRAMEWORKS  # noqa: E402
from benchmarks.devices.clocks import driver  # noqa: E402
from benchmarks.npbench import kernels  # noqa: E402
from benchmarks.peers import Framework, heatmap  # noqa: E402
from benchmarks.peers.processes import answer  # noqa: E402

Row = dict[str, Any]
NO_GPU = "no GPU: nothing is measured, and nothing is said about time (dcpy doctor --gpu says what was looked for)"
HEADER = f"{'kernel':<26}{'framework':<12}{'first s':>12}{'median ms':>12}{'beside ' + BASELINE:>14}  status"


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/gpu.py", description=__doc__)
    parser.add_argument("--preset", default="paper", choices=("XS", "S", "M", "L", "paper"))
    parser.add_argument("--only", help="kernels, with commas between")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS), help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one kernel in one framework")
    parser.add_argument("--repeat", type=int, default=50, help="calls that count, after 5 that do not")
    parser.add_argument("--json", type=Path, default=Path("build/npbench-gpu.json"), help="where the figures go")
    parser.add_argument("--again", action="store_true", help="measure nothing: tell and draw what the JSON file has")
    chosen = parser.parse_args(words)
    chosen.only = chosen.only.split(",") if chosen.only else list(kernels())
    chosen.frameworks = chosen.frameworks.split(",")
    for name, known in ((chosen.only, kernels()), (chosen.frameworks, FRAMEWORKS)):
        unknown = sorted(set(name) - set(known))
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


def has_gpu() -> bool:
    """Whether a device can be opened."""
    from dcpy.base.errors import DcpyError
    from dcpy.base.options import resolve_options
    from dcpy.runtime.devices.drivers import open_context

    try:
        _, prefix = driver()
        open_context("cuda" if prefix == "cu" else "hip", resolve_options())
    except (RuntimeError, DcpyError):
        return False
    return True


def run(kernel: str, framework: Framework, python: Path, chosen: argparse.Namespace) -> Row:
    """One process, with an empty cache of compiled programs; killed, with what it started, when its time is over."""
    words = ["-m", "benchmarks.devices.worker", kernel, framework.name, chosen.preset, str(chosen.repeat)]
    row: Row = {"kernel": kernel, "framework": framework.name, "preset": chosen.preset}
    return row | answer(python, [*words, str(chosen.timeout / 3)], framework, chosen.timeout)


def beside(rows: list[Row]) -> list[Row]:
    """The rows with the median of CuPy for the same kernel, where it has one."""
    known = {row["kernel"]: row["median"] for row in rows if row["framework"] == BASELINE and "median" in row}
    key = f"{BASELINE}_median"
    return [row | {key: known[row["kernel"]]} if row["kernel"] in known else row for row in rows]


def line_of(row: Row) -> str:
    """One line of the table."""
    base = row.get(f"{BASELINE}_median")
    ratio = f"{base / row['median']:.2f}" if base and "median" in row else ""
    median = f"{row['median'] * 1e3:.4f}" if "median" in row else ""
    first = f"{row['first_call']:.2f}" if "first_call" in row else ""
    return f"{row['kernel']:<26}{row['framework']:<12}{first:>12}{median:>12}{ratio:>14}  {row['status']}"


def summary(rows: list[Row], framework: str) -> str:
    """How many kernels run, how they compare with CuPy's, and how often none is faster."""
    mine = [row for row in rows if row["framework"] == framework]
    good = [row for row in mine if row["status"] == "ok"]
    text = f"{framework}: {len(good)} of {len(mine)} kernels run"
    ratios = [row[f"{BASELINE}_median"] / row["median"] for row in good if f"{BASELINE}_median" in row]
    if framework != BASELINE and ratios:
        text += f", {statistics.geometric_mean(ratios):.2f} times {BASELINE} (geometric mean of {len(ratios)})"
    best = {row["kernel"]: min(each["median"] for each in rows if each["kernel"] == row["kernel"] and "median" in each)
            for row in good}  # fmt: skip
    return text + f", the fastest in {sum(row['median'] == best[row['kernel']] for row in good)}"


def measured(chosen: argparse.Namespace) -> list[Row]:
    """All kernels in all frameworks that are there; a line for each as soon as it is known."""
    present = {name: FRAMEWORKS[name].python for name in chosen.frameworks}
    for name in [name for name, python in present.items() if python is None]:
        print(f"{name} is not installed (make bench-gpu installs it): skipped")
    print(HEADER)
    rows: list[Row] = []
    for kernel in chosen.only:
        for name, python in present.items():
            if python is not None:
                rows.append(run(kernel, FRAMEWORKS[name], python, chosen))
                print(line_of(beside(rows)[-1]), flush=True)
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"wrote {chosen.json}")
    return rows


def main(words: Sequence[str] | None = None) -> int:
    chosen = options(words)
    if chosen.again:
        rows = beside(json.loads(chosen.json.read_text()))
        print("\n".join([HEADER, *map(line_of, rows)]))
    elif not has_gpu():
        print(NO_GPU, file=sys.stderr)
        return 2
    else:
        rows = beside(measured(chosen))
    for name in dict.fromkeys(row["framework"] for row in rows):
        print(summary(rows, name))
    for path in heatmap.draw(rows, chosen.json.with_suffix(""), BASELINE):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

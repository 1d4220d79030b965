"""``python benchmarks/gpu.py``: NPBench on a GPU, in dcpy, CuPy, JAX and PyTorch, each kernel in its own process.

Arrays are on the device before the clock starts and results stay there; 64 bits everywhere. Writes a JSON file with the
device's name and the costs that ``dcpy doctor --gpu`` found, prints a table, and draws the heat map beside CuPy as SVG
(and PNG, with matplotlib). Without a GPU it says so and ends with 2.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.devices import BASELINE, FRAMEWORKS, report  # noqa: E402
from benchmarks.devices.device import Device, device_that_is_there, folder_of_constants  # noqa: E402
from benchmarks.devices.report import Row, comparison, ratio  # noqa: E402
from benchmarks.devices.turns import TURNS  # noqa: E402
from benchmarks.npbench import kernels  # noqa: E402
from benchmarks.peers import Framework, heatmap  # noqa: E402
from benchmarks.peers.processes import answer  # noqa: E402

NO_GPU = "no GPU: nothing is measured, and nothing is said about time (dcpy doctor --gpu says what was looked for)"
HEADER = f"{'kernel':<26}{'framework':<12}{'first s':>12}{'median ms':>12}{'beside ' + BASELINE:>14}  status"


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/gpu.py", description=__doc__)
    parser.add_argument("--preset", default="paper", choices=("XS", "S", "M", "L", "paper"))
    parser.add_argument("--only", help="kernels, with commas between")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS), help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument("--compared", help="the preset that results are compared with NumPy's at (default: --preset)")
    parser.add_argument("--timeout", type=float, default=200.0, help="seconds for the first call of a kernel")
    parser.add_argument("--seconds", type=float, default=100.0, help="for the calls of a kernel that are measured")
    parser.add_argument("--jobs", type=int, default=1, help="processes that prepare at once; one alone is measured")
    parser.add_argument("--repeat", type=int, default=50, help="calls that count, after 5 that do not")
    parser.add_argument("--json", type=Path, default=Path("build/npbench-gpu.json"), help="where the figures go")
    parser.add_argument("--add", action="store_true", help="other rows of the JSON file stay")
    parser.add_argument("--again", action="store_true", help="measure nothing: tell and draw what the JSON file has")
    parser.add_argument("--report", type=Path, help="a Markdown file whose part between the marks takes the results")
    chosen = parser.parse_args(words)
    chosen.only = chosen.only.split(",") if chosen.only else list(kernels())
    chosen.frameworks = chosen.frameworks.split(",")
    for name, known in ((chosen.only, kernels()), (chosen.frameworks, FRAMEWORKS)):
        unknown = sorted(set(name) - set(known))
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


def run(kernel: str, framework: Framework, python: Path, chosen: argparse.Namespace) -> Row:
    """One process, with an empty cache of compiled programs; killed, with what it started, when its time is over."""
    presets = f"{chosen.compared or chosen.preset},{chosen.preset}"
    words = ["-m", "benchmarks.devices.worker", kernel, framework.name, presets, str(chosen.repeat)]
    if framework.name == "dcpy":
        framework = replace(framework, environment={**framework.environment, **folder_of_constants()})
    row: Row = {"kernel": kernel, "framework": framework.name, "preset": chosen.preset}
    seconds = [*words, f"{chosen.timeout},{chosen.seconds}"]
    turns = {TURNS: str(chosen.turns)} if chosen.jobs > 1 else {}
    return row | answer(python, seconds, framework, (chosen.timeout + chosen.seconds) * chosen.jobs, turns)


def beside(rows: list[Row]) -> list[Row]:
    """The rows with the median of CuPy for the same kernel, where it has one, by the clock that the row has, too."""
    known = {row["kernel"]: row for row in rows if row["framework"] == BASELINE and "median" in row}
    key = f"{BASELINE}_median"
    return [
        row | {key: row["median"] * ratio(row, known[row["kernel"]])}
        if "median" in row and row["kernel"] in known
        else row
        for row in rows
    ]


def line_of(row: Row) -> str:
    """One line of the table."""
    base = row.get(f"{BASELINE}_median")
    ratio = f"{base / row['median']:.2f}" if base and "median" in row else ""
    median = f"{row['median'] * 1e3:.4f}" if "median" in row else ""
    first = f"{row['first_call']:.2f}" if "first_call" in row else ""
    return f"{row['kernel']:<26}{row['framework']:<12}{first:>12}{median:>12}{ratio:>14}  {row['status']}"


def summary(rows: list[Row], framework: str) -> str:
    """How many kernels run, how often none is faster, and how they compare with everybody else's."""
    mine = [row for row in rows if row["framework"] == framework]
    good = [row for row in mine if row["status"] == "ok"]
    others = [row for row in rows if row["status"] == "ok" and row["framework"] != framework]
    first = [row for row in good if all(ratio(row, other) >= 1 for other in others if other["kernel"] == row["kernel"])]
    text = f"{framework}: {len(good)} of {len(mine)} kernels run, the fastest in {len(first)}"
    told = (comparison(rows, framework, name) for name in dict.fromkeys(row["framework"] for row in others))
    return "\n".join([text, *filter(None, told)])


def stored_rows(chosen: argparse.Namespace, device: Device) -> list[Row]:
    """With ``--add``, the rows of the JSON file that are not measured anew, and are of the same device and preset."""
    if not chosen.add or not chosen.json.exists():
        return []
    stored = json.loads(chosen.json.read_text())
    if stored["device"]["name"] != device.name:
        return []
    anew = {(kernel, name) for kernel in chosen.only for name in chosen.frameworks}
    rows: list[Row] = stored["rows"]
    return [r for r in rows if r["preset"] == chosen.preset and (r["kernel"], r["framework"]) not in anew]


def measured(chosen: argparse.Namespace, device: Device) -> list[Row]:
    """All kernels in all frameworks that are there; a line for each as soon as it is known."""
    print(device.name)
    if not device.constants:
        print("dcpy compiles by a table of chips: dcpy doctor --gpu measures what things cost on this one")
    present = {name: FRAMEWORKS[name].python for name in chosen.frameworks}
    for name in [name for name, python in present.items() if python is None]:
        print(f"{name} is not installed (make bench-gpu installs it): skipped")
    print(HEADER)
    rows = stored_rows(chosen, device)
    pairs = [(kernel, name, python) for kernel in chosen.only for name, python in present.items() if python is not None]
    with tempfile.NamedTemporaryFile() as turns, ThreadPoolExecutor(chosen.jobs) as pool:
        chosen.turns = turns.name
        started = [pool.submit(run, kernel, FRAMEWORKS[name], python, chosen) for kernel, name, python in pairs]
        for done in as_completed(started):
            rows.append(done.result())
            print(line_of(beside(rows)[-1]), flush=True)
            chosen.json.parent.mkdir(parents=True, exist_ok=True)
            chosen.json.write_text(json.dumps({"device": asdict(device), "rows": rows}, indent=1) + "\n")
    print(f"wrote {chosen.json}")
    order = list(kernels()), list(FRAMEWORKS)
    return sorted(rows, key=lambda row: (order[0].index(row["kernel"]), order[1].index(row["framework"])))


def main(words: Sequence[str] | None = None) -> int:
    chosen = options(words)
    if chosen.again:
        stored = json.loads(chosen.json.read_text())
        device, rows = Device(**stored["device"]), beside(stored["rows"])
        print("\n".join([device.name, HEADER, *map(line_of, rows)]))
    elif (found := device_that_is_there()) is None:
        print(NO_GPU, file=sys.stderr)
        return 2
    else:
        device, rows = found, beside(measured(chosen, found))
    for name in dict.fromkeys(row["framework"] for row in rows):
        print(summary(rows, name))
    for path in heatmap.draw(rows, chosen.json.with_suffix(""), BASELINE):
        print(f"wrote {path}")
    if chosen.report:
        report.write_between(report.BEGIN, report.END, report.markdown(device, rows), chosen.report)
        print(f"wrote {chosen.report}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

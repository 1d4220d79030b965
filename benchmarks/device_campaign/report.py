"""The report: tables of what a campaign has found, between the marks of a page; raw figures go beside that page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.device_campaign.comparisons import OURS, Kernel, Row, by_kernel, means
from benchmarks.device_campaign.floors import COPY, floor
from benchmarks.device_campaign.steps import files_of
from benchmarks.device_campaign.store import read
from benchmarks.devices import BASELINE
from benchmarks.peers import heatmap
from benchmarks.peers.report import write_between

BEGIN, END = "<!-- results on a GPU -->", "<!-- end of results on a GPU -->"
RESULTS = Path("results", "device")  #: beside the page
Files = Mapping[str, dict[str, Any]]


def write(out: Path, page: Path) -> int:
    """Fills a page with what is in `out`; 1 where nothing is."""
    paths = files_of(out)
    if not paths:
        print(f"{out} has no results of a campaign", file=sys.stderr)
        return 1
    place = page.parent / RESULTS
    place.mkdir(parents=True, exist_ok=True)
    for path in paths:
        if path.parent.resolve() != place.resolve():
            shutil.copyfile(path, place / path.name)
    files = {path.stem: read(path) for path in paths}
    write_between(BEGIN, END, markdown(files), page)
    drawn = heatmap.draw(list(_drawn(rows_of(files, "3-clock"))), place / "npbench", BASELINE)
    print(f"wrote {page}, {place}, {', '.join(path.name for path in drawn)}")
    return 0


def rows_of(files: Files, name: str) -> list[Row]:
    """The rows of a step; none where it was not reached."""
    return list(files.get(name, {}).get("rows", ()))


def markdown(files: Files) -> Iterator[str]:
    """Where, what the device can do, kernels, problems by hand, passes, tools, tests, and what failed."""
    yield from _where(files)
    ceilings = {row["key"]["ceiling"]: row["figure"] for row in rows_of(files, "1-ceilings") if "figure" in row}
    yield from _ceilings(files)
    yield from _kernels(by_kernel(_timed(files)), ceilings)
    yield from _problems(by_kernel(rows_of(files, "4-by-hand"), "problem"), ceilings)
    yield from _passes(rows_of(files, "5-ablation"))
    yield from _tools(rows_of(files, "6-tools"))
    yield from _tests(rows_of(files, "7-tests"))
    yield from _failures(files)


def _timed(files: Files) -> Iterator[Row]:
    """Rows of kernels, with whether their values have been `checked`, be it later."""
    checked = {
        (row["key"]["kernel"], row["key"]["framework"]) for row in rows_of(files, "2-compile") if row["status"] == "ok"
    }
    for row in rows_of(files, "3-clock"):
        yield {**row, "checked": (row["key"]["kernel"], row["key"]["framework"]) in checked}


def _where(files: Files) -> Iterator[str]:
    facts = next(iter(files.values()))
    versions = {row["key"]["framework"]: row["version"] for row in rows_of(files, "2-compile") if row.get("version")}
    told = [f"{name} {version}" for name, version in {**facts["versions"], **versions}.items()]
    commit = f"commit {facts['commit']}, " if facts["commit"] else ""
    yield f"{facts['date']}: {facts['device']['name']}; preset {facts['preset']}; {commit}sources {facts['sources']}."
    yield f"{', '.join(told)}." + (f" Not there: {', '.join(facts['missing'])}." if facts["missing"] else "")
    steps = {name: took for document in files.values() for name, took in document.get("steps", {}).items()}
    cut = [name for name, took in steps.items() if not took["done"]]
    took = ", ".join(f"{name} {each['seconds']:.0f} s" for name, each in steps.items())
    yield f"Steps: {took}." + (f" Cut where their time was over: {', '.join(cut)}." if cut else "")
    yield ""


def _ceilings(files: Files) -> Iterator[str]:
    rows = rows_of(files, "1-ceilings")
    figures = [(row["key"]["ceiling"], f"{row['figure']:.4g} {row['unit']}") for row in rows if "figure" in row]
    doctor = next((row["lines"] for row in rows if "doctor" in row["key"] and row["status"] == "ok"), [])
    figures += [(f"doctor: {' '.join(line[:32].split())}", " ".join(line[32:].split())) for line in _measured(doctor)]
    yield from _table(("the device at its best", ""), figures)


def _measured(lines: Sequence[str]) -> Iterator[str]:
    """The lines of the doctor behind its line that says so."""
    start = next((k for k, line in enumerate(lines) if "measured now" in line), len(lines))
    yield from (line for line in lines[start + 1 :] if line.startswith("        "))


def _kernels(kernels: Sequence[Kernel], ceilings: Mapping[str, float]) -> Iterator[str]:
    yield from (f"* {line}" for line in means(kernels))
    yield ""
    names = list(dict.fromkeys(name for kernel in kernels for name in kernel.rows))
    rows = []
    for kernel in kernels:
        best = kernel.best_peer()
        mine = kernel.good.get(OURS)
        least = floor(mine, ceilings) if mine else None
        share = f"{least / mine['median']:.0%}" if mine and least else ""
        beside = (best[0], f"{best[1]:.2f}") if best else ("", "")
        rows.append((kernel.name, *(_cell(kernel.rows.get(name)) for name in names), *beside, share))
    yield from _table(("kernel, ms", *names, "best peer", "dcpy over it", "of the ceiling"), rows)
    good = [row for kernel in kernels for row in kernel.good.values()]
    if any(not row.get("checked", True) for row in good):
        yield "?: not compared with NumPy in this campaign."
        yield ""
    if any(row.get("graph_breaks") for row in good):
        yield "(host): PyTorch does not compile all of it; what it leaves is NumPy's, on the host."
        yield ""


def _problems(problems: Sequence[Kernel], ceilings: Mapping[str, float]) -> Iterator[str]:
    names = list(dict.fromkeys(name for problem in problems for name in problem.rows))
    rows = []
    for problem in problems:
        cells = []
        for name in names:
            row = problem.rows.get(name)
            share = ""
            if row and row["status"] == "ok" and COPY in ceilings:
                share = f" ({row['bytes'] / row['median'] / ceilings[COPY] / 1e9:.0%})"
            cells.append(_cell(row) + share)
        rows.append((problem.name, *cells))
    yield from _table(("by hand, ms (of a copy)", *names), rows)


def _passes(rows: Sequence[Row]) -> Iterator[str]:
    cells = []
    for row in rows:
        times = (row.get("with_it"), row.get("median"))
        told = ("", _status(row), "") if None in times or row["status"] != "ok" else _times(*times)
        cells.append((row["key"]["pass"], row["key"]["kernel"], *told))
    yield from _table(("pass left out", "kernel", "with it, ms", "without, ms", "times slower"), cells)


def _times(with_it: float, without: float) -> tuple[str, str, str]:
    return f"{with_it * 1e3:.4g}", f"{without * 1e3:.4g}", f"{without / with_it:.2f}"


def _tools(rows: Sequence[Row]) -> Iterator[str]:
    by_tool: dict[str, list[Row]] = {}
    for row in rows:
        by_tool.setdefault(row["key"]["tool"], []).append(row)
    for tool, mine in by_tool.items():
        good = [row for row in mine if row["status"] == "ok"]
        if tool != "ncu":
            count = sum(len(row["key"].get("kernels", "").split(",")) for row in good)
            yield f"* {tool}: nothing to report on {count} kernels" + _others(mine, "kernels")
    yield ""
    seen = [
        (row["key"]["kernel"], *_counted(name, found))
        for row in by_tool.get("ncu", [])
        for name, found in row.get("kernels", {}).items()
    ]
    yield from _table(("program", "kernel, by ncu", "launches", "MB", "GB/s", "occupancy"), seen)


def _counted(name: str, found: Mapping[str, float]) -> tuple[str, ...]:
    speed = found["bytes"] / max(found["seconds"], 1e-12) / 1e9
    figures = f"{found['launches']:g}", f"{found['bytes'] / 1e6:.4g}", f"{speed:.4g}", f"{found['occupancy']:.0f}%"
    return name.partition("(")[0], *figures


def _tests(rows: Sequence[Row]) -> Iterator[str]:
    yield from (f"* {row['key']['file']}: {row.get('said') or _status(row)}" for row in rows)
    yield ""


def _failures(files: Files) -> Iterator[str]:
    """Everything that is not right, with the reason: a line for those of one framework, step and reason."""
    told: dict[tuple[str, str, str], list[str]] = {}
    for name in files:
        for row in rows_of(files, name):
            if row["status"] != "ok":
                key = {word: value for word, value in row["key"].items() if word != "caches"}
                who = key.pop("framework", key.pop("tool", ""))
                told.setdefault((name, who, row["status"]), []).append(" ".join(key.values()))
    for (name, who, status), what in told.items():
        lines = status.replace("|", "\\|").replace("<", "&lt;")
        yield f"* {name} {who}: {', '.join(filter(None, what))}: {lines}"
    if told:
        yield ""


def _drawn(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows as the heat map takes them, with CuPy's time for the same kernel, by the clock that both are known by."""
    kernels = by_kernel(rows)
    for kernel in kernels:
        base = kernel.good.get(BASELINE)
        for name, row in kernel.rows.items():
            flat = {"kernel": kernel.name, "framework": name, **row}
            if base is not None and row["status"] == "ok":
                key = "median" if {row["clock"], base["clock"]} == {"events"} else "host_median"
                flat |= {f"{BASELINE}_median": row["median"] * base[key] / row[key]}
            yield flat


def _others(rows: Iterable[Row], what: str) -> str:
    told = [f"{row['key'].get(what, '')}: {_status(row)}" for row in rows if row["status"] != "ok"]
    return "".join(f"; {one}" for one in told)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Nothing where there are no rows."""
    if rows:
        yield "| " + " | ".join(head) + " |"
        yield "|" + "---|" * len(head)
        yield from ("| " + " | ".join(row) + " |" for row in rows)
        yield ""


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["status"] != "ok":
        return _status(row)
    unchecked = "" if row.get("checked", True) else " ?"
    return f"{row['median'] * 1e3:.4g}{unchecked}{' (host)' if row.get('graph_breaks') else ''}"


def _status(row: Row) -> str:
    return str(row["status"]).partition(":")[0]

"""`python -m tests.sanitizers.device`: NPBench on a GPU under NVIDIA's compute-sanitizer; 1 if it reports anything.

Each kernel runs once at its smallest size, with arrays of the host, under memcheck, racecheck, initcheck and synccheck;
its result is compared with NumPy's. Needs a GPU, and compute-sanitizer of CUDA on PATH.
"""

from __future__ import annotations

import argparse
import copy
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import dcpy
from benchmarks.npbench import kernels

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
STARTS = re.compile(r"^-- (\w+)(: wrong)?$")
REPORTS = re.compile(r"^========= (?!COMPUTE-SANITIZER|ERROR SUMMARY: 0|RACECHECK SUMMARY: 0)(.*)$")
SECONDS = 200  #: of one process


def run(names: Sequence[str]) -> None:
    """Runs kernels in this process, and says which one is next."""
    for name in names:
        print(f"-- {name}", flush=True)
        kernel = kernels()[name]
        here, there = (copy.deepcopy(kernel.initialize("XS")) for _ in range(2))
        expected = kernel.function(**here)
        found = dcpy.program(kernel.function, device=dcpy.DeviceType.GPU, auto_optimize=True)(**there)
        pairs = zip((*_flat(expected), *here.values()), (*_flat(found), *there.values()), strict=True)
        if not all(np.allclose(one, other, rtol=2e-5, atol=1e-8, equal_nan=True) for one, other in pairs):
            print(f"-- {name}: wrong", flush=True)


def _flat(result: object) -> tuple[object, ...]:
    return result if isinstance(result, tuple) else () if result is None else (result,)


def findings(tool: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What a tool reports, with the kernel that ran."""
    words = ["compute-sanitizer", "--tool", tool, "--print-limit", "3", sys.executable, "-m", __spec__.name, "--run"]
    done = subprocess.run([*words, *names], capture_output=True, text=True, timeout=SECONDS, check=False)
    name = "start"
    for line in (*done.stdout.splitlines(), *done.stderr.splitlines()[-1:] * (done.returncode != 0)):
        if begins := STARTS.match(line):
            name = begins[1]
            if begins[2]:
                yield name, "the result is wrong"
        elif (report := REPORTS.match(line)) and report[1].strip():
            yield name, report[1].strip()
    if done.returncode:
        yield name, f"exit {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sanitizers.device", description=__doc__)
    parser.add_argument("--run", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=4, help="processes at once, each of them with several kernels")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--only", default=",".join(kernels()))
    chosen = parser.parse_args()
    if chosen.run is not None:
        run(chosen.run)
        return 0
    if shutil.which("compute-sanitizer") is None:
        print("compute-sanitizer is not on PATH: it comes with CUDA")
        return 2
    names, tools = chosen.only.split(","), chosen.tools.split(",")
    parts = [(tool, names[k :: chosen.jobs]) for tool in tools for k in range(min(chosen.jobs, len(names)))]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        all_found = [(part[0], *each) for part, found in zip(parts, pool.map(_found, parts)) for each in found]
    for tool, name, text in all_found:
        print(f"{tool}: {name}: {text}")
    print(f"{len(names)} kernels, {', '.join(tools)}: {len(all_found)} lines of reports")
    return 1 if all_found else 0


def _found(part: tuple[str, Sequence[str]]) -> list[tuple[str, str]]:
    try:
        return list(findings(*part))
    except subprocess.TimeoutExpired:
        return [(",".join(part[1]), f"takes more than {SECONDS} s")]


if __name__ == "__main__":
    sys.exit(main())

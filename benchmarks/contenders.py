"""Contenders: processes that each call the same program in a tool of their own, in turn, told by this one.

A round asks each contender once, so that what disturbs the machine disturbs all of them; the fastest call of each
counts. A contender that crashes, or takes too long, is started anew for the next program.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks.peers import ENVIRONMENTS, openmp
from benchmarks.timing import surroundings

ROOT = Path(__file__).parent.parent
FIRST_SECONDS, ROUND_SECONDS = 90.0, 60.0


class Silent(Exception):
    """A contender has crashed, or takes longer than it may."""


class Contender:
    """A process with one tool; `folder` is the checkout whose dcpy it imports.

    Idle threads of OpenMP sleep unless the caller's environment says otherwise, so that contenders do not disturb each
    other. A `neighbour` waits as the tool itself chooses, and is timed by the wall.
    """

    def __init__(self, label: str, tool: str, threads: int, folder: Path = ROOT, *, neighbour: bool = False) -> None:
        self.label, self.tool, self.folder = label, tool, folder
        self._home = tempfile.TemporaryDirectory(prefix="contender-", ignore_cleanup_errors=True)
        self._environment = openmp(threads) | {"DCPY_CACHE_DIR": f"{self._home.name}/cache", "PYTHONPATH": ""}
        if neighbour:
            self._environment["CONTENDER_WALL"] = "1"
        else:
            self._environment["OMP_WAIT_POLICY"] = os.environ.get("OMP_WAIT_POLICY", "passive")
        if threads == 1:
            self._environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        self._process: subprocess.Popen[str] | None = None

    @property
    def python(self) -> Path:
        """The interpreter that has the tool: this one, or that of `make bench-peers`."""
        package = self.tool.partition("-")[0]
        return Path(sys.executable) if package in ("numpy", "dcpy") else ENVIRONMENTS / package / "bin" / "python"

    def prepare(self, corpus: str, name: str, size: str) -> tuple[dict[str, Any], list[np.ndarray]]:
        """The answer of the contender to a program, and its results: none where it refuses."""
        results = Path(self._home.name) / "results.npz"
        said = self._ask({"corpus": corpus, "name": name, "size": size, "results": str(results)}, FIRST_SECONDS)
        if "refused" in said:
            return said, []
        with np.load(results, allow_pickle=False) as kept:
            return said, [kept[key] for key in kept.files]

    def fastest(self, seconds: float) -> float:
        """Seconds of the fastest of its calls within `seconds`."""
        return self.timed(seconds)["best"]

    def timed(self, seconds: float) -> dict[str, float]:
        """Seconds of the fastest of its calls within `seconds`, ``best``, and of all in the ``mean``."""
        return self._ask({"seconds": seconds}, ROUND_SECONDS)

    def close(self) -> None:
        """Ends the process, and removes what it has written."""
        self._end()
        self._home.cleanup()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        if self._process is None:
            words = [str(self.python), str(ROOT / "benchmarks" / "contender.py"), self.tool, str(self.folder)]
            errors: IO[Any] = open(Path(self._home.name) / "errors.txt", "w")  # noqa: SIM115
            self._process = subprocess.Popen(
                words, cwd=self._home.name, env=surroundings(self._environment), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
            errors.close()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # what it said last is read below
        there, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline() if there else ""
        if not line:
            why = "crashed" if there else f"took more than {seconds:g} s"
            self._end()
            raise Silent(why)
        said: dict[str, Any] = json.loads(line)
        return said


@dataclass
class Row:
    """What was measured of one program at one size: seconds by contender, first calls, and who did not take part."""

    name: str
    size: str
    seconds: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def measured(
    contenders: Sequence[Contender], corpus: str, name: str, size: str, *, seconds: float = 0.3, rounds: int = 5,
    tolerance: float = 1e-5,
) -> Row:  # fmt: skip
    """A row of all contenders, in `rounds` of `seconds` for all of them. Results are compared with the first one's."""
    row = Row(name, size)
    expected: list[np.ndarray] | None = None
    for each in contenders:
        try:
            said, results = each.prepare(corpus, name, size)
        except Silent as error:
            said, results = {"refused": str(error)}, []
        if "refused" not in said and expected is not None:
            difference = differences(results, expected, tolerance)
            said = {"refused": f"wrong: {difference}"} if difference else said
        if "refused" in said:
            row.refused[each.label] = said["refused"]
            continue
        expected = results if expected is None else expected
        row.first[each.label] = said["first"]
        row.seconds[each.label] = float("inf")
    for number in range(rounds):
        order = contenders if number % 2 else list(reversed(contenders))
        for each in order:
            if each.label in row.seconds:
                try:
                    found = each.fastest(seconds / rounds)
                    row.seconds[each.label] = min(row.seconds[each.label], found)
                except Silent as error:
                    row.refused[each.label] = str(error)
                    del row.seconds[each.label]
    return row


def differences(mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray], tolerance: float) -> str:
    """What differs first; "" where nothing does. Integers agree exactly, whatever their sizes."""
    if len(mine) != len(theirs):
        return f"{len(mine)} results, not {len(theirs)}"
    for number, (x, y) in enumerate(zip(mine, theirs, strict=True)):
        if x.shape != y.shape:
            return f"result {number} is {list(x.shape)}, not {list(y.shape)}"
        if y.dtype.kind in "fc":
            scale = float(np.max(np.abs(y[np.isfinite(y)]), initial=1e-30))
            same = np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        else:
            same = np.array_equal(x, y)
        if not same:
            return f"result {number} differs"
    return ""

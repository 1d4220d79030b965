"""A campaign: kernels in frameworks, at several sizes and on several numbers of threads, kept in one JSON file.

The file is written after each row, so a campaign can be cut short anywhere and go on later: what it has is kept.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """One table of the campaign: every kernel at this size (a preset, or ``large``) on so many threads."""

    preset: str
    threads: int

    def __str__(self) -> str:
        return f"Preset {self.preset}, threads: {self.threads}"


@dataclass
class Campaign:
    """What was measured so far. `limits` are those of the machine, by number of threads; `large` is the largest preset
    of each kernel that NumPy runs in under a second, where that was asked for."""

    rows: list[Row] = field(default_factory=list)
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    large: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> Campaign:
        """`ValueError` where the file has another form."""
        found = json.loads(path.read_text())
        if not isinstance(found, dict) or "rows" not in found:
            raise ValueError(f"{path} is no campaign: measure again, without --resume")
        return Campaign(**found)

    def write(self, path: Path) -> None:
        """All of it, at once: who is killed meanwhile leaves what was there."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".tmp")
        fresh.write_text(json.dumps(asdict(self), indent=1) + "\n")
        os.replace(fresh, path)

    def parts(self) -> list[Table]:
        """In the order in which they were measured."""
        return list(dict.fromkeys(Table(row["preset"], row["threads"]) for row in self.rows))

    def has(self, part: Table, kernel: str, framework: str) -> bool:
        return any(_key(row) == (part, kernel, framework) for row in self.rows)

    def add(self, row: Row) -> None:
        """In the place of the row that it measures again, if there is one."""
        for place, old in enumerate(self.rows):
            if _key(old) == _key(row):
                self.rows[place] = row
                return
        self.rows.append(row)

    def of(self, part: Table) -> list[Row]:
        """The rows of a part, kernels together in alphabetical order; each has NumPy's time.

        That is the median of all calls of NumPy, in the processes of all frameworks: what one of them does to memory,
        or somebody else to the machine meanwhile, weighs on no single ratio, and frameworks compare as their own times.
        """
        mine = sorted((row for row in self.rows if _key(row)[0] == part), key=lambda row: str(row["kernel"]))
        return list(_beside_numpy(mine))


def _key(row: Row) -> tuple[Table, str, str]:
    return Table(row["preset"], row["threads"]), row["kernel"], row["framework"]


def _beside_numpy(rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        beside = [one for one in rows if one["kernel"] == row["kernel"]]
        calls = [seconds for one in beside for seconds in one.get("numpy_times", ())]
        others = calls or [one["numpy_median"] for one in beside if "numpy_median" in one]
        lacks = "median" in row and "numpy_median" not in row
        yield row | {"numpy_median": statistics.median(others)} if others and (calls or lacks) else row

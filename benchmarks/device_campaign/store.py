"""What a step has found, as JSON under the folder of results: whole at any moment, whoever is killed meanwhile.

A file has no more than its rows need: texts and lists in them are cut. Where the disk is full, rows stay in memory, and
the next one tries again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LETTERS, ENTRIES = 2000, 64  # of a text, and of a list, in a row
UNFINISHED = "unfinished.tmp"  #: the only file besides those of steps, which may be left by who was killed
_turn = threading.Lock()


class Store:
    """The rows of one step, by their keys; what was there from an earlier campaign on the same device stays."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        before = read(path)
        self.rows: dict[str, Row] = {_name(row["key"]): row for row in before.pop("rows", ())}
        self.path, self.facts = path, {**before, **facts}
        self.lost = ""  #: why the last row could not be written

    def has(self, key: Mapping[str, str]) -> bool:
        """Whether there is a row of this key; one that says that something was missing is none."""
        row = self.rows.get(_name(key))
        return row is not None and not row["status"].startswith("missing")

    def add(self, key: Mapping[str, str], row: Row) -> None:
        """In the place of the row that it measures again, if there is one."""
        with _turn:
            self.rows[_name(key)] = {"key": dict(key), **_cut(row)}
            self._write()

    def note(self, **facts: Any) -> None:
        """Facts of the step as a whole."""
        with _turn:
            self.facts |= facts
            self._write()

    def _write(self) -> None:
        fresh = self.path.with_name(UNFINISHED)
        text = json.dumps({**self.facts, "rows": list(self.rows.values())}, indent=1) + "\n"
        try:
            fresh.write_text(text)
            os.replace(fresh, self.path)
            self.lost = ""
        except OSError as error:
            if not self.lost:
                print(f"{self.path} is not written: {error}", file=sys.stderr, flush=True)
            self.lost = str(error)
            with contextlib.suppress(OSError):
                fresh.unlink()


def read(path: Path) -> dict[str, Any]:
    """A file of a step; an empty one where there is none. `ValueError` where it is of somebody else."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is no file of a campaign: {error}") from None
    if not isinstance(found, dict) or "rows" not in found or "device" not in found:
        raise ValueError(f"{path} is no file of a campaign")
    return found


def _name(key: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(key.items()))


def _cut(value: Any) -> Any:
    match value:
        case str():
            return value if len(value) <= LETTERS else value[: LETTERS // 2] + " ... " + value[-LETTERS // 2 :]
        case dict():
            return {name: _cut(one) for name, one in value.items()}
        case list() | tuple():
            return [_cut(one) for one in value[:ENTRIES]]
    return value

"""Dumps: the text of an SDFG after each pass, as files that a `diff` compares."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.printer import print_sdfg
from dcpy.transforms.pass_manager import Observer
from dcpy.transforms.passes import Pass
from dcpy.transforms.pipeline import Pipeline


def dumping(folder: Path, sdfg: Sdfg, pipeline: Pipeline) -> Observer:
    """An observer that writes ``folder/PROGRAM/PIPELINE/NN-PASS.txt``; ``00-before.txt`` is written at once."""
    target = emptied(folder, sdfg.name, pipeline.name, "[0-9][0-9]-*.txt")
    (target / "00-before.txt").write_text(f"{print_sdfg(sdfg)}\n", encoding="utf-8")
    numbers = itertools.count(1)

    def write(step: Pass, current: Sdfg) -> None:
        path = target / f"{next(numbers):02}-{_file_name(step.name)}.txt"
        path.write_text(f"{print_sdfg(current)}\n", encoding="utf-8")

    return write


def emptied(folder: Path, program: str, part: str, pattern: str = "*") -> Path:
    """``folder/PROGRAM/PART``, without the files of the last time."""
    target = folder / _file_name(program) / _file_name(part)
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob(pattern):
        old.unlink()
    return target


def _file_name(name: str) -> str:
    """Return a file name that stays in the folder that the user named, for any name of the program."""
    return re.sub(r"[^\w-]", "_", name)[:100] or "_"

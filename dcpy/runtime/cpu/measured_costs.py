"""Measured costs of the processor, by ``dcpy doctor --cpu``, kept beside the compiled programs.

Figures are whole numbers by the dotted names of `dcpy.ir.machine_model.Costs`. They are kept for each kind of processor
and number of cores: a cache folder that several machines share has one file for each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from dcpy.runtime.compilers.toolchain import cpu_id
from dcpy.runtime.storage.cache import Cache, read_sealed, write_sealed


def cores_here() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep(cache: Cache, figures: Mapping[str, int]) -> Path:
    """Write figures down, all or nothing: compilation goes by them from now on. `OSError` where that cannot be."""
    place = _place(cache)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_sealed(place, json.dumps(dict(figures), indent=1))
    return place


def kept(cache: Cache) -> dict[str, int]:
    """Return the costs measured here; nothing where there are none, or the file is damaged."""
    return figures_of(mark(cache))


def mark(cache: Cache) -> str:
    """The text that is kept, which stands for it in keys of programs; "" where nothing was measured."""
    if not _is_there(cache):
        return ""
    return read_sealed(_place(cache)) or ""


def figures_of(text: str) -> dict[str, int]:
    """The figures in a text; nothing where one of them is none, or not above 0."""
    try:
        found = {str(name): int(value) for name, value in json.loads(text or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}
    return found if all(value > 0 for value in found.values()) else {}


def _is_there(cache: Cache) -> bool:
    """Return whether anything was measured on any machine: without a measurement, this one need not be identified."""
    try:
        with os.scandir(cache.root) as entries:
            return any(entry.name.startswith("processor.") for entry in entries)
    except OSError:
        return False


def _place(cache: Cache) -> Path:
    return cache.root / f"processor.{cpu_id()}.{cores_here()}.json"

"""Measured costs of a GPU, by ``dcpy doctor --gpu``, kept beside the compiled programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from dcpy.runtime.storage.cache import Cache, read_sealed, write_sealed

#: units of fields that begin so; others are times
PER_SECOND = {"within": "GB/s", "to_": "GB/s", "operations": "GFLOP/s"}


@dataclass(frozen=True, slots=True)
class MeasuredConstants:
    """Bytes or operations in a second, and seconds. Copies within the device read and write each byte: both count."""

    within_device: float
    to_device_pinned: float
    to_device_pageable: float
    to_host_pinned: float
    to_host_pageable: float
    launch: float  # of an empty kernel behind others
    launch_and_wait: float  # of one alone, by the clock of the host
    block_barrier: float  # among 256 threads
    operations: float  # products and sums on float64, of all threads together

    def rows(self) -> Iterator[tuple[str, str]]:
        """Names in words, and figures with their units."""
        for field in fields(self):
            value = getattr(self, field.name)
            unit = next((unit for start, unit in PER_SECOND.items() if field.name.startswith(start)), "")
            figure = f"{value / 1e9:10.1f} {unit}" if unit else f"{value * 1e6:10.3f} µs"
            yield field.name.replace("_", " "), figure


def keep(cache: Cache, arch: str, measured: MeasuredConstants) -> None:
    """Write them down: programs for this chip are compiled by them from now on. Raises `OSError`."""
    write_sealed(_place(cache, arch), json.dumps(asdict(measured), indent=1))


def kept(cache: Cache, arch: str) -> MeasuredConstants | None:
    """Return the constants measured on this chip; None where there are none, or some are missing."""
    text = read_sealed(_place(cache, arch))
    try:
        if text is None:
            return None
        return MeasuredConstants(**{name: float(value) for name, value in json.loads(text).items()})
    except (ValueError, TypeError, AttributeError):
        return None


def _place(cache: Cache, arch: str) -> Path:
    return cache.root / f"constants.{arch.replace(':', '.')}.json"

"""The device that is measured: its name, and what ``dcpy doctor --gpu`` has measured on it, for the page of results."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

MEASURED = "BENCHMARKS_GPU_CONSTANTS"  #: names the folder of figures that dcpy's processes compile by


@dataclass(frozen=True)
class Device:
    """Where figures come from."""

    name: str
    constants: dict[str, str] = field(default_factory=dict)  #: of ``dcpy doctor --gpu``; empty: it has not been run


def device_that_is_there() -> Device | None:
    """The first device that dcpy can open."""
    from dcpy.base.errors import DcpyError
    from dcpy.base.options import resolve_options
    from dcpy.driver import program_cache
    from dcpy.runtime.devices.constants import kept
    from dcpy.runtime.devices.drivers import is_installed, open_context

    options = resolve_options()
    for backend in ("cuda", "hip"):
        if not is_installed(backend, options):
            continue
        try:
            facts = open_context(backend, options).facts()
        except DcpyError:
            continue
        version = f"driver {facts.version // 1000}.{facts.version % 1000 // 10}"
        found = kept(program_cache(), facts.arch)
        rows = {} if found is None else {name: " ".join(figure.split()) for name, figure in found.rows()}
        return Device(f"{facts.name}, {facts.arch}, {facts.processors} processors, {version}", rows)
    return None


def folder_of_constants() -> dict[str, str]:
    """The environment that hands them down to a process with a cache of its own."""
    from dcpy.driver import program_cache

    return {MEASURED: str(program_cache().root)}


def take_constants(folder: Path) -> None:
    """Copies them into the cache of this process, which is in a folder of its own."""
    from dcpy.runtime.cache import Cache

    place = os.environ.get(MEASURED)
    for path in Path(place).glob("constants.*.json") if place else ():
        shutil.copy(path, Cache(folder).root)

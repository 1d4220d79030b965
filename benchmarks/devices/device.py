"""The device that is measured: its name, what ``dcpy doctor --gpu`` has measured on it, and whether it is simulated."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Device:
    """Where figures come from."""

    name: str
    constants: dict[str, str] = field(default_factory=dict)  #: of ``dcpy doctor --gpu``; empty: it has not been run


def is_simulated() -> bool:
    """Whether the simulator is asked for: then all peers run on the processor, too, and times say nothing."""
    return os.environ.get("DCPY_GPU_BACKEND") == "simulator"


def device_that_is_there() -> Device | None:
    """The first device that dcpy can open; the simulator where that is asked for."""
    if is_simulated():
        return Device("a simulated GPU: times say nothing")
    from dcpy.base.errors import DcpyError
    from dcpy.base.options import resolve_options
    from dcpy.driver import program_cache
    from dcpy.runtime.gpu.drivers import is_installed, open_context
    from dcpy.runtime.gpu.measured_costs import kept

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

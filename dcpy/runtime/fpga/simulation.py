"""Simulation reports: cycles of each simulated kernel and process, and how full queues were."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from dcpy.base.errors import ToolchainError
from dcpy.runtime.loading.kernel_cycles import SimulatedKernel, SimulatedProcess, SimulatedQueue


def told(path: str, name: str) -> dict[str, SimulatedKernel]:
    """Return what a loaded library's kernels did in this thread since the last call of this function.

    `path`: of the library; `name`: of its program. Empty for a program without kernels.
    """
    try:
        library = ctypes.CDLL(path)  # it is loaded already: this is one more name for it
    except OSError as error:
        raise ToolchainError(f"the simulation {path} cannot be asked: {error}") from error
    function = getattr(library, f"{name}_told", None)
    if function is None:
        return {}
    function.restype = ctypes.c_char_p
    found: dict[str, SimulatedKernel] = {}
    for what, kernel, part, *numbers in _rows(function().decode()):
        number, runs, first, second = map(int, numbers)
        known = found.setdefault(kernel, SimulatedKernel(kernel))
        match what:
            case "kernel":
                known.runs, known.cycles = runs, first
            case "process":
                known.processes.append(SimulatedProcess(part, number, runs, first, second))
            case "queue":
                known.queues.append(SimulatedQueue(part, first, second))
    return found


def wait_cycle_notes(library: ctypes.CDLL, name: str, message: str) -> list[str]:
    """Return which process waits for which, an arrow a line, if `message` is of a deadlock in the last kernel."""
    function = getattr(library, f"{name}_circle", None)
    if function is None or not message.startswith("deadlock:"):
        return []
    function.restype = ctypes.c_char_p
    return [f"  = note: {line}" for line in function().decode().splitlines()]


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        yield line.split("\t")

"""Simulated libraries of a vendor's (libraries/*.cpp): they work on simulated memory, and check how they are used."""

from __future__ import annotations

import ctypes

from dcpy.base.options import Options
from dcpy.runtime.gpu.native import native_library
from dcpy.runtime.gpu.simulator.library import FOLDER, simulator

LIBRARIES = FOLDER.parent / "libraries"


def simulated_libraries(options: Options) -> str:
    """The file of all of them, built."""
    sources = [*sorted(LIBRARIES.glob("*.cpp")), *sorted(LIBRARIES.glob("*.h")), FOLDER / "services.h"]
    return str(native_library("simulated_libraries", sources, options)._name)


def simulator_services(options: Options) -> int:
    """Return the address of `Services`, which they need of the simulator."""
    function = simulator(options).dcpy_simulator_services
    function.restype = ctypes.c_void_p
    return int(function())

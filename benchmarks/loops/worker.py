"""``python -m benchmarks.loops.worker TOOL NAME REPEAT``: seconds of calls of one program in one tool, as JSON."""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.loops.programs import PROGRAMS


def main(tool: str, name: str, repeat: str) -> None:
    program = PROGRAMS[name]
    function = _compiled(program.function, tool)
    arguments = program.arguments(np.random.default_rng(0))
    times = []
    for _ in range(int(repeat) + 1):  # the first call compiles
        mine = copy.deepcopy(arguments)
        start = time.perf_counter()
        function(*mine)
        times.append(time.perf_counter() - start)
    print(json.dumps(times[1:]))


def _compiled(function: Callable[..., Any], tool: str) -> Callable[..., Any]:
    match tool:
        case "numba":
            import numba

            return numba.njit(function)
        case "numpy":
            return function
    import dcpy

    return dcpy.program(function, auto_optimize=tool == "dcpy-auto")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""``python -m benchmarks.patterns.worker TOOL NAME``: seconds of the fastest call of one pattern in one tool."""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.patterns import PATTERNS

LENGTH, REPEAT = 1_000_000, 7


def main(tool: str, name: str) -> None:
    pattern = PATTERNS[name]
    function = _compiled(pattern.function, tool)
    arguments = pattern.arguments(LENGTH)
    times = []
    for _ in range(REPEAT + 1):  # the first call compiles
        mine = copy.deepcopy(arguments)
        start = time.perf_counter()
        function(*mine)
        times.append(time.perf_counter() - start)
    print(json.dumps(min(times[1:])))


def _compiled(function: Callable[..., Any], tool: str) -> Callable[..., Any]:
    if tool == "numba":
        import numba

        called = {name: numba.njit(value) for name, value in vars(sys.modules[function.__module__]).items()
                  if name.startswith("_") and name[1:2].islower()}  # fmt: skip
        vars(sys.modules[function.__module__]).update(called)
        return numba.njit(function)
    import dcpy

    return dcpy.program(function, auto_optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

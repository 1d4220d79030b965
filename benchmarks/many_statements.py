"""How compile time grows: functions of many array statements, as weather models have them."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

STATEMENT = "    {target}[1:-1] = 0.5 * ({left}[:-2] + {right}[2:]) - {target}[1:-1]"


def source_of(count: int) -> str:
    """A function of `count` array statements over six arrays."""
    names = "abcdef"
    lines = ["def many(" + ", ".join(names) + "):"]
    for i in range(count):
        target, left, right = names[i % 6], names[(i * 5 + 1) % 6], names[(i * 3 + 2) % 6]
        lines.append(STATEMENT.format(target=target, left=left, right=right))
    return "\n".join(lines) + "\n"


def seconds_to_simplify(count: int) -> float:
    """Seconds to parse and simplify such a function."""
    import importlib.util

    import dcpy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"many_{count}.py"
        path.write_text(source_of(count))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        program = dcpy.program(module.many)
        arguments = [np.zeros(20) for _ in "abcdef"]
        start = time.perf_counter()
        program.to_sdfg(*arguments)
        return time.perf_counter() - start

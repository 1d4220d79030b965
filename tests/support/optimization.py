"""How much the C++ compiler optimizes what tests compile: values do not depend on it, and it is most of its work.

Programs that the auto-optimizer has been at keep the user's flags; so do those of tests that look at code or time. Of
the others one in four does, drawn by its text: a change of the generated text draws again. The rest is compiled with
-O1, which still makes vectors of the loops of which dcpy says that they may be vectors; without such loops, with -Og.
`pytest --exhaustive` draws nothing.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact
from dcpy.runtime.loading import shared_libraries
from tests.support import tiers

LOOK_AT_CODE = ("codegen", "runtime", "sanitizers")  #: folders of tests
ONE_IN = 4
_build = shared_libraries._build
_drawing = [False]


def flags_for(artifact: Artifact, options: Options) -> tuple[str, ...]:
    """The compiler's flags for a program of these options."""
    text = "".join(unit.text for unit in artifact.units)
    if options.auto_optimize or artifact.kernels or zlib.crc32(text.encode()) % ONE_IN == 0:
        return options.cpu.flags
    lesser = "-O1" if "#pragma omp simd" in text else "-Og"
    return tuple(lesser if flag == "-O3" else flag for flag in options.cpu.flags)


def _drawn(cache: Any, artifact: Artifact, key: str, compilers: Any, options: Options, beside: Any) -> Any:
    if _drawing[0]:
        options = replace(options, cpu=replace(options.cpu, flags=flags_for(artifact, options)))
    return _build(cache, artifact, key, compilers, options, beside)


def install() -> None:
    """From now on."""
    shared_libraries._build = _drawn


def begin(item: pytest.Item, tests: Path) -> None:
    """A test begins."""
    looks = item.path.relative_to(tests).parts[0] in LOOK_AT_CODE or item.get_closest_marker("perf")
    _drawing[0] = not looks and not tiers.EXHAUSTIVE

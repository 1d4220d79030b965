"""A C compiler for the programs of tests that call compiled libraries from C."""

from __future__ import annotations

import shutil

from dcpy.base.options import resolve_options
from dcpy.runtime.compilers.toolchain import find_toolchain, toolchains_for


def c_compiler() -> list[str]:
    """Return the command of the system's C compiler, or of dcpy's own where the system has none."""
    if found := shutil.which("gcc") or shutil.which("cc"):
        return [found]
    host = find_toolchain(resolve_options().cpu.compiler)
    return list(toolchains_for(["C"], host)["C"].compile)

"""Which modules are libraries, whose functions and classes nobody changes while a program runs."""

from __future__ import annotations

import sys


def is_library(module: str) -> bool:
    """Whether what a module defines stays as it is, for one version: Python's own, NumPy's and dcpy's."""
    root = module.split(".")[0]
    return root in sys.stdlib_module_names or root in ("numpy", "dcpy")

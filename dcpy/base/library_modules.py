"""Library modules: those whose functions and classes do not change while a program runs."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def is_library(module: str) -> bool:
    """Return whether what a module defines stays as it is, for one version: Python's own, NumPy's and dcpy's."""
    root = module.split(".")[0]
    return root in sys.stdlib_module_names or root in ("numpy", "dcpy")


def is_installed(module: str) -> bool:
    """Return whether a module belongs to an installed package, rather than to the user's own files."""
    file = getattr(sys.modules.get(module.split(".")[0]), "__file__", None)
    folders = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    return file is not None and not folders.isdisjoint(Path(file).parents)

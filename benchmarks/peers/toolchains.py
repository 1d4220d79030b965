"""What the compilers of peers look for: files written into the folder of a process before it starts its framework.

Both get a BLAS from their own environments, as NPBench has them use one: pythran OpenBLAS, DaCe MKL.
"""

from __future__ import annotations

import sys
from pathlib import Path


def nothing(folder: Path) -> None:
    """For frameworks that find what they need."""


def for_pythran(folder: Path) -> None:
    """``PYTHRANRC``: which BLAS to link."""
    (folder / "pythranrc").write_text("[compiler]\nblas=scipy-openblas\n")


def for_dace(folder: Path) -> None:
    """``MKLROOT``: pip's MKL has no library without a version in its name, which DaCe's build asks for."""
    prefix = Path(sys.prefix)
    root = folder / "mkl"
    (root / "lib").mkdir(parents=True)
    (root / "include").symlink_to(prefix / "include")
    for library in sorted((prefix / "lib").glob("libmkl_rt.so.*"))[-1:]:
        (root / "lib" / "libmkl_rt.so").symlink_to(library)

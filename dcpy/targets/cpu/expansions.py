"""CPU expansions of library nodes, best first."""

from __future__ import annotations

from dcpy.ir.library.expansions import TargetExpansions

CPU = TargetExpansions(
    ("registers", "mpi", "scalapack-mkl", "scalapack", "mkl", "openblas", "fftw", "radix", "selection", "cpu", "maps")
)

"""GPU expansions of library nodes, best first: those of the vendor's libraries, then kernels, then the host's."""

from __future__ import annotations

from dcpy.ir.library.expansions import TargetExpansions

GPU = TargetExpansions(("cublas", "cusolver", "cufft", "device", "maps", "openblas", "cpu"), host="cpu")

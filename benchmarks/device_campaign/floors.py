"""The least that a kernel needs on a device: its bytes at the speed of a copy, its products at that of cuBLAS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from benchmarks.npbench import kernels

Row = dict[str, Any]
#: floating-point operations that no order of the work does without, by the sizes of the catalog
OPERATIONS: dict[str, Callable[[Any], float]] = {
    "gemm": lambda s: 2 * s.NI * s.NJ * s.NK,
    "k2mm": lambda s: 2 * s.NI * s.NJ * (s.NK + s.NL),
    "k3mm": lambda s: 2 * s.NJ * (s.NI * s.NK + s.NM * s.NL + s.NI * s.NL),
    "doitgen": lambda s: 2 * s.NR * s.NQ * s.NP**2,
    "syrk": lambda s: s.N**2 * s.M,
    "syr2k": lambda s: 2 * s.N**2 * s.M,
    "symm": lambda s: 2 * s.M**2 * s.N,
    "trmm": lambda s: s.M**2 * s.N,
    "covariance": lambda s: s.M**2 * s.N,
    "covariance2": lambda s: s.M**2 * s.N,
    "correlation": lambda s: s.M**2 * s.N,
    "cholesky": lambda s: s.N**3 / 3,
    "cholesky2": lambda s: s.N**3 / 3,
    "lu": lambda s: 2 * s.N**3 / 3,
    "ludcmp": lambda s: 2 * s.N**3 / 3,
    "mlp": lambda s: 2 * s.N * (s.C_in * s.S0 + s.S0 * s.S1 + s.S1 * s.S2),
}
SINGLE = ("mlp",)  # in float32
COPY = "copy"


def floor(row: Row, ceilings: Mapping[str, float]) -> float | None:
    """Seconds, of a row of a kernel that was timed; None where no ceiling that matters was measured."""
    kernel = row["key"]["kernel"]
    times = []
    if COPY in ceilings:
        times.append(row["bytes"] / (ceilings[COPY] * 1e9))
    product = "gemm float32" if kernel in SINGLE else "gemm float64"
    if kernel in OPERATIONS and product in ceilings:
        sizes = SimpleNamespace(**kernels()[kernel].sizes[row["preset"]])
        times.append(OPERATIONS[kernel](sizes) / (ceilings[product] * 1e12))
    return max(times, default=None)

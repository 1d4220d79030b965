"""Products through Intel's MKL, where it is installed."""

from __future__ import annotations

from dcpy.libraries.blas.environments import MKL_PREFIX
from dcpy.libraries.blas.expand.cblas import calls

_CALLS = calls("mkl", MKL_PREFIX, "mkl")
gemm, gemv, dot, ger = _CALLS["gemm"], _CALLS["gemv"], _CALLS["dot"], _CALLS["ger"]

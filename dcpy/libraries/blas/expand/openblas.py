"""Products through OpenBLAS, which is installed with dcpy."""

from __future__ import annotations

from dcpy.libraries.blas.environments import OPENBLAS_PREFIX
from dcpy.libraries.blas.expand.cblas import calls

_CALLS = calls("openblas", OPENBLAS_PREFIX, "openblas")
gemm, gemv, dot, ger = _CALLS["gemm"], _CALLS["gemv"], _CALLS["dot"], _CALLS["ger"]

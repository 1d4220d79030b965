"""Functions of the vendors' libraries, as programs call them: the host queues a call, the device does it.

They are dcpy's own names (codegen/include/devices.h) for what cuBLAS and hipBLAS, cuSOLVER and hipSOLVER, cuFFT and
hipFFT have in common. Nothing is linked: the runtime opens the libraries of the device when a program is loaded
(`runtime.gpu.vendor_libraries`). Matrices are stored by columns, numbers of 64 bits.
"""

from __future__ import annotations

from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import prototype
from dcpy.ir.library.expansions import ForeignLibrary

_N = "int64_t"
_MATRIX, _OUT = f"const void *, {_N}", f"void *, {_N}"
_FACTOR = "double, double"

BLAS_CALLS = {
    "dcpy_gemm": f"{', '.join([_N] * 6)}, {_FACTOR}, {_MATRIX}, {_MATRIX}, {_FACTOR}, {_OUT}",
    "dcpy_gemm_batched": f"{', '.join([_N] * 6)}, {_FACTOR}, {_MATRIX}, {_N}, {_MATRIX}, {_N}, {_FACTOR}, {_OUT}, "
    f"{_N}, {_N}",
    "dcpy_syrk": f"{', '.join([_N] * 5)}, {_FACTOR}, {_MATRIX}, {_FACTOR}, {_OUT}",
    "dcpy_trsm": f"{', '.join([_N] * 7)}, {_MATRIX}, {_OUT}",
    "dcpy_gemv": f"{', '.join([_N] * 4)}, {_FACTOR}, {_MATRIX}, {_MATRIX}, {_FACTOR}, {_OUT}",
    "dcpy_ger": f"{', '.join([_N] * 3)}, {_FACTOR}, {_MATRIX}, {_MATRIX}, {_OUT}",
    "dcpy_dot": f"{_N}, {_N}, {_MATRIX}, {_MATRIX}, void *",
}
SOLVER_CALLS = {
    "dcpy_potrf": f"{_N}, {_N}, {_N}, {_OUT}, void *",
    "dcpy_getrf": f"{_N}, {_N}, {_N}, {_OUT}, void *, void *",
    "dcpy_getrs": f"{_N}, {_N}, {_N}, {_N}, {_MATRIX}, const void *, {_OUT}",
    "dcpy_geqrf": f"{_N}, {_N}, {_N}, {_OUT}, void *, void *",
    "dcpy_orgqr": f"{_N}, {_N}, {_N}, {_N}, {_OUT}, const void *, void *",
    "dcpy_syevd": f"{_N}, {_N}, {_N}, {_N}, {_OUT}, void *, void *",
    "dcpy_gesvd": f"{_N}, {_N}, {_N}, {_N}, {_OUT}, void *, {_OUT}, {_OUT}, void *",
}
FFT_CALLS = {"dcpy_fft": f"{_N}, {_N}, const void *, void *, {', '.join([_N] * 9)}"}


def _environment(name: str, calls: dict[str, str]) -> Environment:
    prototypes = tuple(prototype(f"void {function}({parameters});") for function, parameters in calls.items())
    return Environment(name, prototypes=prototypes, runtime=True)


_BLAS = _environment("gpu.blas", BLAS_CALLS)
_SOLVER = _environment("gpu.solver", SOLVER_CALLS)
_FFT = _environment("gpu.fft", FFT_CALLS)

BLAS = ForeignLibrary("gpu.blas", lambda: _BLAS)
SOLVER = ForeignLibrary("gpu.solver", lambda: _SOLVER)
FFT = ForeignLibrary("gpu.fft", lambda: _FFT)

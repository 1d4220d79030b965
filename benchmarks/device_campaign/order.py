"""The order in which kernels are measured: wherever it is cut, each class of programs has its share of the table.

The classes are those of programs that ask the same of a device; the first kernels of all of them come first.
"""

from __future__ import annotations

from itertools import zip_longest

CLASSES: dict[str, tuple[str, ...]] = {
    "products": ("gemm", "k2mm", "k3mm", "syrk", "doitgen", "covariance2", "syr2k", "symm", "trmm", "mlp"),
    "matrices with vectors": ("atax", "bicg", "mvt", "gemver", "gesummv"),
    "element by element": ("softmax", "hdiff", "arc_distance", "compute", "go_fast", "stockham_fft"),
    "stencils": ("jacobi_2d", "heat_3d", "fdtd_2d"),
    "small stencils": ("jacobi_1d", "cavity_flow", "nbody", "adi", "seidel_2d", "channel_flow"),
    "loops that are maps": ("mandelbrot1", "vadv", "deriche", "mandelbrot2", "correlation", "covariance"),
    "irregular": ("azimint_hist", "spmv", "contour_integral", "azimint_naive"),
    "networks": ("conv2d_bias", "resnet", "lenet"),
    "recurrences": ("trisolv", "gramschmidt", "nussinov", "floyd_warshall", "durbin", "crc16"),
    "factorizations": ("cholesky2", "ludcmp", "lu", "cholesky", "scattering_self_energies"),
}
ORDER = [name for names in zip_longest(*CLASSES.values()) for name in names if name is not None]

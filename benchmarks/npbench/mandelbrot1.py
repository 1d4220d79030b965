"""Mandelbrot set by escape time: all points are kept, masks choose those still inside. Domain: others."""

import numpy as np


def mandelbrot1(xmin, xmax, ymin, ymax, XN, YN, maxiter, horizon=2.0):
    X = np.linspace(xmin, xmax, XN, dtype=np.float64)
    Y = np.linspace(ymin, ymax, YN, dtype=np.float64)
    C = X + Y[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        inside = np.less(abs(Z), horizon)
        N[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    N[maxiter - 1 == N] = 0
    return Z, N


def initialize(xmin, xmax, XN, ymin, ymax, YN, maxiter, horizon):
    """The window of the complex plane, its number of points, the number of iterations."""
    return {
        "xmin": xmin,
        "xmax": xmax,
        "ymin": ymin,
        "ymax": ymax,
        "XN": XN,
        "YN": YN,
        "maxiter": maxiter,
        "horizon": horizon,
    }

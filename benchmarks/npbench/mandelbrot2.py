"""Mandelbrot set by escape time: points that left are dropped, so arrays shrink. Domain: others."""

import numpy as np


def mandelbrot2(xmin, xmax, ymin, ymax, XN, YN, maxiter, horizon=2.0):
    Xi, Yi = np.mgrid[0:XN, 0:YN]
    X = np.linspace(xmin, xmax, XN, dtype=np.float64)[Xi]
    Y = np.linspace(ymin, ymax, YN, dtype=np.float64)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Xi.shape = Yi.shape = C.shape = XN * YN

    Z = np.zeros(C.shape, np.complex128)
    for i in range(maxiter):
        if not len(Z):
            break
        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)
        left = abs(Z) > horizon
        N_[Xi[left], Yi[left]] = i + 1
        Z_[Xi[left], Yi[left]] = Z[left]
        np.logical_not(left, left)
        Z = Z[left]
        Xi, Yi = Xi[left], Yi[left]
        C = C[left]
    return Z_.T, N_.T


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

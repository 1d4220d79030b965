"""Fast Fourier transform of R**K points by Stockham's self-sorting algorithm. Domain: others."""

import numpy as np


def stockham_fft(N, R, K, x, y):
    i_coord, j_coord = np.mgrid[0:R, 0:R]
    dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
    y[:] = x[:]

    ii_coord, jj_coord = np.mgrid[0:R, 0 : R**K]
    for i in range(K):
        # Stride permutation.
        yv = np.reshape(y, (R**i, R, R ** (K - i - 1)))
        tmp_perm = np.transpose(yv, axes=(1, 0, 2))
        # Twiddle factors.
        D = np.empty((R, R**i, R ** (K - i - 1)), dtype=np.complex128)
        tmp = np.exp(-2.0j * np.pi * ii_coord[:, : R**i] * jj_coord[:, : R**i] / R ** (i + 1))
        D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R ** (K - i - 1), axis=2)
        tmp_twid = np.reshape(tmp_perm * D, (N,))
        # Butterflies.
        y[:] = np.reshape(dft_mat @ np.reshape(tmp_twid, (R, R ** (K - 1))), (N,))


def initialize(R, K):
    """`R` ** `K` complex points."""
    rng = np.random.default_rng(42)
    N = R**K
    return {
        "N": N,
        "R": R,
        "K": K,
        "x": rng.random(N) + rng.random(N) * 1j,
        "y": np.zeros(N, dtype=np.complex128),
    }

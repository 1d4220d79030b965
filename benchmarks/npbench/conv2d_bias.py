"""Convolution of a batch of images, with bias, in float32. Domain: learning."""

import numpy as np


def conv2d(input, weights):
    """Valid convolution of a batch: (N, H, W, C_in) with (K, K, C_in, C_out)."""
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias


def initialize(N, C_in, C_out, K, H, W):
    """`N` images of `H` by `W` with `C_in` channels; `C_out` filters of `K` by `K`."""
    rng = np.random.default_rng(42)
    return {
        "input": rng.random((N, H, W, C_in), dtype=np.float32),
        "weights": rng.random((K, K, C_in, C_out), dtype=np.float32),
        "bias": rng.random((C_out,), dtype=np.float32),
    }

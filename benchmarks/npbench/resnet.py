"""Bottleneck block of ResNet-50 in inference; float32 convolutions, float64 padding. Domain: learning."""

import numpy as np


def relu(x):
    """The positive part."""
    return np.maximum(x, 0)


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


def batchnorm2d(x, eps=1e-5):
    """Normalization over the batch."""
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet(input, conv1, conv2, conv3):
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)
    x = batchnorm2d(padded)
    x = relu(x)
    x = conv2d(x, conv2)
    x = batchnorm2d(x)
    x = relu(x)
    x = conv2d(x, conv3)
    x = batchnorm2d(x)
    return relu(x + input)


def initialize(N, W, H, C1, C2):
    """`N` images of `H` by `W`; `C1` channels, of which `C2` in the bottleneck."""
    rng = np.random.default_rng(42)
    return {
        "input": rng.random((N, H, W, C1), dtype=np.float32),
        "conv1": rng.random((1, 1, C1, C2), dtype=np.float32),
        "conv2": rng.random((3, 3, C2, C2), dtype=np.float32),
        "conv3": rng.random((1, 1, C2, C1), dtype=np.float32),
    }

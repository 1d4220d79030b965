"""LeNet-5 in inference: two convolutions with pooling, three dense layers, in float32. Domain: learning."""

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


def maxpool2d(x):
    """Maximum over windows of two by two."""
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def lenet(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x = relu(conv2d(input, conv1) + conv1bias)
    x = maxpool2d(x)
    x = relu(conv2d(x, conv2) + conv2bias)
    x = maxpool2d(x)
    x = np.reshape(x, (N, C_before_fc1))
    x = relu(x @ fc1w + fc1b)
    x = relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b


def initialize(N, H, W):
    """`N` grey images of `H` by `W`, ten classes."""
    rng = np.random.default_rng(42)

    def random(*shape):
        return rng.random(shape, dtype=np.float32) / np.float32(np.prod(shape[:-1]))

    height, width = ((H - 4) // 2 - 4) // 2, ((W - 4) // 2 - 4) // 2
    features = 16 * height * width
    return {
        "input": rng.random((N, H, W, 1), dtype=np.float32),
        "conv1": random(5, 5, 1, 6),
        "conv1bias": random(6),
        "conv2": random(5, 5, 6, 16),
        "conv2bias": random(16),
        "fc1w": random(features, 120),
        "fc1b": random(120),
        "fc2w": random(120, 84),
        "fc2b": random(84),
        "fc3w": random(84, 10),
        "fc3b": random(10),
        "N": N,
        "C_before_fc1": features,
    }

"""Perceptron of three layers in inference, in float32. Domain: learning."""

import numpy as np


def relu(x):
    """The positive part."""
    return np.maximum(x, 0)


def softmax(x):
    """Softmax over the last axis."""
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    return tmp_out / tmp_sum


def mlp(input, w1, b1, w2, b2, w3, b3):
    x = relu(input @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def initialize(C_in, N, S0, S1, S2):
    """`N` samples of `C_in` features; layers of `S0`, `S1` and `S2` units."""
    rng = np.random.default_rng(42)

    def random(*shape):
        return rng.random(shape, dtype=np.float32) / np.float32(shape[0])

    return {
        "input": rng.random((N, C_in), dtype=np.float32),
        "w1": random(C_in, S0),
        "b1": random(S0),
        "w2": random(S0, S1),
        "b2": random(S1),
        "w3": random(S1, S2),
        "b3": random(S2),
    }

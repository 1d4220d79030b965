"""Numerically stable softmax over the last axis."""

import numpy as np

import dcpy


@dcpy.program
def softmax(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def initialize(n, dtype=np.float64):
    """Arguments of shape ``(2, 3, n, n)``: batch, heads, tokens, tokens."""
    return {"x": np.random.default_rng(42).random((2, 3, n, n)).astype(dtype)}

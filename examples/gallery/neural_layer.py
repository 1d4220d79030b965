"""Neural layers: a perceptron that classifies the points of a plane.

Two products of matrices, which BLAS computes, and what lies between them, which is fused.
"""

import numpy as np

import dcpy

SMALL, LARGE = 6, 200


@dcpy.program(auto_optimize=True)
def neural_layer(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0)
    score = hidden @ w2 + b2
    score = np.exp(score - np.max(score, axis=-1, keepdims=True))
    return score / np.sum(score, axis=-1, keepdims=True)


def initialize(n):
    rng = np.random.default_rng(5)
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    points = np.stack([x.ravel(), y.ravel()], axis=-1)
    weights = {"w1": rng.normal(0, 2, (2, 64)), "b1": rng.normal(0, 1, 64)}
    return {"x": points, **weights, "w2": rng.normal(0, 0.7, (64, 3)), "b2": rng.normal(0, 0.5, 3)}


def draw(axes, result):
    n = int(np.sqrt(len(result)))
    axes.imshow(result.reshape(n, n, 3))

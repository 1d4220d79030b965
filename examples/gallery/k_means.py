"""k-means: clusters of points in the plane.

Each point joins the nearest center, and each center moves to the mean of its points.
"""

import numpy as np

import dcpy

SMALL, LARGE = 40, 20_000


@dcpy.program(auto_optimize=True)
def k_means(points, centers, steps):
    label = np.zeros(points.shape[0], dtype=np.int64)
    for _ in range(steps):
        squared = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=-1)
        label[:] = np.argmin(squared, axis=1)
        total, count = np.zeros_like(centers), np.zeros(centers.shape[0])
        for i in range(points.shape[0]):
            total[label[i]] += points[i]
            count[label[i]] += 1
        centers = total / np.maximum(count, 1)[:, None]
    return np.concatenate((points, label[:, None].astype(np.float64)), axis=1)


def initialize(n):
    rng = np.random.default_rng(1)
    middles = rng.random((6, 2)) * 10
    points = middles[rng.integers(0, 6, n)] + rng.normal(0, 0.8, (n, 2))
    return {"points": points, "centers": points[:6].copy(), "steps": 10}


def draw(axes, result):
    axes.scatter(result[:, 0], result[:, 1], c=result[:, 2], s=1, cmap="tab10")
    axes.set_aspect("equal")

"""Image filter: a bilateral filter removes noise and keeps edges.

Each pixel becomes a mean of its neighbourhood; neighbours of another brightness count less.
"""

import numpy as np

import dcpy

SMALL, LARGE = 20, 400


@dcpy.program(auto_optimize=True)
def image_filter(image, radius, tolerance):
    rows, columns = image.shape[0] - 2 * radius, image.shape[1] - 2 * radius
    center = image[radius : radius + rows, radius : radius + columns]
    total, weights = np.zeros((rows, columns)), np.zeros((rows, columns))
    for i in range(2 * radius + 1):
        for j in range(2 * radius + 1):
            neighbour = image[i : i + rows, j : j + columns]
            distance = ((i - radius) ** 2 + (j - radius) ** 2) / radius**2
            weight = np.exp(-distance - ((neighbour - center) / tolerance) ** 2)
            total += weight * neighbour
            weights += weight
    return total / weights


def initialize(n):
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    rings = np.where(np.sin(12 * (x**2 + y**2)) > 0, 0.8, 0.2)
    return {"image": rings + np.random.default_rng(0).normal(0, 0.12, (n, n)), "radius": 4, "tolerance": 0.4}


def draw(axes, result):
    axes.imshow(result, cmap="gray")

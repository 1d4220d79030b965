"""Images: filters, blends and samples of two-dimensional data of eight-bit, integer and real pixels."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _bytes(n, rng):
    return rng.integers(0, 256, (n, n)).astype(np.uint8)


def _filtered(image, weights):
    windows = np.lib.stride_tricks.sliding_window_view(image, weights.shape)
    return np.einsum("ijab,ab->ij", windows, weights)


@untuned(lambda n, rng: (rng.random((n, n)), rng.random((5, 5))), 16, 120, 1000, numpy=_filtered, parallel="row")
def filtered_image(image, weights):
    high, wide = weights.shape
    filtered = np.zeros((image.shape[0] - high + 1, image.shape[1] - wide + 1))
    for row in range(filtered.shape[0]):
        for column in range(filtered.shape[1]):
            total = 0.0
            for a in range(high):
                for b in range(wide):
                    total += weights[a, b] * image[row + a, column + b]
            filtered[row, column] = total
    return filtered


def _blended(front, back, opacity):
    found = np.empty_like(front)
    for i in range(front.shape[0]):
        for j in range(front.shape[1]):
            found[i, j] = (int(front[i, j]) * opacity + int(back[i, j]) * (255 - opacity)) // 255
    return found


@untuned(lambda n, rng: (_bytes(n, rng), _bytes(n, rng), 77), 32, 300, 2000, numba=_blended, parallel="i")
def blended_images(front, back, opacity):
    mixed = front.astype(np.uint16) * opacity + back.astype(np.uint16) * (255 - opacity)
    return (mixed // 255).astype(np.uint8)


def _edges(image):
    found = np.zeros((image.shape[0] - 2, image.shape[1] - 2), dtype=image.dtype)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            across = (
                image[i, j + 2] - image[i, j] + 2 * (image[i + 1, j + 2] - image[i + 1, j])
                + image[i + 2, j + 2] - image[i + 2, j])
            down = (
                image[i + 2, j] - image[i, j] + 2 * (image[i + 2, j + 1] - image[i, j + 1])
                + image[i + 2, j + 2] - image[i, j + 2])
            found[i, j] = abs(across) + abs(down)
    return found


@untuned(lambda n, rng: (_bytes(n, rng).astype(np.int16),), 32, 200, 1500, numba=_edges, parallel="i", jax=True)
def sobel_edges(image):
    across = image[:, 2:] - image[:, :-2]
    across = across[:-2] + 2 * across[1:-1] + across[2:]
    down = image[2:] - image[:-2]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return np.abs(across) + np.abs(down)


def _sampled(image, x, y):
    found = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        column, row = int(x[i]), int(y[i])
        right, down = x[i] - column, y[i] - row
        upper = image[row, column] * (1 - right) + image[row, column + 1] * right
        lower = image[row + 1, column] * (1 - right) + image[row + 1, column + 1] * right
        found[i] = upper * (1 - down) + lower * down
    return found


def _places(n, rng):
    side = min(10 + n // 20, 200)
    return rng.random((side, side)), rng.random(n) * (side - 2), rng.random(n) * (side - 2)


@untuned(_places, 100, 10_000, 500_000, numba=_sampled, parallel="i", jax=True)
def sampled_image(image, x, y):
    column = np.floor(x).astype(np.int64)
    row = np.floor(y).astype(np.int64)
    right = x - column
    down = y - row
    upper = image[row, column] * (1 - right) + image[row, column + 1] * right
    lower = image[row + 1, column] * (1 - right) + image[row + 1, column + 1] * right
    return upper * (1 - down) + lower * down


def _thresholded(image, level):
    found = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if image[i, j] > level:
                found[i, j] = 255
    return found


@untuned(lambda n, rng: (_bytes(n, rng), 99), 32, 300, 2500, numba=_thresholded, parallel="i", seen=True)
def thresholded_image(image, level):
    return np.where(image > level, np.uint8(255), np.uint8(0))

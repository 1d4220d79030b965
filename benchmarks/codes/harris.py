"""Corners in a picture (Harris and Stephens, 1988): gradients, smoothed products, response, the largest nearby."""

import numpy as np


def grey(picture):
    """Luminance of red, green and blue."""
    return 0.299 * picture[:, :, 0] + 0.587 * picture[:, :, 1] + 0.114 * picture[:, :, 2]


def correlate(image, kernel):
    """The inner part of a correlation with a small kernel, one shifted slice for each of its weights."""
    rows, columns = kernel.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    result = np.zeros((height, width))
    for i in range(rows):
        for j in range(columns):
            result += kernel[i, j] * image[i : i + height, j : j + width]
    return result


def gradients(image):
    """Sobel's operators, written out."""
    across = image[:, 2:] - image[:, :-2]
    down = image[2:, :] - image[:-2, :]
    dx = (across[:-2] + 2.0 * across[1:-1] + across[2:]) / 8.0
    dy = (down[:, :-2] + 2.0 * down[:, 1:-1] + down[:, 2:]) / 8.0
    return dx, dy


def blur(image):
    """A Gaussian of five by five, as two passes."""
    rows = 0.0625 * (image[:-4] + 4.0 * image[1:-3] + 6.0 * image[2:-2] + 4.0 * image[3:-1] + image[4:])
    return 0.0625 * (
        rows[:, :-4] + 4.0 * rows[:, 1:-3] + 6.0 * rows[:, 2:-2] + 4.0 * rows[:, 3:-1] + rows[:, 4:]
    )


def box(image):
    """The sum of three by three, written out."""
    return (
        image[:-2, :-2] + image[:-2, 1:-1] + image[:-2, 2:]
        + image[1:-1, :-2] + image[1:-1, 1:-1] + image[1:-1, 2:]
        + image[2:, :-2] + image[2:, 1:-1] + image[2:, 2:]
    )  # fmt: skip


def local_maxima(response):
    """Where a response is the largest of three by three."""
    best = response[1:-1, 1:-1]
    peak = np.ones(best.shape, dtype=np.bool_)
    for di in range(3):
        for dj in range(3):
            if di != 1 or dj != 1:
                peak &= best >= response[di : di + best.shape[0], dj : dj + best.shape[1]]
    return peak


def program(picture, kernel, k, threshold):
    """Corners (a mask), the response, and how many there are."""
    image = grey(picture)
    sharp = correlate(image, kernel)
    dx, dy = gradients(sharp)
    xx = box(blur(dx * dx))
    yy = box(blur(dy * dy))
    xy = box(blur(dx * dy))
    response = (xx * yy - xy * xy) - k * (xx + yy) ** 2
    strong = response[1:-1, 1:-1] > threshold * np.max(response)
    corners = local_maxima(response) & strong
    return corners, response, np.sum(corners)


def arguments(n):
    """Squares under noise."""
    rng = np.random.default_rng(8)
    picture = 0.1 * rng.random((4 * n, 4 * n, 3))
    picture[n : 2 * n, n : 2 * n] += 1.0
    kernel = np.outer([1.0, 2.0, 1.0], [1.0, 2.0, 1.0]) / 16.0
    return picture, kernel, 0.05, 0.01

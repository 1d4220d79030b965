"""Image processing: morphology, integral images, colours, sizes, medians and thresholds."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _bytes(n, rng):
    return rng.integers(0, 256, (n, n)).astype(np.uint8)


def _eroded(image):
    found = image.copy()
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            least = image[i, j]
            for a in range(-1, 2):
                for b in range(-1, 2):
                    least = min(least, image[i + a, j + b])
            found[i, j] = least
    return found


@untuned(lambda n, rng: (_bytes(n, rng),), 32, 300, 2000, numba=_eroded, parallel="i")
def eroded_image(image):
    rows = np.minimum(np.minimum(image[:-2], image[1:-1]), image[2:])
    eroded = image.copy()
    eroded[1:-1, 1:-1] = np.minimum(np.minimum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])
    return eroded


def _box_means(image, width):
    rows, columns = image.shape
    sums = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += image[i, j]
            sums[i + 1, j + 1] = sums[i, j + 1] + total
    found = np.empty((rows - width + 1, columns - width + 1))
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            whole = sums[i + width, j + width] - sums[i, j + width] - sums[i + width, j] + sums[i, j]
            found[i, j] = whole / (width * width)
    return found


@untuned(lambda n, rng: (rng.random((n, n)), 7), 16, 120, 1000, numba=_box_means)
def box_means(image, width):
    sums = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    sums[1:, 1:] = np.cumsum(np.cumsum(image, axis=0), axis=1)
    boxes = sums[width:, width:] - sums[:-width, width:] - sums[width:, :-width] + sums[:-width, :-width]
    return boxes / width**2


def _hues(image):
    found = np.empty(image.shape)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            r, g, b = image[i, j, 0], image[i, j, 1], image[i, j, 2]
            high, low = max(r, g, b), min(r, g, b)
            wide = high - low
            if wide == 0:
                hue = 0.0
            elif high == r:
                hue = ((g - b) / wide) % 6
            elif high == g:
                hue = (b - r) / wide + 2
            else:
                hue = (r - g) / wide + 4
            found[i, j, 0] = 60 * hue
            found[i, j, 1] = wide / high if high > 0 else 0.0
            found[i, j, 2] = high
    return found


@untuned(lambda n, rng: (rng.random((n, n, 3)),), 8, 80, 600, numba=_hues, parallel="i", jax=True)
def hue_saturation_value(image):
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    high = np.max(image, axis=-1)
    wide = high - np.min(image, axis=-1)
    safe = np.where(wide == 0, 1.0, wide)
    hue = np.where(high == r, ((g - b) / safe) % 6, np.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4))
    hue = np.where(wide == 0, 0.0, hue)
    saturation = np.where(high > 0, wide / np.where(high > 0, high, 1.0), 0.0)
    return np.stack((60 * hue, saturation, high), axis=-1)


def _resized(image, rows, columns):
    found = np.empty((rows, columns), dtype=np.float32)
    for i in range(rows):
        y = np.float32(i * (image.shape[0] - 1) / rows)
        top = int(y)
        down = y - np.float32(top)
        for j in range(columns):
            x = np.float32(j * (image.shape[1] - 1) / columns)
            left = int(x)
            right = x - np.float32(left)
            upper = image[top, left] + right * (image[top, left + 1] - image[top, left])
            lower = image[top + 1, left] + right * (image[top + 1, left + 1] - image[top + 1, left])
            found[i, j] = upper + down * (lower - upper)
    return found


@untuned(lambda n, rng: (rng.random((n, n)).astype(np.float32), 3 * n // 2, 3 * n // 2), 16, 120, 1000, numba=_resized,
         parallel="i", tolerance=2e-3)  # fmt: skip
def resized_image(image, rows, columns):
    y = (np.arange(rows) * (image.shape[0] - 1) / rows).astype(np.float32)
    x = (np.arange(columns) * (image.shape[1] - 1) / columns).astype(np.float32)
    top, left = y.astype(np.int64), x.astype(np.int64)
    down, right = (y - top).astype(np.float32)[:, None], (x - left).astype(np.float32)
    upper_rows, lower_rows = image[top], image[top + 1]
    upper = upper_rows[:, left] + right * (upper_rows[:, left + 1] - upper_rows[:, left])
    lower = lower_rows[:, left] + right * (lower_rows[:, left + 1] - lower_rows[:, left])
    return upper + down * (lower - upper)


def _despeckled(image):
    found = np.empty((image.shape[0] - 2, image.shape[1] - 2))
    window = np.empty(9)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            for k in range(9):
                value = image[i + k // 3, j + k % 3]
                place = k
                while place > 0 and window[place - 1] > value:
                    window[place] = window[place - 1]
                    place -= 1
                window[place] = value
            found[i, j] = window[4]
    return found


@untuned(lambda n, rng: (rng.random((n, n)),), 12, 60, 400, numba=_despeckled, jax=True)
def despeckled_image(image):
    rows, columns = image.shape
    shifted = [image[i : rows - 2 + i, j : columns - 2 + j] for i in range(3) for j in range(3)]
    return np.median(np.stack(shifted), axis=0)


def _grey(image):
    found = np.empty(image.shape[:2], dtype=np.uint8)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            found[i, j] = (77 * int(image[i, j, 0]) + 150 * int(image[i, j, 1]) + 29 * int(image[i, j, 2])) >> 8
    return found


@untuned(lambda n, rng: (rng.integers(0, 256, (n, n, 3)).astype(np.uint8),), 16, 150, 1200, numba=_grey, parallel="i")
def grey_image(image):
    weights = np.array([77, 150, 29], dtype=np.uint32)
    return ((image * weights).sum(axis=2) >> 8).astype(np.uint8)


def _best_threshold(image):
    counts = np.zeros(256, dtype=np.int64)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            counts[image[i, j]] += 1
    whole = 0
    for k in range(256):
        whole += k * counts[k]
    below, dark = 0, 0
    best, found = -1.0, 0
    for k in range(256):
        below += counts[k]
        dark += k * counts[k]
        above = image.size - below
        if below > 0 and above > 0:
            apart = dark / below - (whole - dark) / above
            spread = float(below) * float(above) * apart * apart
            if spread > best:
                best = spread
                found = k
    return found


@untuned(lambda n, rng: (_bytes(n, rng),), 32, 300, 2000, numba=_best_threshold)
def best_threshold(image):
    counts = np.bincount(image.ravel(), minlength=256)
    below = np.cumsum(counts)
    dark = np.cumsum(counts * np.arange(256))
    above = below[-1] - below
    apart = dark / np.maximum(below, 1) - (dark[-1] - dark) / np.maximum(above, 1)
    return np.argmax(np.where((below > 0) & (above > 0), 1.0 * below * above * apart**2, -1.0))


@untuned(lambda n, rng: (255 * rng.random((n, n)),), 16, 150, 1000, numpy=False)
def dithered_image(image):
    rest = image.copy()
    rows, columns = rest.shape
    found = np.zeros((rows, columns), dtype=np.bool_)
    for i in range(rows):
        for j in range(columns):
            found[i, j] = rest[i, j] > 127.5
            error = rest[i, j] - (255.0 if found[i, j] else 0.0)
            if j + 1 < columns:
                rest[i, j + 1] += error * 7 / 16
            if i + 1 < rows:
                if j > 0:
                    rest[i + 1, j - 1] += error * 3 / 16
                rest[i + 1, j] += error * 5 / 16
                if j + 1 < columns:
                    rest[i + 1, j + 1] += error / 16
    return found

"""A stand-in for CuPy's other package."""

from __future__ import annotations

import numpy


def empty_pinned(shape, dtype):
    return numpy.empty(shape, dtype)

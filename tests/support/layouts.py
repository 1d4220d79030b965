"""Arrays in every memory order and layout, and the comparison of the strides of results with NumPy's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def in_order(shape: Sequence[int], axes: Sequence[int], seed: int = 0) -> Any:
    """Numbers in an array without gaps, whose axes lie from the slowest to the fastest as `axes` says."""
    values = np.random.default_rng([seed, *shape]).integers(-4, 6, [shape[axis] for axis in axes]) * 0.75
    return values.transpose(np.argsort(axes))


def layouts(shape: Sequence[int] = (2, 3, 4)) -> Mapping[str, Any]:
    """Arrays of one shape by the name of their layout: every order, with gaps, reversed, with strides of 0."""
    every = itertools.permutations(range(len(shape)))
    found = {"".join(map(str, axes)): in_order(shape, axes) for axes in every}
    twice = [2 * size for size in shape]
    mirrored = range(len(shape))[::-1]
    gaps = (slice(None, None, 2),) * len(shape)
    found["C, gaps"] = in_order(twice, range(len(shape)))[gaps]
    found["F, gaps"] = in_order(twice, mirrored)[gaps]
    found["F, reversed"] = in_order(shape, mirrored)[(slice(None, None, -1), ...)]
    found["F, mixed"] = in_order(twice, mirrored)[(slice(None, None, -2), slice(0, shape[1]), ...)][..., ::2]
    found["C, part"] = in_order(twice, range(len(shape)))[tuple(slice(1, 1 + size) for size in shape)]
    found["repeated rows"] = np.broadcast_to(in_order(shape[1:], range(len(shape) - 1)), shape)
    found["repeated numbers"] = np.broadcast_to(in_order(shape, mirrored)[..., :1], shape)
    return found


def steps(array: Any) -> tuple[int, ...]:
    """The strides that count: of the dimensions with several elements; none of an array that is empty."""
    return tuple(step for size, step in zip(array.shape, array.strides, strict=True) if size > 1) if array.size else ()


def assert_same_order(got: Any, expected: Any, shown: str = "") -> None:
    """The strides are NumPy's, where a result has several dimensions."""
    if not isinstance(expected, np.ndarray) or expected.ndim < 2:
        return
    assert steps(got) == steps(expected), f"{shown}: strides {got.strides} instead of {expected.strides}"

"""Floats that extrema keep in the range of 32 bits become integers with one question: text, and NumPy's values."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal

VALUES = np.array([0.0, -0.0, 1.5, -1.5, np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**31, -(2.0**31) - 1, 300.7, -0.2])


def to_samples(x):
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


def to_bytes(x):
    return np.minimum(np.maximum(x, 0), 255).astype(np.uint8)


def to_words(x):
    return np.clip(x, -10, 10).astype(np.int64)


def to_large(x):
    return np.minimum(np.maximum(x, -1e9), 1e9).astype(np.int32)


def below_only(x):
    return np.minimum(x, 1e9).astype(np.int32)


def to_the_last(x):
    return np.clip(x, 0, 2147483647).astype(np.int32)


def text_of(function, dtype=np.float64):
    sdfg = dcpy.program(function).to_sdfg(VALUES.astype(dtype))
    sdfg.auto_optimize()
    return sdfg.code()


@pytest.mark.parametrize("function", [to_samples, to_bytes, to_words, to_large], ids=lambda function: function.__name__)
def test_one_question_where_both_ends_are_known(function):
    text = text_of(function)
    assert "dcpy_truncate_number<" in text
    assert "dcpy_truncate<" not in text


def test_all_questions_where_one_end_is_not_known():
    with np.errstate(over="ignore"):
        assert "dcpy_truncate_number<" not in text_of(below_only)
        assert "dcpy_truncate_number<" not in text_of(to_the_last, np.float32)  # where the last one is 2**31
        assert "dcpy_truncate_number<" in text_of(to_the_last)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [to_samples, to_bytes, to_words, to_large, below_only], ids=lambda f: f.__name__)
def test_values_are_numpys(function, dtype):
    with np.errstate(all="ignore"):
        x = np.tile(VALUES, 7).astype(dtype)
        assert_equal(dcpy.program(function, auto_optimize=True)(x), function(x))

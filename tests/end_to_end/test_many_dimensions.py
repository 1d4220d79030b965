"""Arrays with as many dimensions as NumPy had for long: analyses answer after a number of steps."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.symbolic import Ranges


def doubled(A):
    return A + A


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True])
def test_sum_of_arrays_of_32_dimensions(monkeypatch, auto):
    steps = []
    step = Ranges._nonneg
    monkeypatch.setattr(Ranges, "_nonneg", lambda *args: steps.append(None) or step(*args))
    A = np.ones((2,) * 8 + (1,) * 15 + (2,) * 9)
    program = dcpy.program(doubled, auto_optimize=auto)
    B = np.broadcast_to(A[..., :1, :1, :1, :1], (2,) * 8 + (1,) * 15 + (2,) * 9)
    assert np.array_equal(program.to_sdfg(np.zeros((2,) * 31 + (0,)))(A=A), A + A)
    assert np.array_equal(program(A), A + A)
    assert np.array_equal(program(B), B + B)
    assert len(steps) < 200_000

"""Call chains: an error in a function that a program calls says where it was called."""

import numpy as np
import pytest

import dcpy
from dcpy.base.source import SrcSpan


def innermost(x):
    return np.linalg.no_such_function(x)


def outer(x):
    y = innermost(x)
    return y + 1


def test_an_error_in_a_function_that_is_called_says_where_it_was_called():
    def program(x):
        def nested(z):
            return outer(z)

        return nested(x)

    with pytest.raises(AttributeError) as caught:
        dcpy.program(program)(np.ones(3))
    said = str(caught.value).splitlines()
    (line,) = [line for line in said if line.endswith("return np.linalg.no_such_function(x)")]
    chain = [line.split(", called at ")[0] for line in said if ", called at " in line]
    assert chain == ["  = note: in innermost", "  = note: in outer", "  = note: in nested"]
    assert said.index(line) < said.index(next(line for line in said if "in innermost" in line))


def test_long_chains_of_calls_are_cut():
    error = dcpy.DcpyError("wrong", span=SrcSpan("a.py", 1, 0, 1, 2))
    for number in range(20):
        error.called(f"f{number}", SrcSpan("a.py", number + 2, 0, number + 2, 2))
    assert "in f7, called at a.py:9:1" in str(error)
    assert "and 12 calls around these" in str(error)
    assert "in f8" not in str(error)

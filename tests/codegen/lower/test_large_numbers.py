"""Numbers beyond 64 bits: code that needs one raises where it is reached, and comparisons with one are known."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.codegen.lower.expressions.large_numbers import comparison
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.symbolic import Ranges, parse_expr
from dcpy.ir.types import int64

REACHED = """
    sdfg @f(x: f64[N], n) symbols(n: i64, N: size) {
      if n - 18446744073709551616 >= 0 {
        state { tasklet () -> (out -> x[0]) { out = 1.0 } }
      } else {
        state { tasklet () -> (out -> x[0]) { out = 2.0 } }
      }
      if n == 7 {
        state { tasklet (a <- x[18446744073709551616*n]) -> (out -> x[1]) { out = a } }
      }
    }"""


@pytest.mark.parametrize(
    ("name", "left", "right", "outcome"),
    [
        ("ge", "n - 18446744073709551616", "0", False),
        ("lt", "n - 18446744073709551616", "0", True),
        ("le", "n", "18446744073709551616", True),
        ("eq", "n + 36893488147419103232", "n", False),
        ("ne", "n + 36893488147419103232", "n", True),
        ("ge", "n*m - 18446744073709551616", "0", None),
        ("ge", "n - 4611686018427387904", "0", None),
        ("ge", "n - 9223372036854775808", "0", False),
    ],
)
def test_comparisons_with_numbers_beyond_64_bits_are_known(name, left, right, outcome):
    expr = op(name, Index(parse_expr(left)), Index(parse_expr(right)))
    assert comparison(expr, Ranges()) is outcome


def test_constants_are_compared_too():
    assert comparison(op("lt", Index(parse_expr("18446744073709551616")), Const(0, int64)), Ranges()) is False


@pytest.mark.cc
def test_what_is_not_reached_is_no_error():
    compiled, x = dcpy.parse(REACHED).compile(), np.zeros(3)
    compiled(x=x, n=5)
    assert x.tolist() == [2.0, 0.0, 0.0]
    with pytest.raises(OverflowError, match="18446744073709551616 of an index or a size does not fit into 64 bits"):
        compiled(x=x, n=7)


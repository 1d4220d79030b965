"""Expressions that have the same value, whatever the symbols are."""

import pytest

from dcpy.ir.analysis.polyhedral.symbolic_equality import always_equal
from dcpy.ir.symbolic import Ranges, parse_expr

SIZES = Ranges().bind("N", 0).bind("M", 0)
WINDOW = "max(0, max(0, N - 2) - 2) + 2*min(1, max(0, max(0, N - 2) - 2))"


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("N + M", "M + N", True),
        ("N", "M", False),
        ("max(0, N)", "N", True),
        ("max(0, N - 1)", "N - 1", False),
        (f"max(0, min(N - 2, {WINDOW}))", WINDOW, True),
        (f"64*max(0, min(N - 2, {WINDOW}))", f"64*({WINDOW})", True),
        ("M*max(0, min(N, 1 + N))", "M*N", True),
        ("M*max(0, min(N, N - 1)) + M", "M*N", False),
        ("M*max(0, N - 1) + N*max(0, M - 1)", "M*max(0, N - 1) + N*max(0, min(M, M - 1))", True),
        ("2*((N + 1) // 2)", "N + N % 2", True),
        ("N*M", "M*N + 1", False),
        ("N*M*max(0, N)", "N*N*M", True),
    ],
)
def test_equal_values(left, right, equal):
    assert always_equal(parse_expr(left), parse_expr(right), SIZES) is equal

"""Small powers: which they are, and what they cost."""

import pytest

from dcpy.ir.analysis.costs.work_estimates import cost_of_operation
from dcpy.ir.expressions.scalar import Const, Ref, op
from dcpy.ir.expressions.small_powers import twice_the_exponent
from dcpy.ir.machine_model import COSTS
from dcpy.ir.types import complex128, float64, int64


@pytest.mark.parametrize(
    ("exponent", "kind", "twice"),
    [
        (2, "i", 4), (16.0, "f", 32), (17, "f", 0), (1, "f", 0), (0, "f", 0), (-1, "f", -2), (-3.0, "f", -6),
        (-16, "f", -32), (-17, "f", 0), (-1, "i", 0), (-2, "c", 0), (2, "c", 0), (True, "i", 0),
        (0.5, "f", 1), (-2.5, "f", -5), (-3.5, "f", 0), (15.5, "f", 31), (16.5, "f", 0), (0.5, "i", 0), (1.7, "f", 0),
        (float("nan"), "f", 0), (float("inf"), "f", 0),
    ],
)  # fmt: skip
def test_exponents_that_are_multiplied_out(exponent, kind, twice):
    assert twice_the_exponent(exponent, kind) == twice


@pytest.mark.parametrize(
    ("exponent", "units"),
    [
        (2.0, 1), (3.0, 2), (4.0, 2), (7.0, 4), (16.0, 4), (0.5, 4), (1.5, 5), (-0.5, 8), (-1.5, 12), (-2.5, 13),
        (1.7, 30), (-1.0, 4), (-2.0, 5), (-3.0, 6), (-4.0, 6), (-5.0, 11), (-12.0, 8),
    ],
)  # fmt: skip
def test_units_of_work(exponent, units):
    assert cost_of_operation(op("pow", Ref("x", float64), Const(exponent, float64)), COSTS) == units


def test_integers_and_complex_numbers():
    assert cost_of_operation(op("pow", Ref("x", int64), Const(3, int64)), COSTS) == 2
    assert cost_of_operation(op("pow", Ref("x", complex128), Const(2 + 0j, complex128)), COSTS) == 30

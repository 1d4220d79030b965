"""Small powers: those that are multiplied out, and not left to C's pow (strength reduction).

Whole exponents of real numbers, those below 0 of floats, which take a quotient or two, and halves of odd ones, which
take a square root. Products beat pow up to `LARGEST`, and are off by fewer than 16 units in the last place there. Code
generators write them so, and costs count them so.
"""

from __future__ import annotations

from dcpy.ir.machine_model import OperationCosts

LARGEST = 16
LEAST_HALF = -2.5  # below, a product may overflow where the power is not yet 0


def twice_the_exponent(exponent: object, kind: str) -> int:
    """Twice the exponent of a power of a number of this kind (`DType.kind`) that is multiplied out; 0: it is none."""
    if kind not in "iuf" or isinstance(exponent, bool) or not isinstance(exponent, int | float):
        return 0
    is_whole = exponent == exponent // 1 and (2 <= exponent <= LARGEST or (kind == "f" and -LARGEST <= exponent < 0))
    is_half = kind == "f" and 2 * exponent % 2 == 1 and LEAST_HALF <= exponent <= LARGEST
    return int(2 * exponent) if is_whole or is_half else 0


def cost_of_power(twice: int, costs: OperationCosts) -> int:
    """Units of work of such a power: products by squaring; a root if it is odd, quotients if it is below 0."""
    whole = abs(twice) // 2
    products = max(whole.bit_length() + whole.bit_count() - 2, 0)
    if twice % 2 == 0:
        quotients = 0 if twice > 0 else 1 if whole == 3 or whole % 2 == 0 or whole == 1 else 2
        return products + quotients * costs.div
    steps = (costs.div if twice < 0 else 1) if whole else 0  # what the whole power takes to meet the root
    return products + steps + costs.sqrt + (costs.div if twice < 0 else 0)

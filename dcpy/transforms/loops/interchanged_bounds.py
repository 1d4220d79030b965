"""Bounds of loops that change places: Fourier-Motzkin elimination of the outer parameter from the inner bounds."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, ceil_div, max_of, min_of, sym
from dcpy.ir.symbolic.expr import Atom

Form = tuple[int, Expr]  # ``slope * outer + rest``


def interchanged(outer: str, values: Range, inner: str, bounds: Range) -> tuple[Range, Range] | Refusal:
    """The ranges of `inner`, which comes to be outside, and of `outer`.

    Where the inner bounds mention the outer parameter, the new outer range may hold values for which there is nothing
    to do: the new inner one is empty there.
    """
    if outer not in bounds.symbols:
        return bounds, values
    lower = _forms(bounds.start, "max", outer)
    upper = _forms(bounds.stop, "min", outer)
    if bounds.step is not ONE or values.step is not ONE or lower is None or upper is None:
        return Refusal(
            f"the range {bounds} of {inner!r} cannot be solved for {outer!r}: it has another step, or is not affine"
        )
    first, last = values.start, values.stop - 1
    least = max_of(*((first if slope > 0 else last) * slope + rest for slope, rest in lower))
    most = min_of(*((last if slope > 0 else first) * slope + rest for slope, rest in upper))
    starts, stops = [values.start], [values.stop]
    for slope, rest in lower:  # slope * outer + rest <= inner
        if slope > 0:
            stops.append((sym(inner) - rest) // slope + 1)
        elif slope < 0:
            starts.append(ceil_div(rest - sym(inner), -slope))
    for slope, rest in upper:  # inner + 1 <= slope * outer + rest
        if slope > 0:
            starts.append(ceil_div(sym(inner) + 1 - rest, slope))
        elif slope < 0:
            stops.append((rest - sym(inner) - 1) // -slope + 1)
    return Range(least, most), Range(max_of(*starts), min_of(*stops))


def _forms(bound: Expr, kind: str, name: str) -> list[Form] | None:
    """Each alternative of a ``max`` or ``min`` as a linear form in a symbol; None where one is not."""
    found: list[Form] = []
    for part in _alternatives(bound, kind):
        form = part.linear_in(name)
        slope = None if form is None else form[0].constant
        if form is None or slope is None:
            return None
        found.append((slope, form[1]))
    return found


def _alternatives(value: Expr, kind: str) -> Iterator[Expr]:
    """The values of which an expression is the largest (``max``) or smallest (``min``): itself, where there is one."""
    for monomial, factor in value.terms:
        match monomial:
            case ((Atom() as atom, 1),) if atom.kind == kind and factor == 1:
                rest = value - Expr(((monomial, 1),))
                for arg in atom.args:
                    yield from _alternatives(arg + rest, kind)
                return
    yield value

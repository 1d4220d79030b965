"""Bounds after loop interchange: Fourier-Motzkin elimination of the outer parameter from the inner bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, ceil_div, max_of, min_of, sym
from dcpy.ir.symbolic.expr import Atom


@dataclass(frozen=True, slots=True)
class LinearBound:
    """A linear bound: ``times * inner`` is at least, or at most, ``slope * outer + rest``."""

    times: int
    slope: int
    rest: Expr

    def at(self, outer: Expr) -> Expr:
        return outer * self.slope + self.rest


def interchanged(outer: str, values: Range, inner: str, bounds: Range) -> tuple[Range, Range] | Refusal:
    """The ranges of `inner` and `outer` after `inner` has become the outer loop.

    If the inner bounds mention the outer parameter, the new outer range may have values without iterations: the new
    inner range is empty there.
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
    least = max_of(*(ceil_div(form.at(first if form.slope > 0 else last), as_expr(form.times)) for form in lower))
    most = min_of(*(form.at(last if form.slope > 0 else first) // form.times + 1 for form in upper))
    starts, stops = [values.start], [values.stop]
    for form in lower:  # slope * outer + rest <= times * inner
        known = sym(inner) * form.times - form.rest
        if form.slope > 0:
            stops.append(known // form.slope + 1)
        elif form.slope < 0:
            starts.append(ceil_div(-known, as_expr(-form.slope)))
    for form in upper:  # times * inner <= slope * outer + rest
        known = sym(inner) * form.times - form.rest
        if form.slope > 0:
            starts.append(ceil_div(known, as_expr(form.slope)))
        elif form.slope < 0:
            stops.append(-known // -form.slope + 1)
    return Range(least, most), Range(max_of(*starts), min_of(*stops))


def _forms(bound: Expr, kind: str, name: str) -> list[LinearBound] | None:
    """The alternatives of a ``max`` or ``min`` as linear forms in a symbol; None if one is not linear."""
    found: list[LinearBound] = []
    for part in _alternatives(bound, kind):
        form = _form(part, kind, name)
        if form is None:
            return None
        found.append(form)
    return found


def _form(part: Expr, kind: str, name: str) -> LinearBound | None:
    """A bound that is linear in a symbol, or a quotient ``sign * (linear // times) + rest``. Of a `min`, the bound is
    the first value that is too large."""
    sign, times, linear, rest = _quotient(part, name) or (1, 1, part, ZERO)
    least = kind == "max"
    if sign > 0:  # q <= x // c is c*q <= x; x // c <= q is x - c + 1 <= c*q
        value = linear + rest * times - (times - 1 if least else times)
    else:
        value = rest * times - linear - (0 if least else 1)
    form = value.linear_in(name)
    slope = None if form is None else form[0].constant
    return None if form is None or slope is None else LinearBound(times, slope, form[1])


def _quotient(value: Expr, name: str) -> tuple[int, int, Expr, Expr] | None:
    """The parts of ``sign * (linear // times) + rest``, of which just the quotient holds a symbol; else None."""
    for monomial, factor in value.terms:
        match monomial:
            case ((Atom(kind="floordiv", args=(Expr() as linear, Expr(constant=int(times)))), 1),):
                rest = value - Expr(((monomial, factor),))
                if name in linear.symbols and name not in rest.symbols and factor in (1, -1) and times > 0:
                    return factor, times, linear, rest
    return None


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

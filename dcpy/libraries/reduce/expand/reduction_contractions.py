"""Reductions as contractions, and the search for the position of an extremum; `maps` and `cpu` write them as loops."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir import types
from dcpy.ir.expressions.identities import extreme_value, identity_value
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.nodes import Node
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.libraries.api import Element, Fragment, Operand
from dcpy.libraries.contraction.contraction import Contraction, Indices, accumulator_dtype, innermost, short_dtype

NOWHERE = Const(extreme_value("min", types.int64), types.int64)  #: behind all positions


def reduction(operation: str, x: Operand, axes: Sequence[int], out: Operand) -> Contraction:
    """``out = operation over axes of x``."""

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        return f.put(target, x.at(*indices), wcr=wcr)

    def store(f: Fragment, kept: Indices, value: Element) -> Node:
        return f.put(out.at(*kept), value)

    dtype, inner = accumulator_dtype(operation, out.dtype), innermost(x.shape, x.strides)
    identity, short = identity_value(operation, dtype), short_dtype(out.dtype, dtype)
    return Contraction(x.shape, tuple(axes), inner, operation, dtype, identity, element, store, short)


def position(x: Operand, axes: Sequence[int], extremum: Operand, out: Operand) -> Contraction:
    """The first position within `axes` that holds the extremum of its row, or a NaN."""

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        best = extremum.at(*(index for axis, index in enumerate(indices) if axis not in axes))
        return look(f, target, x.at(*indices), best, counted(x, axes, indices), wcr)

    def store(f: Fragment, kept: Indices, value: Element) -> Node:
        return f.put(out.at(*kept), value)

    inner = innermost(x.shape, x.strides)
    return Contraction(x.shape, tuple(axes), inner, "min", types.int64, NOWHERE.value, element, store)


def first_flag(operation: str, x: Operand, axes: Sequence[int], out: Operand) -> Contraction:
    """The first position within `axes` that holds True (of a minimum: False), or 0."""

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        return look_for_flag(f, operation, target, x.at(*indices), counted(x, axes, indices))

    def store(f: Fragment, kept: Indices, value: Element) -> Node:
        return put_found(f, out.at(*kept), value)

    inner = innermost(x.shape, x.strides)
    return Contraction(x.shape, tuple(axes), inner, "min", types.int64, NOWHERE.value, element, store)


def look_for_flag(f: Fragment, operation: str, target: Element, flag: Element, place: Expr) -> Node:
    """`target` takes up `place` where a flag holds, or for a minimum does not; else what is behind all places."""

    def value(holds: ScalarExpr) -> ScalarExpr:
        sides = (Index(place), NOWHERE) if operation == "max" else (NOWHERE, Index(place))
        return op("select", holds, *sides)

    return f.compute(target, value, flag, wcr="min")


def put_found(f: Fragment, target: Element, place: Element) -> Node:
    """Store a place; 0 where nothing was found: all flags are the same, and the first one is the extremum."""
    nothing = Const(0, types.int64)
    return f.compute(target, lambda found: op("select", op("eq", found, NOWHERE), nothing, found), place)


def look(f: Fragment, target: Element, element: Element, best: Element, place: Expr, wcr: str) -> Node:
    """`target` takes up `place` where an element equals the `best`, or is NaN; else what is behind all places."""

    def value(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
        found = op("eq", a, b)
        found = op("or", found, op("ne", a, a)) if a.dtype.is_inexact else found
        return op("select", found, Index(place), NOWHERE)

    return f.compute(target, value, element, best, wcr=wcr)


def counted(x: Operand, axes: Sequence[int], indices: Indices) -> Expr:
    """The position within the searched axes, counted in C order."""
    place = ZERO
    for axis in axes:
        place = place * x.shape[axis] + indices[axis]
    return place

"""Array distribution in programs: ``dcpy.distribute``, ``dcpy.on``, and arrays made with ``on=``.

For one rank these are the functions of NumPy; a program with ``distributed=True`` has what they make where they say.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dcpy.base.errors import GridError
from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.comm.block_layouts import NAME
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, ProcessGrid, Root, Section
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import as_expr

_OUTSIDE = importlib.import_module("dcpy.distributed")  # which is above this layer


def _known(name: str) -> None:
    """Register a function whose arguments are known when the program is compiled."""
    function = getattr(_OUTSIDE, name)

    def call(b: OpBuilder, *args: Value, **keywords: Value) -> Value:
        given = [b.static(value, f"an argument of dcpy.{name}") for value in args]
        named = {key: b.static(value, f"{key!r} of dcpy.{name}") for key, value in keywords.items()}
        return Static(_placed(b, lambda: function(*given, **named)))

    implements(function)(call)


for _name in ("on", "block", "cyclic"):
    _known(_name)


def _placed(b: OpBuilder, make: Callable[[], Any]) -> Any:
    """Return the result of `make`; its grid errors become errors of the program."""
    try:
        return make()
    except GridError as error:
        raise b.error(error.message, help=error.help) from None


@implements(_OUTSIDE.distribute)
def distribute(b: OpBuilder, array: Value, grid: Value, blocks: Value = NONE) -> Value:
    """The array as a new one, dealt out as a grid and blocks say, or as what `dcpy.on` makes says."""
    called, b.result_name = b.result_name, ""
    given = b.array(array)
    place = b.static(grid, "where dcpy.distribute puts an array")
    if isinstance(place, _OUTSIDE.Grid):
        ways = b.static(blocks, "blocks")
        ways = _OUTSIDE.blocks_of_first(given.rank, place) if ways is None else ways
        place = _placed(b, lambda: _OUTSIDE.on(place, *ways))
    if not isinstance(place, _OUTSIDE.Placement):
        raise b.error(
            f"dcpy.distribute takes a grid, or what dcpy.on makes, not {type(place).__name__}",
            help="write dcpy.distribute(A, dcpy.grid(2, 2), ('block', 'block')), with a grid that is made before",
        )
    b.result_name = called
    return _dealt_out(b, given, place)


def _dealt_out(b: OpBuilder, given: ArrayValue, place: Any) -> ArrayValue:
    if len(place.axes) != given.rank:
        raise b.error(
            f"an array of {given.rank} dimensions does not fit the distribution {place}",
            help="name a way for each dimension: 'block', 'cyclic' or None",
        )
    axes = tuple(map(_axis, place.axes))
    rest = () if place.root is None else (Root(0, as_expr(place.root)),)
    grid = ProcessGrid(tuple(map(as_expr, place.grid.sizes)))
    where = Section(given.shape, Subset.whole(given.shape), Distribution(NAME, axes, rest), grid)
    out = b.empty(given.shape, given.dtype)
    b.library("comm.distribute", {"x": given}, {"out": out}, where=where)
    return out


def _axis(dealt: Any) -> Axis:
    if dealt is None:
        return None
    if dealt.cyclic:
        return Cyclic(dealt.axis, as_expr(dealt.block or 1))
    return Blocked(dealt.axis, None if dealt.block is None else as_expr(dealt.block))


def _filled(name: str) -> Implementation:
    """``dcpy.zeros(shape, dtype, on=where)`` by the function of NumPy's of the same name."""

    def call(b: OpBuilder, shape: Value, dtype: Value = NONE, *, on: Value) -> Value:
        return distribute(b, b.call(Static(getattr(np, name)), shape, dtype=dtype), on)

    return call


for _name in ("zeros", "ones", "empty"):
    implements(getattr(_OUTSIDE, _name))(_filled(_name))


@implements(_OUTSIDE.full)
def full(b: OpBuilder, shape: Value, value: Value, dtype: Value = NONE, *, on: Value) -> Value:
    """An array of one value, dealt out."""
    return distribute(b, b.call(Static(np.full), shape, value, dtype=dtype), on)

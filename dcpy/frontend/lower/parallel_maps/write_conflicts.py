"""Write conflicts: writes that iterations of a parallel map share, and how they are combined.

A write does not meet another where each parameter of the map alone decides one of its indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value, is_number, scalar_expr
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.operators import unary
from dcpy.frontend.lower.arrays import stores
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, OpenRegion

#: operators that combine conflicting writes, with the resolution's name
RESOLUTIONS = {"+": "add", "-": "add", "*": "mul", "&": "bitand", "|": "bitor", "^": "bitxor"}


def accumulate(frame: Frame, scope: OpenRegion, name: str, symbol: str, value: Value) -> None:
    """``name += value`` where iterations of a map share `name`."""
    current = frame.env[name]
    if symbol not in RESOLUTIONS:
        raise FrontendError(
            f"iterations of a parallel map cannot combine {name!r} with {symbol}=",
            help="use +=, *=, &=, |= or ^=, or a plain for loop",
        )
    if isinstance(current, ArrayValue):
        update_array(frame, current, symbol, value)
        return
    if not is_number(value):
        raise FrontendError(f"{name!r} is a number, but an array is added to it", help="sum the array first")
    with frame.emit.wrapping():  # what is read here is only its type
        result = frame.b.operator(symbol, current, value)
    scope.accumulators[name] = result
    match current:
        case Scalar(expr=Load(container=container, indices=(), dtype=dtype)) if frame.is_slot(container):
            amount = unary(frame.b, "-", value) if symbol == "-" else value
            expr = convert(scalar_expr(amount), dtype)
            frame.emit.tasklet([(Memlet(container, Subset(), RESOLUTIONS[symbol]), expr)])


def update_array(frame: Frame, target: ArrayValue, symbol: str, value: Value) -> None:
    """``target += value`` on a window that other iterations may write too."""
    if symbol not in RESOLUTIONS:
        raise FrontendError(
            f"other iterations of the map may write the same elements: {symbol}= cannot resolve that",
            help="use +=, *=, &=, |= or ^=, or index with all parameters of the map",
        )
    amount = unary(frame.b, "-", value) if symbol == "-" else value
    stores.accumulate(frame.b, target, amount, RESOLUTIONS[symbol])


def conflicts(frame: Frame, target: ArrayValue) -> bool:
    """Return whether different iterations of the maps around may write the same element of `target`.

    They do not where each parameter of a map alone decides one of the indices.
    """
    dims = target.window.dims
    for scope in frame.map_scopes():
        if _is_private(scope, frame, target.container):
            continue
        free = list(dims)
        for param in scope.params:
            index = next((dim for dim in free if _decided_by(dim, param, scope)), None)
            if index is None:
                return True
            free.remove(index)
    return False


def _is_private(scope: OpenRegion, frame: Frame, container: str) -> bool:
    """Return whether the container is declared inside the body of the map."""
    declared_in = frame.emit.regions.get(frame.b.root(container))
    around = frame.emit.open_regions
    inside = next((k for k, region in enumerate(around) if region is scope.region), len(around))
    return any(region is declared_in for region in around[inside:])


def _decided_by(dim: Expr | Range, param: str, scope: OpenRegion) -> bool:
    if isinstance(dim, Range):
        return False
    form = dim.linear_in(param)
    if form is None or not form[0].constant:
        return False
    known = (*scope.outer_ranges.names,)
    return all(name in known for name in form[1].symbols)

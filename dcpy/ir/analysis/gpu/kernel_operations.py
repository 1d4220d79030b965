"""Operations of a kernel: how many a launch does in all, in units of work; symbolic in sizes, an estimate."""

from __future__ import annotations

from dcpy.ir.analysis.costs.work_estimates import cost_of_code
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.tiled_footprints import without_tiles
from dcpy.ir.field_roles import Role, Runs
from dcpy.ir.machine_model import Costs
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike
from dcpy.ir.tree import Element, children


def operations_of(kernel: Map, costs: Costs) -> Expr:
    """The cost of each expression, for each point at which it is computed.

    A range that depends on another parameter has its length at the middle of that one; a loop whose end
    data decide has `Costs.typical_size` iterations, and branches are all taken.
    """
    return _operations(kernel, (), ONE, costs)


def _operations(element: Element, over: tuple[Variable, ...], times: Expr, costs: Costs) -> Expr:
    units = sum(cost_of_code(expr, costs) for role in (Role.CODE, Role.SCALAR) for expr in element.all_of(role))
    total = points_of(over) * times * units if units else ZERO
    inside = (*over, *element.iteration_space())
    again = times * costs.typical_size if element.runs is Runs.AGAIN else times
    for child in children(element):
        total = total + _operations(child, inside, again, costs)
    return total


def points_of(over: tuple[Variable, ...]) -> Expr:
    """Return the number of value tuples of variables, outermost first."""
    total = ONE
    middle: dict[str, ExprLike] = {}
    for name, values in without_tiles(Footprint(Subset(), over)).over:
        if values is None:
            continue
        here = values.subs(middle)
        total = total * here.size
        middle[name] = (here.start + here.last) // 2
    return total

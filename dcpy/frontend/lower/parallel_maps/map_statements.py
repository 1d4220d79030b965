"""Map statements: ``for i, j in dcpy.map[...]``, with conflict resolution where iterations meet.

``total += C[i, j]`` on a name from outside, and ``hist[k] += 1`` with an index that iterations may share, become
write-conflict resolutions; any other assignment to a name that iterations share is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    MapValue,
    Missing,
    Scalar,
    TupleValue,
    integer,
    is_number,
    scalar_expr,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arrays.assignment import assign
from dcpy.frontend.lower.control import joins
from dcpy.frontend.lower.frame import Flow, OpenRegion
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter
from dcpy.ir.region import Region
from dcpy.ir.symbolic import sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def run_map(frame: Frame, node: core.For, value: MapValue, execute: Callable[[Any, core.Body], Flow]) -> Flow:
    """Write the map; names that the body binds are private to an iteration."""
    names = frame.liveness.loops[node]
    stems = _stems(node.target, len(value.ranges))
    params = tuple(map(frame.emit.parameter, stems, value.ranges))
    ranges = frame.emit.ranges
    for param, extent in zip(params, value.ranges, strict=True):
        ranges = bind_parameter(ranges, param, extent)
    targets = integer(sym(params[0])) if len(params) == 1 else TupleValue(tuple(integer(sym(p)) for p in params))
    arrays = node.rebound - node.assigned  # of those, what tasklets write is memory, if it is an array
    arrays = frozenset(name for name in arrays if isinstance(frame.env.get(name), ArrayValue))
    shared = frozenset(name for name in names.bound & (names.head | names.after) if _has_value(frame, name))
    shared -= node.targets_bound() | arrays  # each iteration has its own

    def body() -> OpenRegion:
        scope = OpenRegion(Region(), "map", forbidden=shared, params=params, outer_ranges=frame.emit.ranges)
        with frame.looping("map"), frame.entering(scope, ranges):
            assign(frame, node.target, targets)
            execute(frame, node.body)
        return scope

    _prepare_conflicts(frame, shared, body)
    scope = body()
    frame.emit.statement(node.span)
    frame.emit.map_region(params, value.ranges, scope.region, value.schedule, claimed=True)
    for name in sorted(names.bound - shared - arrays):
        frame.env[name] = Missing(
            f"{name!r} has no value after a parallel map", node.span, "store into an array inside the map"
        )
    return Flow.ON


def _has_value(frame: Frame, name: str) -> bool:
    """Return whether there is a value before the map, which iterations could share. A name without one is theirs alone.
    """
    return name in frame.env and not isinstance(frame.env[name], Missing)


def _stems(target: ast.expr, count: int) -> list[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if len(parts) != count:
        raise FrontendError(
            f"dcpy.map has {count} range{'s' * (count != 1)}, but there {'is' if len(parts) == 1 else 'are'} "
            f"{len(parts)} name{'s' * (len(parts) != 1)} for their indices",
            notes=("each range has an index of its own",),
            help="write one name for each range: `for i, j in dcpy.map[0:M, 0:N]`",
        )
    return [part.id if isinstance(part, ast.Name) else "i" for part in parts]


def _prepare_conflicts(frame: Frame, shared: frozenset[str], body: Callable[[], OpenRegion]) -> None:
    """Give each name that the map accumulates into a slot of the dtype that it ends up with."""
    numbers = sorted(name for name in shared if is_number(frame.env[name]))
    if not numbers:
        return
    while True:
        with frame.emit.dry_run():
            conflicts = body().accumulators
        changed = False
        for name, found in conflicts.items():
            joined = joins.join(frame, name, [frame.env[name], found], joins.Paths(entering=2))
            slot = joined if isinstance(joined, Scalar) else frame.slot(name, scalar_expr(found).dtype, False)
            if slot != frame.env[name]:
                joins.move(frame, [(slot, frame.env[name])])
                frame.env[name] = slot
                changed = True
        if not changed:
            return

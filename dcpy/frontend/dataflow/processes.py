"""Dataflow blocks: each process is a nested function, evaluated in a region of its own when the block ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import RangeValue, integer, kind_of
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.lower.expressions import evaluate, function_value
from dcpy.frontend.lower.frame import Flow, OpenRegion
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter
from dcpy.ir.analysis.parallelism.bernstein_conditions import ConcurrentPart, conflicts
from dcpy.ir.region import Dataflow, Process, Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def run_dataflow(frame: Frame, node: core.Dataflow) -> Flow:
    """Write the block with its processes."""
    if frame.map_scopes():
        raise FrontendError("a dataflow block in a parallel map", help="write a plain for loop, or one process more")
    network = Region()
    with frame.emit.inside(network):
        for process in node.processes:
            network.add(_process(frame, process))
    frame.emit.statement(node.span)
    frame.emit.block(Dataflow(network))
    return Flow.ON


def _process(frame: Frame, node: core.Process) -> Process:
    domain = tuple(_range(frame, points) for points in node.points)
    names = parameter_names(node.define.args)
    if len(names) != len(domain):
        raise FrontendError(
            f"the process {node.name!r} has {len(names)} parameters for {len(domain)} ranges",
            span=node.span,
            help="write `@dcpy.process(range(P))` above `def pe(p):`",
        )
    params = tuple(map(frame.emit.parameter, names, domain))
    ranges = frame.emit.ranges
    for param, values in zip(params, domain, strict=True):
        ranges = bind_parameter(ranges, param, values)
    before = dict(frame.env)
    scope = OpenRegion(Region(), "process", params=params, outer_ranges=frame.emit.ranges)
    with frame.entering(scope, ranges):
        frame.emit.statement(node.span)
        frame.b.call(function_value(frame, node.define), *(integer(sym(param)) for param in params))
        changed = [name for name, value in frame.env.items() if name in before and before[name] != value]
    for name in sorted(changed):
        raise FrontendError(
            f"the process {node.name!r} changes {name!r}, which is not its own"
            if name.isidentifier()
            else f"the process {node.name!r} changes a list or an object that is not its own",
            span=node.span,
            notes=("a process cannot change lists, objects and names of the function around it",),
            help="hand values over through a stream, or store into an array",
        )
    return Process(node.name, params, domain, scope.region, node.endless, span=node.span)


def _range(frame: Frame, points: object) -> Range:
    value = evaluate(frame, points)  # type: ignore[arg-type]  # an expression of Python
    if isinstance(value, RangeValue):
        return value.range
    raise FrontendError(
        f"a process has a copy for each point of a range, not of {kind_of(value)}",
        help="write `@dcpy.process(range(P))`",
    )


def require_exclusive(sdfg: Sdfg) -> None:
    """Refuse processes of which one writes what another one touches, and two at one end of a stream."""
    blocks = [block for block in sdfg.body.walk_blocks() if isinstance(block, Dataflow)]
    uses = Uses(sdfg) if blocks else None
    for block in blocks:
        assert uses is not None
        parts = [
            ConcurrentPart(inner.name, inner.body, tuple(zip(inner.params, inner.domain, strict=True)))
            for inner in block.body.blocks
            if isinstance(inner, Process)
        ]
        for (part, first), (other, second) in conflicts(parts, uses, uses.ranges_at(block)):
            others = "another copy of it" if part is other else f"the process {other.name!r}"
            how, its = first.mode.value, second.mode.value
            raise FrontendError(
                f"the process {part.name!r} {how} {first.container!r}, and {others} {its} it, too",
                span=first.place.span,
                notes=(f"{other.name!r} {its} it at {second.place.span}",) if second.place.span else (),
                help="give each process memory of its own, and hand values over through a stream",
            )

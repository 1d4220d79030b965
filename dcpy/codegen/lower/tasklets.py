"""Tasklets and writes: scalar code on elements, conflict resolutions, and what makes a write safe in parallel."""

from __future__ import annotations

from collections import Counter

from dcpy.codegen.lir.expr import Field, Intrinsic, Item, LirExpr, Name
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.traversal import parts
from dcpy.codegen.lir.tree import Assign, Compound, Declare, Update
from dcpy.codegen.lir.types import TRUTH
from dcpy.codegen.lower.context import Accumulator, Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.scalar import lower_value
from dcpy.codegen.lower.reduction_variables import to_accumulator
from dcpy.codegen.lower.streams import is_stream, push
from dcpy.ir import types
from dcpy.ir.analysis.parallelism.conflict_resolutions import location, threads_race
from dcpy.ir.expressions.scalar import Op, Ref, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType


def lower_tasklet(context: Context, node: Tasklet) -> None:
    """Reads, then computes, then writes. A value that is used once is written where it is used."""
    with context.capture() as body:
        results = _compute(context, node)
        for connector, memlet in node.outputs.items():
            write(context, memlet, *results[connector])
    if any(isinstance(statement, Declare) for statement in body):
        context.emit(Compound(tuple(body)))
    else:
        for statement in body:
            context.emit(statement)


def _compute(context: Context, node: Tasklet) -> dict[str, tuple[LirExpr, DType]]:
    """The values of the connectors, in variables unless used once, and only after everything is read.

    What a selection chooses from is read before it, and steps are computed before it, whatever is chosen: g++ makes no
    vectors of loads and calls under a condition.
    """
    uses = Counter(part.name for _, expr in node.code for part in walk(expr) if isinstance(part, Ref))
    uses.update(list(node.outputs))
    chosen = _chosen(node)
    used: set[str] = set()
    values: dict[str, LirExpr] = {}
    several = len(node.outputs) > 1
    for connector, memlet in node.inputs.items():
        if uses[connector]:
            element = read(context, memlet)
            once = uses[connector] == 1 and not (connector in chosen and isinstance(element, Item))
            values[connector] = element if once else _variable(context, connector, element, used)
    results: dict[str, tuple[LirExpr, DType]] = {}
    for connector, expr in node.code:
        value = lower_value(context, expr, values)
        is_step = connector not in node.outputs
        if uses[connector] > 1 or (connector in chosen if is_step else several and _may_change(value, used)):
            value = _variable(context, connector, value, used)
        values[connector] = value
        results[connector] = (value, expr.dtype)
    return results


def _chosen(node: Tasklet) -> set[str]:
    """The names in what selections choose from."""
    operations = [part for _, expr in node.code for part in walk(expr) if isinstance(part, Op)]
    chosen = [arg for each in operations if each.name == "select" for arg in each.args[1:]]
    return {part.name for arg in chosen for part in walk(arg) if isinstance(part, Ref)}


def _variable(context: Context, stem: str, value: LirExpr, used: set[str]) -> LirExpr:
    if isinstance(value, Name) and value.name in used:
        return value
    name = context.names.local(stem, used)
    context.emit(Declare(name, value.type, value, constant=True))
    return Name(name, value.type)


def _may_change(value: LirExpr, constants: set[str]) -> bool:
    """Return whether a write could change the value: it reads an element, or a variable that is no constant."""
    return any(isinstance(p, Item) or (isinstance(p, Name) and p.name not in constants) for p in parts(value))


def read(context: Context, memlet: Memlet) -> LirExpr:
    """The element that a memlet names."""
    if memlet in context.lanes:
        return context.lanes[memlet]
    place = context.locations[memlet.container]
    element = place.element(point_of(memlet.subset), context.symbolic)
    in_memory = isinstance(element, Item) and place.dtype == types.bool_
    return Intrinsic("is_set", (element,), TRUTH) if in_memory else element


def point_of(subset: Subset) -> tuple[Expr, ...]:
    """The indices of a single element; ranges of one element count as points."""
    return tuple(dim.start if isinstance(dim, Range) else dim for dim in subset.dims)


def write(context: Context, memlet: Memlet, value: LirExpr, source: DType) -> None:
    """Store a value of dtype `source` where a memlet says, resolving the conflict if it asks for that."""
    place = context.locations[memlet.container]
    if is_stream(place):
        push(context, memlet, convert(value, source, place.dtype))
        return
    if not memlet.wcr:
        target = context.lanes.get(memlet) or place.element(point_of(memlet.subset), context.symbolic)
        context.emit(Assign(target, convert(value, source, place.dtype)))
        return
    key = location(memlet)
    accumulator = context.accumulators.get(key)
    if accumulator is None:
        target = place.element(point_of(memlet.subset), context.symbolic)
        combination, combined = ReductionOperator(memlet.wcr, place.dtype), convert(value, source, place.dtype)
        context.emit(Update(target, combined, combination, races(context, memlet)))
    else:
        _fold(context, accumulator, value, source)


def _fold(context: Context, accumulator: Accumulator, value: LirExpr, source: DType) -> None:
    """Combine a value with an accumulator: a complex one by its parts."""
    combination = ReductionOperator(accumulator.op, accumulator.dtype)
    if accumulator.imag is None:
        combined = to_accumulator(accumulator, value, source)
        context.emit(Update(accumulator.variable, combined, combination, atomic=False))
        return
    assert accumulator.stands_for is not None  # of parts
    term = Name(context.names.fresh("term"), accumulator.stands_for)
    context.emit(Declare(term.name, term.type, convert(value, source, accumulator.stands_for), constant=True))
    for variable, part in zip(accumulator.variables, ("real", "imag"), strict=True):
        context.emit(Update(variable, Field(term, part, accumulator.dtype), combination, atomic=False))


def races(context: Context, memlet: Memlet) -> bool:
    """Return whether two iterations that run at the same time may write the same location."""
    if context.kernel is not None:
        return device_of(context).races(context, memlet)
    scope = context.parallel
    if scope is None:
        root = context.uses.root(memlet.container)
        return context.shared_writes and not context.uses.desc(root).transient
    return threads_race(memlet, scope.map, scope.inner_symbols, context.uses, scope.tiles)

"""Dependence chains: how long an iteration waits for the one before, if it needs what that one has computed.

A chain goes from a read of what an earlier iteration has written, through operations that each wait for the one before,
to the write that the next iteration reads. Chains of the axes inside are independent, and go on at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcpy.ir.analysis.costs.cache_lines import AddressPattern
from dcpy.ir.analysis.costs.counted_nests import CountedStatement, RegionPhase
from dcpy.ir.analysis.costs.work_estimates import code_of, cost_of_operation
from dcpy.ir.expressions.scalar import Op, Ref, ScalarExpr, children, walk
from dcpy.ir.field_roles import Role
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.tree import Element

Lattice = tuple[str, object]
Read = tuple[int, str, Memlet, AddressPattern | None]  #: statement, connector, what is read, and where
_OF_INTEGERS = 4  #: so much sooner than sums of floats are those of integers there


def chain_of(phase: RegionPhase, depth: int, lanes: int, costs: Costs) -> float:
    """Picoseconds that the longest chain of a phase takes, while its axes from number `depth` on run once.

    `lanes`: partial results of a reduction that vectors hold side by side along the innermost axis; 1: none.
    """
    longest = 0.0
    for axis, distance, latency, reduces in _carried(phase, costs):
        if axis < depth:
            continue
        steps = 1.0
        for trips in phase.trips[depth : axis + 1]:
            steps *= trips
        side_by_side = lanes if reduces and axis == len(phase.axes) - 1 else 1
        longest = max(longest, steps * latency / distance / side_by_side * phase.share)
    return longest


def _carried(phase: RegionPhase, costs: Costs) -> Iterator[tuple[int, int, int, bool]]:
    """Each chain: the axis that carries it, over how many iterations, picoseconds, and whether it is a reduction."""
    reads, first_writes = _reads_by_lattice(phase), _first_writes(phase)
    for position, statement in enumerate(phase.statements):
        for memlet, pattern in _written(statement):
            if memlet.wcr:
                axis = _innermost_without(pattern, phase, memlet)
                if axis is not None:
                    yield axis, 1, costs.processor.latencies.add, True
                continue
            for start, name, read, place in reads.get(_lattice(memlet, pattern), ()):
                found = _distance(phase, (read, place), (memlet, pattern)) if start <= position else None
                if found is None or first_writes.get((read.container, _place(place)), start) < start:
                    continue
                latency = _latency(phase.statements[start : position + 1], name, memlet, costs)
                if latency is not None:
                    yield *found, latency, False


def _written(statement: CountedStatement) -> Iterator[tuple[Memlet, AddressPattern | None]]:
    return zip(statement.element.writes(), statement.writes, strict=True)


def _innermost_without(pattern: AddressPattern | None, phase: RegionPhase, memlet: Memlet) -> int | None:
    """The innermost axis along which one element is written again and again."""
    if pattern is None:
        return None if memlet.container in phase.region.containers or not phase.axes else len(phase.axes) - 1
    still = (axis for axis, step in enumerate(pattern.steps) if step == 0 and phase.axes[axis].trips > 1)
    return None if pattern.scattered else max(still, default=None)


def _reads_by_lattice(phase: RegionPhase) -> dict[Lattice, list[Read]]:
    """The reads of tasklets that may meet a write, by what both have in common; in order."""
    found: dict[Lattice, list[Read]] = {}
    for start, statement in enumerate(phase.statements):
        for (name, read), place in zip(_connected(statement, Role.READ), statement.reads, strict=False):
            found.setdefault(_lattice(read, place), []).append((start, name, read, place))
    return found


def _lattice(memlet: Memlet, pattern: AddressPattern | None) -> Lattice:
    """Return what accesses have in common that meet in some iterations: a container, and the steps along the axes."""
    return (memlet.container, None) if pattern is None else (pattern.container, pattern.steps)


def _first_writes(phase: RegionPhase) -> dict[tuple[str, object], int]:
    """The position in an iteration at which each location is written first."""
    found: dict[tuple[str, object], int] = {}
    for position, statement in enumerate(phase.statements):
        for memlet, pattern in _written(statement):
            found.setdefault((memlet.container, _place(pattern)), position)
    return found


def _distance(
    phase: RegionPhase, read: tuple[Memlet, AddressPattern | None], write: tuple[Memlet, AddressPattern | None]
) -> tuple[int, int] | None:
    """The axis along which a read meets a write of an earlier iteration, and how many iterations earlier."""
    source, target = read[1], write[1]
    if source is None or target is None:
        same = read[0].container == write[0].container and source is target
        axis = _innermost_without(None, phase, write[0]) if same else None
        return None if axis is None or not _keeps_order(phase, axis) else (axis, 1)
    if (source.container, source.steps) != (target.container, target.steps) or source.scattered or target.scattered:
        return None
    away = target.base - source.base
    if away == 0:
        axis = _innermost_without(target, phase, write[0])
        return None if axis is None or not _keeps_order(phase, axis) else (axis, 1)
    for axis in reversed(range(len(phase.axes))):
        step = target.steps[axis]
        if step and away % step == 0 and 0 < away // step < phase.axes[axis].trips and _keeps_order(phase, axis):
            return axis, away // step
    return None


def _keeps_order(phase: RegionPhase, axis: int) -> bool:
    return not phase.axes[axis].axis.is_parallel


def _place(pattern: AddressPattern | None) -> tuple[object, ...] | None:
    return None if pattern is None else (pattern.container, pattern.base, pattern.steps)


def _latency(statements: list[CountedStatement], name: str, target: Memlet, costs: Costs) -> int | None:
    """Picoseconds from a connector of the first statement to a write of the last one; None where it does not depend."""
    late: dict[tuple[str, str], int] = {}
    for number, statement in enumerate(statements):
        known = {} if number else {name: 0}
        for connector, memlet in _connected(statement, Role.READ):
            if _key(memlet) in late:
                known[connector] = late[_key(memlet)]
        known = _through(statement.element, known, costs)
        for connector, memlet in _connected(statement, Role.WRITTEN):
            if connector in known:
                late[_key(memlet)] = known[connector]
            else:
                late.pop(_key(memlet), None)
    return late.get(_key(target))


def _key(memlet: Memlet) -> tuple[str, str]:
    return memlet.container, str(memlet.subset)


def _connected(statement: CountedStatement, role: Role) -> list[tuple[str, Memlet]]:
    """Return the memlets that a tasklet reads, or writes, by connector."""
    if not code_of(statement.element):
        return []
    return [(each.connector, each.memlet) for each in statement.element.operands() if each.role is role]


def _through(element: Element, known: dict[str, int], costs: Costs) -> dict[str, int]:
    found = dict(known)
    for name, expr in code_of(element):
        latency = _of_expression(expr, found, costs)
        if latency is not None:
            found[name] = latency
    return found


def _of_expression(expr: ScalarExpr, known: Mapping[str, int], costs: Costs) -> int | None:
    """The longest way to the value of an expression from a name that is late. Not recursive: some trees are deep."""
    late: dict[int, int | None] = {}
    for part in reversed(list(walk(expr))):
        if isinstance(part, Ref):
            late[id(part)] = known.get(part.name)
            continue
        ways = [way for child in children(part) if (way := late[id(child)]) is not None]
        late[id(part)] = max(ways) + _of_operation(part, costs) if ways else None
    return late[id(expr)]


def _of_operation(part: ScalarExpr, costs: Costs) -> int:
    latencies = costs.processor.latencies
    if not isinstance(part, Op) or not part.args[0].dtype.is_inexact:
        return latencies.add // _OF_INTEGERS
    return latencies.of(part.name, cost_of_operation(part, costs))

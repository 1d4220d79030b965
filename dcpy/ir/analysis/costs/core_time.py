"""Core time: the cycles that the statements of a phase take, operations and accesses, in vectors or one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dcpy.ir.analysis.costs.cache_lines import AddressPattern
from dcpy.ir.analysis.costs.counted_nests import CountedStatement, RegionPhase
from dcpy.ir.analysis.costs.work_estimates import cost_of_operation
from dcpy.ir.analysis.dependence.loop_nests import Axis
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Cast, Op, walk
from dcpy.ir.machine_model import UNIT, Costs
from dcpy.ir.schedules import Parallel, Schedule, Vector

WORD = 8  #: bytes of the elements that costs are of
ALONE = 2  #: so many times as long as in a vector takes a function of one number


@dataclass(frozen=True, slots=True)
class CoreTime:
    """Picoseconds of one run of the statements of a phase.

    `vectorized` is what the operations would take in vectors, `count` how many there are; `calls` are of functions that
    divide their work among cores themselves.
    """

    operations: float
    accesses: float
    vectorized: float
    count: float
    calls: float = 0.0


def is_vector(phase: RegionPhase, schedule_of: Callable[[Axis], Schedule]) -> bool:
    """Return whether the iterations of the innermost axis run in vectors."""
    if not phase.axes:
        return False
    schedule = schedule_of(phase.axes[-1].axis)
    return isinstance(schedule, Vector) or (isinstance(schedule, Parallel) and schedule.width != 1)


def lanes_of(phase: RegionPhase, costs: Costs) -> int:
    """Elements of a vector: of the largest that the phase has in memory."""
    largest = max((pattern.itemsize for statement in phase.statements for pattern in statement.patterns), default=WORD)
    return max(1, costs.processor.vector_bytes // largest)


def computing_time(phase: RegionPhase, vector: bool, costs: Costs) -> CoreTime:
    """The time of one run of the statements."""
    exprs = [expr for statement in phase.statements for expr in statement.element.exprs()]
    parts = [part for expr in exprs for part in walk(expr) if isinstance(part, Op | Cast)]
    vectorized = sum(_operation(part, costs, True) for part in parts)
    called = [_call(statement, costs) for statement in phase.statements if _calls(statement)]
    return CoreTime(
        vectorized if vector else sum(_operation(part, costs, False) for part in parts),
        _accesses(phase, vector, costs),
        vectorized + sum(alone for _, _, alone in called),
        len(parts) + sum(count for count, _, _ in called),
        sum(together for _, together, _ in called),
    )


def _operation(part: Op | Cast, costs: Costs, vector: bool) -> float:
    """Picoseconds of an operation on one element."""
    of = part.args[0].dtype if isinstance(part, Op) else part.dtype
    wide = of.itemsize / WORD
    units = cost_of_operation(part, costs) if isinstance(part, Op) else 1
    if units > 1:
        return units * UNIT * (wide if vector else ALONE)
    lanes = costs.processor.vector_bytes // WORD
    return costs.processor.operation * (wide if vector else lanes)


def _accesses(phase: RegionPhase, vector: bool, costs: Costs) -> float:
    """Picoseconds of loads and stores, each place once: one that does not move is loaded before the loop."""
    places = dict.fromkeys(pattern for statement in phase.statements for pattern in statement.patterns)
    return sum(_access(pattern, phase, vector, costs) for pattern in places)


def _access(pattern: AddressPattern, phase: RegionPhase, vector: bool, costs: Costs) -> float:
    processor = costs.processor
    byte = 1e6 / processor.l1_speed
    if pattern.inside:
        return byte * pattern.bytes
    step = abs(pattern.steps[-1]) if pattern.steps else 0
    if not step and not pattern.scattered:
        return byte * processor.vector_bytes / max(phase.trips[-1] if phase.trips else 1, 1)
    if not vector:
        return byte * processor.vector_bytes
    return byte * pattern.itemsize if step == pattern.itemsize else float(processor.gather)


# -- calls -------------------------------------------------------------------------------------------------------------


def _calls(statement: CountedStatement) -> bool:
    return bool(statement.element.callees() or Effect.CALLS_OUT in statement.element.effects)


def _call(statement: CountedStatement, costs: Costs) -> tuple[float, float, float]:
    """Operations of a call, picoseconds on all cores, and of all of them together."""
    processor = costs.processor
    if Effect.CALLS_OUT not in statement.element.effects or Effect.ORDERED in statement.element.effects:
        return 0.0, costs.call * UNIT, costs.call * UNIT
    count = _operations_of_product(statement)
    together = processor.call + count * 1e6 / processor.product_speed_all
    return count, together, together * processor.cores


def _operations_of_product(statement: CountedStatement) -> float:
    """Operations of a contraction: each dimension is one of two of the three operands, or twice one of the result's."""
    read = [pattern for pattern in statement.reads if pattern is not None]
    written = [pattern for pattern in statement.writes if pattern is not None]
    results = [each for each in written if all(other.container != each.container for other in read)]
    sizes = [pattern.bytes / pattern.itemsize for pattern in (*read, *results)]
    if len(read) == len(results) == 1:
        return 2.0 * sizes[0] * math.sqrt(sizes[1])
    return 2.0 * math.sqrt(math.prod(sizes)) if sizes else 0.0

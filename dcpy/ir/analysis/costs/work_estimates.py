"""Work estimates: how much a map computes, for decisions about threads, never for legality.

The unit is about a tenth of a nanosecond of one core (`ir.machine_model.Costs`): an operation on registers in
vectorized code, or a few bytes moved to or from the cache. Where little work is done, and the decision matters, data
lie in the cache; neighbours in an array come from it together, so it counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dcpy.base.assumptions import NOTHING
from dcpy.base.errors import SymbolicError
from dcpy.ir.data import Stream
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Const, Index, Op, ScalarExpr, walk
from dcpy.ir.expressions.small_powers import cost_of_power, twice_the_exponent
from dcpy.ir.field_roles import Role, Runs
from dcpy.ir.machine_model import Costs
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, min_of
from dcpy.ir.tree import Element, subtree


def work_of(node: Map, sdfg: Sdfg, costs: Costs) -> tuple[tuple[Expr, ...], int]:
    """``(factors, units)``: the map does about their product of work; the factors count iterations, inner ones too."""
    ranges, units = _ranges_of_work(node, TypicalValues(sdfg, costs))
    return tuple(values.size for values in ranges if values != ONCE), units


LOAD = 32  # bytes from the cache take as long as an element from memory


def takes_longer_than_a_load(units: int, costs: Costs) -> bool:
    """Return whether so much work on an element takes longer than to load a result that is kept in memory."""
    return units * costs.bytes_per_unit > LOAD


ONCE = Range(ZERO, ONE)


def _ranges_of_work(node: Map, typical: TypicalValues) -> tuple[tuple[Range, ...], int]:
    ranges = tuple(_typical(values, node, position) for position, values in enumerate(node.domain))
    longest = max(_parts_of(node.body), key=lambda part: _cost_of(part.element, typical.anew()), default=None)
    if longest is not None:
        trips, units = _ranges_of_work(longest.inner, typical)
        ranges, trips = _without_tiles(node, ranges, trips)
        trips = tuple(_typical(values, node, len(node.domain)) for values in (*longest.loops, *trips))
        if not _symbols_inside(node.body) & {name for values in trips for name in values.symbols}:
            return ranges + trips, units
    return ranges, _cost_of_iteration(node, typical.anew())


def _without_tiles(
    node: Map, ranges: tuple[Range, ...], trips: tuple[Range, ...]
) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
    """The ranges of a map and those inside it, where steps from tile to tile and within one count as one range."""
    outer, inner = list(ranges), list(trips)
    for position, (param, values) in enumerate(zip(node.params, ranges, strict=True)):
        for depth, part in enumerate(inner):
            if part.start.name == param and min_of(part.stop, part.start + values.step) is part.stop:
                outer[position], inner[depth] = Range(values.start, values.stop), ONCE
    return tuple(outer), tuple(inner)


@dataclass(frozen=True, slots=True)
class _MapInLoops:
    """A map of a region, or a loop in which there is one: that, the map, and the ranges of the loops around it."""

    element: Element
    inner: Map
    loops: tuple[Range, ...] = ()


def _parts_of(region: Region) -> list[_MapInLoops]:
    """The maps of a region, those in loops and on sides of branches, too: the work is about that of the longest one."""
    found: list[_MapInLoops] = []
    for block in region.blocks:
        if isinstance(block, State):
            found += [_MapInLoops(node, node) for node in block.nodes if isinstance(node, Map)]
        elif isinstance(block, Loop):
            found += [_MapInLoops(block, part.inner, (block.range, *part.loops)) for part in _parts_of(block.body)]
        elif block.runs is Runs.PERHAPS:
            found += [part for side in block.regions() for part in _parts_of(side)]
    return found


def _symbols_inside(region: Region) -> set[str]:
    return {name for element in subtree(region) for name in element.all_of(Role.DEFINED)}


def _typical(values: Range, node: Map, count: int) -> Range:
    """A range without the first `count` parameters of a map: each at its last value, where the range is longest.

    A range that starts at a parameter (a tile, the upper half of a matrix) is longest at the first one.
    """
    for name, outer in zip(reversed(node.params[:count]), reversed(node.domain[:count]), strict=True):
        values = values.subs({name: outer.start if name in values.start.symbols else outer.last})
    return values


def _typical_values(sdfg: Sdfg, size: int) -> dict[str, int]:
    """Values of symbols of which something is assumed: the hint, else a typical size as far as that is in the range."""
    found = {}
    for name, assumed in sdfg.assumed.items():
        value = size if assumed.most is None else min(size, assumed.most)
        value = value if assumed.least is None else max(value, assumed.least)
        found[name] = value if assumed.typical is None else assumed.typical
    return found


def expected(value: Expr, sdfg: Sdfg) -> tuple[int, str] | None:
    """Return the value of an expression in a typical run, and the values of symbols; None unless all have hints."""
    hints = {name: sdfg.assumed.get(name, NOTHING).typical for name in value.symbols}
    known = {name: hint for name, hint in hints.items() if hint is not None}
    if len(known) < len(hints):
        return None
    try:
        number = value.evaluate(known)
    except SymbolicError:
        return None
    return number, ", ".join(f"{name} = {hint}" for name, hint in known.items())


@dataclass(frozen=True)
class _AssignedValues:
    """First values of assigned symbols, looked up once for many questions about one program."""

    sdfg: Sdfg

    @cached_property
    def first(self) -> dict[str, Expr]:
        found: dict[str, Expr] = {}
        for block in self.sdfg.body.walk_blocks():
            for name, value in zip(block.all_of(Role.DEFINED), block.all_of(Role.SCALAR), strict=False):
                if isinstance(value, Index):
                    found.setdefault(name, value.value)
        return found


class TypicalValues(dict[str, int]):
    """Values of symbols in a typical run: as the user says, else of typical size; parameters are where they start.

    A symbol that the program assigns has the first value that it is given.
    """

    def __init__(self, sdfg: Sdfg, costs: Costs, assigned: _AssignedValues | None = None) -> None:
        super().__init__(_typical_values(sdfg, costs.typical_size))
        self.sdfg, self.costs = sdfg, costs
        self.given = {*sdfg.sizes, *sdfg.arguments}
        self.assigned = assigned or _AssignedValues(sdfg)

    def anew(self) -> TypicalValues:
        """The same without the parameters that were set: those of another map."""
        return TypicalValues(self.sdfg, self.costs, self.assigned)

    def __missing__(self, name: str) -> int:
        if name in self.given:
            return self.costs.typical_size
        self[name] = 0  # also what it is in its own definition
        assigned = self.assigned.first.get(name)
        if assigned is not None:
            self[name] = self.value(assigned)
        return self[name]

    def trips(self, size: Expr) -> int:
        """Return the number of iterations."""
        return max(self.value(size), 0)

    def value(self, expr: Expr) -> int:
        """A typical value; a typical size where it divides by a symbol that is not known yet."""
        try:
            return expr.evaluate(self)
        except SymbolicError:
            return self.costs.typical_size

    def starting(self, param: str, values: Range) -> int:
        """Set a parameter to its first value; return how many it takes."""
        trips = self.trips(values.size)
        self[param] = self.value(values.start)
        return trips


def cost_of_iteration(node: Map, sdfg: Sdfg, costs: Costs) -> int:
    """Units of work of one run of the body, at least 1."""
    return _cost_of_iteration(node, TypicalValues(sdfg, costs))


def _cost_of_iteration(node: Map, typical: TypicalValues) -> int:
    for param, values in zip(node.params, node.domain, strict=True):
        typical.starting(param, values)
    return max(_cost_of_region(node.body, typical), 1)


def _cost_of_region(region: Region, typical: TypicalValues) -> int:
    return sum(_cost_of(block, typical) for block in region.blocks)


def _cost_of(element: Element, typical: TypicalValues) -> int:
    if isinstance(element, State):
        return sum(_cost_of(node, typical) for node in element.nodes)
    bodies = element.regions()
    if not bodies:
        return _cost_of_node(element, typical) if isinstance(element, Node) else 1
    trips = typical.costs.typical_size if element.runs is Runs.AGAIN else 1
    for param, values in element.iteration_space():
        trips *= typical.starting(param, values)
    costs = [_cost_of_region(body, typical) for body in bodies]
    return 1 + max(costs) if element.runs is Runs.PERHAPS else trips * sum(costs)


def _cost_of_node(node: Node, typical: TypicalValues) -> int:
    match node:
        case Tasklet(code=code):
            accessed = dict.fromkeys(memlet.container for memlet in (*node.reads(), *node.writes()))
            moved = sum(_bytes(container, node, typical.sdfg) for container in accessed)
            computed = sum(cost_of_code(expr, typical.costs) for _, expr in code)
            return -(-moved // typical.costs.bytes_per_unit) + computed
        case Copy(src=src):
            moved = 2 * typical.trips(src.volume) * _bytes(src.container, node, typical.sdfg)
            return moved // typical.costs.bytes_per_unit
    return typical.costs.call if node.callees() or Effect.CALLS_OUT in node.effects else 1


def code_of(element: Element) -> tuple[tuple[str, ScalarExpr], ...]:
    """Return the code of a tasklet, by connector; other elements have none."""
    return element.code if isinstance(element, Tasklet) else ()


def cost_of_code(expr: ScalarExpr, costs: Costs) -> int:
    """Units of work of the operations of an expression."""
    return sum(cost_of_operation(part, costs) for part in walk(expr) if isinstance(part, Op))


def cost_of_operation(operation: Op, costs: Costs) -> int:
    """Units of work of an operation alone, without what computes its operands."""
    if operation.name == "pow" and isinstance(operation.args[1], Const):
        twice = twice_the_exponent(operation.args[1].value, operation.dtype.kind)
        if twice:
            return cost_of_power(twice, costs.operations)
    return costs.operations.of(operation.name)


def _bytes(container: str, node: Node, sdfg: Sdfg) -> int:
    desc = sdfg.desc(container, None if node.state is None else node.state.region)
    return desc.dtype.itemsize if desc.shape and not isinstance(desc, Stream) else 0

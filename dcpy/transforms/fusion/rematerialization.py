"""Rematerialization: elements that depend only on their indices are computed at their reads, not stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array, Lifetime, Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Op, ScalarExpr, cast, substitute_refs, substitute_symbols, walk
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import dominates, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.inlining import Inlining, compute_before
from dcpy.transforms.fusion.pointwise import Temporary, only_result

Numbers = list[int | None]

CHEAP = 8  # units of work that take no longer than to load an element that no cache holds


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The maps that write an array, and the map that computes the element of each read."""

    tmp: str
    writers: tuple[Map, ...]
    reads: tuple[tuple[Tasklet, str, Map], ...]  # the reader, its connector


@dataclass(frozen=True)
class Rematerialization(Transformation[Recomputed]):
    """Recompute elements that maps made from indices and symbols at each read, and erase the array.

    before   map i = 0:N { g[0, i] = i }                      after   loop t { map i = 0:N {
             map i = 0:N { g[1, i] = N - i }                            y[i] = (N - i) * x[i] } }
             loop t { map i = 0:N { y[i] = g[1, i] * x[i] } }

    Applies to transients without views that are no results: `np.arange`, `np.mgrid`, `np.linspace`, `np.full`. Each
    map writes a part of its own, which a number among the indices identifies, without reading memory, in a few
    operations; each reader is a tasklet that comes after it, reads single elements, and sees the symbols of the map.
    (Briggs, Cooper and Torczon, Rematerialization, 1992.)
    """

    name: ClassVar[str] = "rematerialization"
    optional: ClassVar[bool] = True
    producer = capture(Map)
    pattern = one(producer)

    costs: Costs = COSTS

    def plan(self, m: Match) -> Recomputed | Refusal:
        """The producer of each read."""
        producer, uses = m[self.producer], m.uses
        result = only_result(producer, uses)
        if isinstance(result, Refusal):
            return result
        tmp = result.container
        desc = uses.desc(tmp)
        if not isinstance(desc, Array) or not uses.is_private(tmp) or len(uses.overlapping(tmp)) > 1:
            return Refusal(f"{tmp!r} must stay in memory: it is an argument, a result, or has views")
        if desc.lifetime is not Lifetime.SCOPE:
            return Refusal(f"{tmp!r} outlives the run")
        writers = self._writers(tmp, uses)
        if isinstance(writers, Refusal):
            return writers
        reads = tuple(_reads(tmp, writers, uses))
        for read in reads:
            if isinstance(read, Refusal):
                return read
        if not reads:
            return Refusal(f"{tmp!r} is not read")
        return Recomputed(tmp, tuple(writers), tuple(read for read in reads if not isinstance(read, Refusal)))

    def apply(self, m: Match, plan: Recomputed, rw: Rewriter) -> None:
        computed: dict[tuple[Tasklet, Subset], str] = {}
        for reader, connector, writer in plan.reads:
            memlet = reader.inputs[connector]
            formula = _formula(writer, plan.tmp, memlet, rw.uses)
            if formula is not None:
                code = tuple((name, substitute_refs(expr, {connector: formula})) for name, expr in reader.code)
                inputs = {name: other for name, other in reader.inputs.items() if name != connector}
                rw.update(reader, inputs=inputs, code=code)
                continue
            if (reader, memlet.subset) not in computed:
                axes = tuple(_axis(dim, writer) or "" for dim in _written(writer, plan.tmp).subset.dims)
                again = Inlining(Temporary(plan.tmp, axes), (reader,))
                computed[reader, memlet.subset] = compute_before(reader, memlet.subset, writer, again, rw)
            scalar = Memlet(computed[reader, memlet.subset], Subset())
            rw.update(reader, inputs=reader.inputs | {connector: scalar})
        for writer in plan.writers:
            state = writer.state
            rw.erase(writer)
            if state is not None and not state.nodes:
                rw.erase(state)
        rw.undeclare_unused([plan.tmp])

    def _writers(self, tmp: str, uses: Uses) -> list[Map] | Refusal:
        """The maps that write the array. Refuses maps that read memory, are expensive, or overlap."""
        maps: list[Map] = []
        for element in uses.writers(tmp):
            around = [owner for owner in owners_around(element) if isinstance(owner, Map)]
            if not isinstance(element, Tasklet) or len(around) != 1:
                return Refusal(f"{tmp!r} is written by other than tasklets in a map", (element,))
            maps += [around[0]] if around[0] not in maps else []
        for writer in maps:
            unfit = only_result(writer, uses)
            if isinstance(unfit, Refusal):
                return unfit
            why = self._why_not_again(writer, tmp, uses)
            if why is not None:
                return why
        numbers = [_numbers(writer, tmp) for writer in maps]
        if not all(_differ(*pair) for pair in combinations(numbers, 2)):
            return Refusal(f"maps may write the same element of {tmp!r}")
        return maps

    def _why_not_again(self, writer: Map, tmp: str, uses: Uses) -> Refusal | None:
        """The reason not to recompute elements of a map; None if recomputing is allowed."""
        parts = [*writer.body.walk_nodes()]
        read = {name for part in parts for name in uses.accesses(part).reads} - set(writer.body.containers)
        if not all(_is_fixed(name, uses) for name in read):
            return Refusal("it reads memory")
        if effects_of(writer) is not Effect.NOTHING:
            return Refusal("it may raise, or do more than to compute")
        axes = [_axis(dim, writer) for dim in _written(writer, tmp).subset.dims]
        if None in axes or sorted(axis for axis in axes if axis) != sorted(writer.params):
            return Refusal(f"it does not compute an element of {tmp!r} for each of its indices")
        expressions = [part for node in parts for expr in node.exprs() for part in walk(expr)]
        operations = [part.name for part in expressions if isinstance(part, Op)]
        if sum(self.costs.operations.of(name) for name in operations) > CHEAP:
            return Refusal("to compute an element takes longer than to load it")
        symbols = {name for part in (writer, *parts) for name in uses.accesses(part).symbols} - set(writer.params)
        for symbol in symbols:
            assigned = [definer for definer in uses.definers(symbol) if isinstance(definer, SymbolAssign)]
            if len(assigned) > 1 or not all(dominates(block, writer) for block in assigned):
                return Refusal(f"symbol {symbol!r} may change before the element is read")
        return None


def _is_fixed(name: str, uses: Uses) -> bool:
    """Return whether it is a number that the caller gives, which nothing changes."""
    return isinstance(uses.desc(name), Scalar) and uses.desc(name).shape == () and not list(uses.writers(name))


def _formula(writer: Map, tmp: str, memlet: Memlet, uses: Uses) -> ScalarExpr | None:
    """The read element as an expression; None if the map needs several tasklets for it."""
    nodes = [*writer.body.walk_nodes()]
    if len(nodes) != 1 or not isinstance(nodes[0], Tasklet) or len(nodes[0].code) != 1 or nodes[0].inputs:
        return None
    dims = zip(_written(writer, tmp).subset.dims, memlet.subset.dims, strict=True)
    values = {axis: index for dim, index in dims if (axis := _axis(dim, writer)) and isinstance(index, Expr)}
    return cast(substitute_symbols(nodes[0].code[0][1], values), uses.desc(tmp).dtype)


def _written(writer: Map, tmp: str) -> Memlet:
    return next(memlet for node in writer.body.walk_nodes() for memlet in node.writes() if memlet.container == tmp)


def _axis(dim: object, writer: Map) -> str | None:
    """The parameter that indexes a dimension; "" if the index is a number, None for anything else."""
    if not isinstance(dim, Expr):
        return None
    if dim.constant is not None:
        return ""
    return dim.name if dim.name in writer.params else None


def _differ(some: Numbers, others: Numbers) -> bool:
    """Return whether two sets of elements differ in a constant index."""
    return any(a is not None and b is not None and a != b for a, b in zip(some, others, strict=True))


def _reads(tmp: str, writers: list[Map], uses: Uses) -> Iterator[tuple[Tasklet, str, Map] | Refusal]:
    for reader in uses.readers(tmp):
        if not isinstance(reader, Tasklet):
            yield Refusal(f"{tmp!r} is read by a {reader.kind}", (reader,))
            return
        for connector, memlet in reader.inputs.items():
            if memlet.container == tmp:
                yield _read(reader, connector, memlet, writers)


def _read(reader: Tasklet, connector: str, memlet: Memlet, writers: list[Map]) -> tuple[Tasklet, str, Map] | Refusal:
    """The only map that may have written the read element."""
    indices = [dim.constant if isinstance(dim, Expr) else None for dim in memlet.subset.dims]
    if not all(isinstance(dim, Expr) for dim in memlet.subset.dims):
        return Refusal(f"more than an element of {memlet.container!r} is read", (reader,))
    fitting = [writer for writer in writers if not _differ(_numbers(writer, memlet.container), indices)]
    if len(fitting) != 1 or not _is_of(fitting[0], memlet, indices):
        return Refusal(f"which map wrote what is read of {memlet.container!r} is known only at run time", (reader,))
    if not dominates(fitting[0], reader):
        return Refusal(f"{memlet.container!r} is read where it may not have been written", (reader,))
    return reader, connector, fitting[0]


def _numbers(writer: Map, tmp: str) -> Numbers:
    """The constant indices of a write; None for the other indices."""
    return [dim.constant if isinstance(dim, Expr) else None for dim in _written(writer, tmp).subset.dims]


def _is_of(writer: Map, memlet: Memlet, indices: Numbers) -> bool:
    """Return whether a read has the constant indices of a map's writes."""
    numbers = _numbers(writer, memlet.container)
    return all(number in (None, index) for number, index in zip(numbers, indices, strict=True))

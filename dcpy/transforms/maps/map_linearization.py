"""MapLinearization: rows of a few elements, one behind the other in memory, are one long row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, View, strides_of
from dcpy.ir.expressions.scalar import symbols_of
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class LongRow:
    """The two parameters that become one, how many values it has, and the containers that are seen as long rows."""

    params: tuple[str, str]
    size: Expr
    containers: tuple[str, ...]


@dataclass(frozen=True)
class MapLinearization(Transformation[LongRow]):
    """Loop linearization: make one parameter of the last two of a map whose elements lie one behind the other.

    before   map i = 0:N, j = 0:3 { B[i, j] = f(A[i, j]) }
    after    view A_row: f64[N*3] of A;  view B_row: f64[N*3] of B
             map k = 0:N*3 { B_row[k] = f(A_row[k]) }

    A row of 3 colours fills no vector, and a loop over it starts for each point. Applies to maps of tasklets whose
    accesses have both parameters, in this order and packed, or neither. It pays where the rows are short.
    """

    name: ClassVar[str] = "map-linearization"
    optional: ClassVar[bool] = True
    map = capture(Map)
    pattern = one(map)
    costs: Costs = COSTS

    def plan(self, m: Match) -> LongRow | Refusal:
        """The parameters; or what keeps them apart."""
        node = m[self.map]
        refusal = _why_no_points(node) or self._why_not_short(node)
        if refusal is not None:
            return refusal
        (outer, inner), (rows, row) = node.params[-2:], node.domain[-2:]
        moving = [memlet for memlet in _memlets(node) if {outer, inner} & {*memlet.subset.symbols}]
        for memlet in moving:
            if not _is_packed(memlet, outer, inner, row.size, m.uses):
                return Refusal(f"{memlet} does not lie row behind row")
        containers = dict.fromkeys(memlet.container for memlet in moving)
        return LongRow((outer, inner), rows.size * row.size, tuple(containers))

    def _why_not_short(self, node: Map) -> Refusal | None:
        """The reason that the last two axes are no short rows, one after the other."""
        (_, inner), (rows, row) = node.params[-2:], node.domain[-2:]
        count = row.size.constant
        if count is None or count >= self.costs.short_row:
            return Refusal(f"rows along {inner!r} are not known to be short")
        if any(values.start is not ZERO or values.step is not ONE for values in (rows, row)):
            return Refusal("a range has a step, or does not begin at 0")
        if {*node.params[-2:]} & {name for values in node.domain for name in values.symbols}:
            return Refusal("a range depends on another one")
        return None

    def apply(self, m: Match, plan: LongRow, rw: Rewriter) -> str:
        """Return the parameter."""
        node = m[self.map]
        param = rw.fresh_name(plan.params[1])
        names = {name: self._seen_as_row(name, m, rw) for name in plan.containers}
        for tasklet in list(node.body.walk_nodes()):
            rw.replace_memlets(tasklet, partial(_along_row, names, param))
        domain = (*node.domain[:-2], Range(ZERO, plan.size))
        rw.update(node, params=(*node.params[:-2], param), domain=domain)
        return param

    def _seen_as_row(self, name: str, m: Match, rw: Rewriter) -> str:
        desc = rw.uses.desc(name)
        assert isinstance(desc, Array | View)
        rows, row = desc.shape[-2:]  # all of them, also where the map goes over some
        shape = (*desc.shape[:-2], rows * row)
        offset = desc.offset if isinstance(desc, View) else ZERO
        view = View(name, desc.dtype, shape, (*strides_of(desc)[:-2], ONE), offset)
        return rw.declare_fresh(f"{name}_row", view, m.state.region)


def _why_no_points(node: Map) -> Refusal | None:
    """The reason that a map does not compute points from elements alone."""
    if not isinstance(node.schedule, Undecided) or len(node.params) < 2:
        return Refusal("the map has a schedule, or one parameter")
    if not all(isinstance(block, State) for block in node.body.blocks):
        return Refusal("there is more than tasklets inside")
    for inner in node.body.walk_nodes():
        if not isinstance(inner, Tasklet):
            return Refusal("there is more than tasklets inside")
        if {*node.params[-2:]} & {name for expr in inner.exprs() for name in symbols_of(expr)}:
            return Refusal("an index is a value of its own")
    return None


def _memlets(node: Map) -> Iterator[Memlet]:
    for inner in node.body.walk_nodes():
        yield from (*inner.reads(), *inner.writes())


def _is_packed(memlet: Memlet, outer: str, inner: str, row: Expr, uses: Uses) -> bool:
    """Return whether these parameters index the last two dimensions, which are rows of this size behind each other."""
    desc, dims = uses.desc(memlet.container), memlet.subset.dims
    if not isinstance(desc, Array | View) or memlet.dynamic or len(dims) < 2 or dims[-2:] != (sym(outer), sym(inner)):
        return False
    if any({outer, inner} & {*dim.symbols} for dim in dims[:-2]):
        return False
    return desc.shape[-1] == row and strides_of(desc)[-2:] == (row, ONE)


def _along_row(names: dict[str, str], param: str, memlet: Memlet) -> Memlet:
    if memlet.container not in names:
        return memlet
    subset = Subset((*memlet.subset.dims[:-2], sym(param)))
    return replace(memlet, container=names[memlet.container], subset=subset)

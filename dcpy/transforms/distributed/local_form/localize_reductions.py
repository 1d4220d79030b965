"""LocalizeReductions: where the extremum of a distributed array is: its value, then the first place that has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.expressions.scalar import Const, Index, Ref, op
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import region_of
from dcpy.transforms.distributed.accesses import outermost_nodes
from dcpy.transforms.distributed.resolved_placement import placed
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class LocalizeReductions(GraphPass):
    """Search for an extremum by two reductions, which ranks do in parts, where its operand is distributed.

    before   argreduce (x <- x[0:N]) -> (out -> p[]) {op = "min"}             # x: blocks
    after    reduce (x <- x[0:N]) -> (out -> value[]) {op = "min"}
             place = largest integer
             map i = 0:N { place (min)= i if x[i] == value or x[i] is NaN }
             copy place -> p

    The first place counts, and that of a NaN before all others, as in NumPy; places are the same to the last bit.
    """

    name: ClassVar[str] = "localize-reductions"

    def decide(self, rw: Rewriter) -> None:
        """Rewrite each search along a dimension that is dealt out."""
        for state, node in outermost_nodes(rw.sdfg):
            if node.kind == "argreduce":
                reason = _why_whole(node, rw.uses)
                if reason:
                    rw.remark(node, False, reason)
                else:
                    _split(state, node, rw)


def _why_whole(node: Any, uses: Uses) -> str:
    """Return why a search is not split; "" where it is."""
    memlet: Memlet = node.inputs["x"]
    where, dtype = placed(memlet.container, uses), uses.desc(memlet.container).dtype
    if not isinstance(where, Distribution):
        return "its operand is on each rank"
    kept = [axis for axis, dim in zip(where.axes, memlet.subset.dims, strict=True) if isinstance(dim, Range)]
    if all(kept[axis] is None for axis in node.axes):
        return "each rank has all of the dimensions that it searches"
    if dtype.kind not in "iuf":
        return f"{dtype} values are searched in one piece"
    return ""


def _split(state: State, node: Any, rw: Rewriter) -> None:
    source, target = node.inputs["x"], node.outputs["out"]
    dtype, shape = rw.uses.desc(source.container).dtype, source.subset.shape
    kept = tuple(dim for dim in range(len(shape)) if dim not in node.axes)
    sizes = tuple(shape[dim] for dim in kept)
    value, place = (
        rw.declare_fresh(f"{target.container}_{what}", Array.packed(kind, sizes, transient=True), region_of(state))
        for what, kind in (("value", dtype), ("place", types.int64))
    )
    params = tuple(rw.fresh_name("i") for _ in shape)
    indices = tuple(map(sym, params))
    at = Subset(tuple(indices[dim] for dim in kept))
    extremum = LIBRARY_KINDS["reduce"](
        inputs={"x": source}, outputs={"out": Memlet(value, Subset.whole(sizes))}, op=node.op, axes=tuple(node.axes),
        span=node.span,
    )  # type: ignore[call-arg]  # fmt: skip
    none = Const(extreme_value("min", types.int64), types.int64)
    a, v = Ref("a", dtype), Ref("v", dtype)
    found = op("or", op("eq", a, v), op("ne", a, a))
    here = op("select", found, Index(_position(tuple(node.axes), indices, shape)), none)
    element = Memlet(source.container, source.subset.compose(Subset(indices)))
    search = Tasklet({"a": element, "v": Memlet(value, at)}, {"out": Memlet(place, at, "min")}, (("out", here),))
    domain = tuple(Range(ZERO, size) for size in shape)
    before: list[Node] = [extremum, _filled(place, none, sizes, rw), Map(params, domain, _body(search), span=node.span)]
    rw.add_node_before(node, *before)
    rw.replace(node, Copy(Memlet(place, Subset.whole(sizes)), target, span=node.span))


def _filled(name: str, value: Const, sizes: tuple[Expr, ...], rw: Rewriter) -> Node:
    params = tuple(rw.fresh_name("i") for _ in sizes)
    task = Tasklet({}, {"out": Memlet(name, Subset(tuple(map(sym, params))))}, (("out", value),))
    return Map(params, tuple(Range(ZERO, size) for size in sizes), _body(task)) if params else task


def _body(task: Tasklet) -> Region:
    return Region((State("", [task]),))


def _position(axes: tuple[int, ...], indices: tuple[Expr, ...], shape: tuple[Expr, ...]) -> Expr:
    """The place among the dimensions that are searched, in C order."""
    place = ZERO
    for axis in sorted(axes):
        place = place * shape[axis] + indices[axis]
    return place

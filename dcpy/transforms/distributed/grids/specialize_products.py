"""SpecializeProducts: a product or reduction runs where that takes least, and its parts are combined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Ref, ScalarExpr, cast, op
from dcpy.ir.machine_model import NETWORK, Network
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym
from dcpy.ir.tree import region_of
from dcpy.ir.verify.rules.memlets import combines
from dcpy.transforms.distributed.accesses import outermost_nodes
from dcpy.transforms.distributed.grids.strategies import Argument, arguments_of, covers, runs_over_labels, strategies_of
from dcpy.transforms.distributed.resolved_placement import home_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class SpecializeProducts(GraphPass):
    """Decide where a library node runs that combines over a dimension: owner computes, or parts that are combined.

    before   blas.gemv (a <- A[0:N, 0:M], x <- x[0:N]) -> (y -> z[0:M]) {trans_a = true}     # A: rows in blocks
    after    data z_part: f64[M] transient on g(whole) partial 0 add
             blas.gemv (a <- A[0:N, 0:M], x <- x[0:N]) -> (y -> z_part[0:M]) {trans_a = true}
             copy z_part[0:M] -> z[0:M]                                                      # allreduce

    Where a label is dealt out that the result does not have, each rank makes a part of the whole result, and the copy
    out of it takes the sum. What was to be added is scaled in its place, and the parts are added to it. The strategy
    is the cheapest by the model of `strategies`. Sums are taken in another order; nothing else changes.
    """

    name: ClassVar[str] = "specialize-products"

    network: Network = NETWORK

    def decide(self, rw: Rewriter) -> None:
        """Give each result a temporary where its node makes it, and copy that to where the result lives."""
        for state, node in outermost_nodes(rw.sdfg):
            if runs_over_labels(node):
                specialize(state, node, rw, self.network)


def specialize(state: State, node: LibraryNode, rw: Rewriter, network: Network = NETWORK) -> None:
    """Decide for one node, and carry it out."""
    arguments = arguments_of(node, rw.uses)
    if not arguments or all(argument.where is None for argument in arguments):
        return
    reason = _why_whole(node, arguments, rw.uses)
    found = strategies_of(node, arguments, rw.uses, splits=not reason, network=network)
    if not found or found[0].home == home_of(node, rw.uses)[1]:
        return
    best, wanted = found[0], ", ".join(found[0].home) or "nothing"
    outputs = [argument for argument in arguments if argument.is_write]
    places = {each.name: best.placement_of(each, node.combination) for each in outputs}
    if not all(covers(each.memlet) for each in arguments):
        rw.remark(node, False, "it runs where its result lives: ranges have steps")
        return
    rw.remark(node, True, f"{wanted} is dealt out over {best.grid}" + (f"; {reason}" if reason else ""))
    for each in outputs:
        _stage(state, node, each, places[each.name], rw)


def _why_whole(node: LibraryNode, arguments: list[Argument], uses: Uses) -> str:
    """Return why the dimension that a node combines over is not distributed."""
    if not node.combination:
        return f"parts of a {node.kind} cannot be combined"
    results = [argument for argument in arguments if argument.is_write]
    for result in results:
        dtype = uses.desc(result.memlet.container).dtype
        if dtype == types.float16 or not combines(node.combination, dtype.kind):
            return f"sums of {dtype} are taken in one piece"
        memory = memory_of(result.memlet.container, uses.desc)
        for other in arguments:
            if other.name != result.name and memory_of(other.memlet.container, uses.desc) == memory:
                return f"{other.memlet} is read, and {result.memlet} is in the same memory"
    return ""


# -- carrying it out -------------------------------------------------------------------------------------------------


def _stage(
    state: State, node: LibraryNode, result: Argument, where: Distribution | None, rw: Rewriter
) -> None:
    """Make one result in a temporary, and copy that behind the node to where it belongs."""
    if where == result.where and result.memlet.subset == Subset.whole(rw.uses.desc(result.memlet.container).shape):
        return
    target, shape = result.memlet, result.memlet.subset.shape
    made = Array.packed(rw.uses.desc(target.container).dtype, shape, transient=True)
    made = made if where is None else replace(made, distribution=where)
    name = rw.declare_fresh(f"{target.container}_part", made, region_of(state))
    part = Memlet(name, Subset.whole(shape))
    inputs, changes = dict(node.inputs), dict[str, Any]()
    combine = ""
    if result.name in inputs:  # the summand, which stays where it is
        combine = "add"
        del inputs[result.name]
        factor = inputs.pop("beta", None)
        scale = _scaled(target, result, factor, getattr(node, "beta", 1), rw)
        if scale is not None:
            rw.add_node_before(node, scale)
        if hasattr(node, "beta"):
            changes["beta"] = 1
    rw.update(node, inputs=inputs, outputs=node.outputs | {result.name: part}, **changes)
    rw.add_node(Copy(part, replace(target, wcr=combine)), state, state.index(node) + 1)


def _scaled(
    target: Memlet, result: Argument, factor: Memlet | None, number: complex, rw: Rewriter
) -> Node | None:
    """``target = number * factor * target``, where it lives; None where that is what it is."""
    if factor is None and number == 1:
        return None
    dtype = rw.uses.desc(target.container).dtype
    value: ScalarExpr = Ref("old", dtype)
    if number != 1:
        value = op("mul", Const(number, dtype), value)
    params = tuple(rw.fresh_name("i") for _ in target.subset.shape)
    place = Memlet(target.container, target.subset.compose(Subset(tuple(map(sym, params)))))
    inputs = {"old": place}
    if factor is not None:
        value = op("mul", cast(Ref("factor", rw.uses.desc(factor.container).dtype), dtype), value)
        inputs["factor"] = factor
    task = Tasklet(inputs, {"out": place}, (("out", value),))
    if not params:
        return task
    domain = tuple(Range(ZERO, size) for size in target.subset.shape)
    axes = tuple(result.axes.get(label) for label in result.labels)
    home = None
    if result.where is not None and any(axis is not None for axis in axes):
        home = Distribution(result.where.grid, axes, result.where.rest)
    return Map(params, domain, Region((State("", [task]),)), home=home)

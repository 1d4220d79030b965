"""Packed values: elementwise results of what one mask selects, read off the dataflow before them.

A ``compress`` packs operands, maps compute with packed elements, the result is used. The same can be computed for
each element of the mask's shape, if nothing that these nodes read changes before the use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.costs.work_estimates import cost_of_iteration
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar
from dcpy.ir.expressions.scalar import symbols_of
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Region, State, SymbolAssign
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.tree import Element, child_of, region_of
from dcpy.libraries.indexing.nodes import Compress


@dataclass(frozen=True)
class SelectedValues:
    """Values with an entry along dimension `axis` for each element that `mask` selects.

    `makers` has for each temporary on the way to them the node that computes it.
    """

    mask: Memlet
    axis: int
    makers: Mapping[str, Map | Compress]

    def shape(self, packed: Sequence[Expr]) -> tuple[Expr, ...]:
        """The sizes of an array with the mask's dimensions instead of the packed one."""
        return (*packed[: self.axis], *self.mask.subset.shape, *packed[self.axis + 1 :])


def selected(
    values: Memlet, mask: Memlet | None, axis: int, user: LibraryNode, uses: Uses, costs: Costs
) -> SelectedValues | Refusal:
    """Return how a node's values follow from what a mask (this one, if given) selects; or why they do not."""
    makers: dict[str, Map | Compress] = {}
    pending = [values.container]
    while pending:
        name = pending.pop()
        if name in makers:
            continue
        maker = _maker(name, uses)
        inner = _packed_reads(maker, name, axis, uses) if isinstance(maker, Map) else []
        if isinstance(maker, Refusal):
            return maker
        if isinstance(inner, Refusal):
            return inner
        makers[name] = maker
        pending += inner
    if uses.desc(values.container).shape != values.subset.shape:
        return Refusal("only a part of what was selected is used")
    return _of_one_mask(makers, mask, axis) or _why_changed(makers, user, uses) or _made(makers, axis, uses, costs)


def source_of(maker: Compress, name: str) -> Memlet:
    """Return the memlet that is compressed into a temporary."""
    connector = next(connector for connector, memlet in maker.outputs.items() if memlet.container == name)
    return maker.inputs[f"x{connector[3:]}"]


def _made(makers: Mapping[str, Map | Compress], axis: int, uses: Uses, costs: Costs) -> SelectedValues | Refusal:
    work = sum(cost_of_iteration(maker, uses.sdfg, costs) for maker in makers.values() if isinstance(maker, Map))
    if work > costs.predicated:
        return Refusal(f"it takes {work} units of work per element: those that are not selected would cost too much")
    mask = next(maker.inputs["mask"] for maker in makers.values() if isinstance(maker, Compress))
    return SelectedValues(mask, axis, makers)


# -- what computes packed values ---------------------------------------------------------------------------------------


def _maker(name: str, uses: Uses) -> Map | Compress | Refusal:
    """The one node that computes a temporary."""
    if not isinstance(uses.desc(name), Array) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
        return Refusal(f"{name!r} must stay in memory: it is an argument, a result, or has views")
    writers = uses.writers(name)
    alone = writers[0] if len(writers) == 1 else None
    maker = region_of(alone.state).owner if isinstance(alone, Tasklet) and alone.state else alone
    if not isinstance(maker, Map | Compress):
        return Refusal(f"{name!r} is not computed by one map or compression")
    return maker


def _packed_reads(maker: Map, name: str, axis: int, uses: Uses) -> list[str] | Refusal:
    """The packed arrays that a map reads, element by element, to compute another one; or why it does not do that."""
    point = _result_of(maker, name, uses)
    if point is None:
        return Refusal(f"the map that computes {name!r} does more than that, or something else", (maker,))
    packed = point[axis]
    found: dict[str, None] = {}
    for node in maker.body.walk_nodes():
        for memlet in node.reads():
            if str(packed) not in memlet.subset.symbols:
                continue
            at = memlet.subset.indices
            others = {symbol for k, index in enumerate(at) if k != axis for symbol in index.symbols}
            if len(at) <= axis or at[axis] is not packed or str(packed) in others:
                return Refusal(f"{memlet.container!r} is not read element by element", (maker,))
            found[memlet.container] = None
        if any(str(packed) in symbols_of(expr) for expr in node.exprs()):
            return Refusal("the number of an element among the selected ones is used", (maker,))
    return list(found)


def _result_of(maker: Map, name: str, uses: Uses) -> tuple[Expr, ...] | None:
    """The parameters of a map along the dimensions of the one array that its tasklets compute; None for other maps."""
    blocks, private = maker.body.blocks, maker.body.containers
    nodes = list(maker.body.walk_nodes())
    if len(blocks) != 1 or not isinstance(blocks[0], State) or not all(isinstance(node, Tasklet) for node in nodes):
        return None
    if not all(isinstance(desc, Scalar) for desc in private.values()):
        return None
    writes = [memlet for node in nodes for memlet in node.writes()]
    results = [memlet for memlet in writes if memlet.container not in private]
    if any(memlet.wcr for memlet in writes) or [memlet.container for memlet in results] != [name]:
        return None
    if name in names_in(maker, uses)[0]:
        return None
    point = results[0].subset.indices
    domain = {param: values for param, values in zip(maker.params, maker.domain, strict=True)}
    runs = [domain.pop(str(index), None) for index in point]
    return point if not domain and runs == [Range(ZERO, size) for size in _shape(name, uses)] else None


def _shape(name: str, uses: Uses) -> tuple[Expr, ...]:
    desc = uses.desc(name)
    assert isinstance(desc, Array)
    return desc.shape


# -- whether it can be computed later ----------------------------------------------------------------------------------


def _of_one_mask(makers: Mapping[str, Map | Compress], mask: Memlet | None, axis: int) -> Refusal | None:
    packed = [maker for maker in makers.values() if isinstance(maker, Compress)]
    if not packed:
        return Refusal("nothing of it was selected by a mask")
    wanted = mask or packed[0].inputs["mask"]
    if any(maker.inputs["mask"] != wanted or maker.axis != axis for maker in packed):
        return Refusal("not all of it was selected by one mask")
    return None


def _why_changed(makers: Mapping[str, Map | Compress], user: LibraryNode, uses: Uses) -> Refusal | None:
    """Return a refusal if the makers read what may change before the user runs; None otherwise."""
    region = region_of(user.state) if user.state else None
    nodes = dict.fromkeys(makers.values())
    if region is None or any(node.state is None or region_of(node.state) is not region for node in nodes):
        return Refusal("it is not computed and used in one region")
    end = _moment(user, region)
    for node in nodes:
        start = _moment(node, region)
        if not start < end:
            return Refusal("it is used before it is computed, in a loop")
        for name in (other for read in names_in(node, uses)[0] for other in uses.overlapping(read)):
            writer = next((w for w in uses.writers(name) if start < _moment(w, region) < end), None)
            if name not in makers and writer is not None:
                return Refusal(f"{name!r}, which it is computed from, is written in between", (writer,))
        for symbol in (symbol for part in (node, *_inside(node)) for symbol in uses.accesses(part).symbols):
            definers = (d for d in uses.definers(symbol) if isinstance(d, SymbolAssign))
            if any(start < _moment(definer, region) < end for definer in definers):
                return Refusal(f"the symbol {symbol!r} changes in between")
    return None


def _inside(node: Node) -> Iterator[Node]:
    return (inner for body in node.regions() for inner in body.walk_nodes())


def _moment(element: Element, region: Region) -> tuple[int, int]:
    """Return the time of an element, as seen from a region; elements outside of it run as if before."""
    block = child_of(region, element)
    if block is None:
        return -1, -1
    node = child_of(block, element) if isinstance(block, State) else None
    return region.index(block), block.index(node) if isinstance(block, State) and node is not None else -1

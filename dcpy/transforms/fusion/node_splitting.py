"""NodeSplitting: copies of the elements in conflict between two maps, so that the maps can be fused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import subtree
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.map_fusion import fusion_of


@dataclass(frozen=True)
class Ahead:
    """A memlet of a map's body, the box that it reads over all iterations, and the parameters of that box."""

    read: Memlet
    whole: Memlet
    params: tuple[str, ...]


@dataclass(frozen=True)
class NodeSplitting(Transformation[tuple[Ahead, ...]]):
    """Break anti-dependences by copies of the conflicting elements, if these are fewer than those of the temporary.

    before   map i, j { t[i, j] = A[i, k] + A[k, j] }              after   copy A[0:N, k] -> c;  copy A[k, 0:N] -> r
             map i, j { A[i, j] = min(A[i, j], t[i, j]) }                  map i, j { t[i, j] = c[i] + r[j] }
                                                                           map i, j { A[i, j] = min(A[i, j], t[i, j]) }

    Applies where the maps could be fused but for elements that the first one reads and other iterations of the second
    one write, where these are a box with fewer dimensions than the maps have, and it is proved to be inside of the
    array. Fusion then leaves nothing of the temporary. (Kuck et al., Dependence graphs and compiler optimizations,
    1981.)
    """

    name: ClassVar[str] = "node-splitting"
    optional: ClassVar[bool] = True
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    def plan(self, m: Match) -> tuple[Ahead, ...] | Refusal:
        """The elements to copy. Refuses maps that cannot be fused even then, and boxes that are too large."""
        first, second, tmp, uses = m[self.first], m[self.second], m[self.tmp].container, m.uses
        conflicts = _conflicts(first, second, uses)
        if not conflicts:
            return Refusal("the first map reads nothing that the second one changes at fewer points")
        if not isinstance(fusion_of(first, second, tmp, uses), Refusal):
            return Refusal("the maps can be fused as they are")
        fusion = fusion_of(first, second, tmp, uses, without=conflicts)
        if isinstance(fusion, Refusal):
            return fusion
        found = [_ahead(read, first, uses) for read in conflicts]
        refusal = next((one for one in found if isinstance(one, Refusal)), None)
        return refusal or tuple(one for one in found if isinstance(one, Ahead))

    def apply(self, m: Match, plan: tuple[Ahead, ...], rw: Rewriter) -> Map:
        """Return the first map."""
        first = m[self.first]
        for ahead in plan:
            desc = rw.uses.desc(ahead.read.container)
            shape = ahead.whole.subset.shape
            region = m.state.region
            name = rw.declare_fresh("ahead", Array.packed(desc.dtype, shape, transient=True, span=desc.span), region)
            rw.add_node_before(first, Copy(ahead.whole, Memlet(name, Subset.whole(shape)), span=first.span))
            domain = dict(zip(first.params, first.domain, strict=True))
            place = Subset(tuple(sym(param) - domain[param].start for param in ahead.params))
            copied = {ahead.read: replace(ahead.read, container=name, subset=place)}
            for node in first.body.walk_nodes():
                if ahead.read in node.reads():
                    rw.update(node, inputs={key: copied.get(one, one) for key, one in _inputs(node).items()})
        return first


def _inputs(node: object) -> dict[str, Memlet]:
    inputs: dict[str, Memlet] = getattr(node, "inputs", {})
    return inputs


def _conflicts(first: Map, second: Map, uses: Uses) -> tuple[Memlet, ...]:
    """The reads of a map from arrays that another map writes, if several iterations read the same element."""
    written, own = (_written(node, uses) for node in (second, first))
    found: dict[Memlet, None] = {}
    for memlet in _reads(first):
        params = [param for param in first.params if param in memlet.subset.symbols]
        if memlet.container in written and memlet.container not in own and 0 < len(params) < len(first.params):
            found[memlet] = None
    return tuple(found)


def _written(node: Map, uses: Uses) -> set[str]:
    memlets = (memlet for inner in node.body.walk_nodes() for memlet in inner.writes())
    return {name for memlet in memlets for name in uses.overlapping(memlet.container)}


def _reads(node: Map) -> Iterator[Memlet]:
    for inner in node.body.walk_nodes():
        yield from _inputs(inner).values()


def _ahead(read: Memlet, first: Map, uses: Uses) -> Ahead | Refusal:
    """The box that a memlet reads over all iterations of a map."""
    domain = dict(zip(first.params, first.domain, strict=True))
    inside = {name for element in subtree(first) for name in element.all_of(Role.DEFINED)} - set(domain)
    if not inside.isdisjoint(read.subset.symbols) or read.dynamic:
        return Refusal(f"{read} depends on what the map computes")
    ranges, shape = uses.ranges_at(first), uses.desc(read.container).shape
    dims: list[DimSubset] = []
    params: list[str] = []
    for dim, size in zip(read.subset.dims, shape, strict=True):
        along = next((param for param in domain if param in dim.symbols), "")
        if not isinstance(dim, Expr) or along in params:
            return Refusal(f"{read} is no box")
        low, high = dim, dim + 1
        if along:
            shift, values = dim - sym(along), domain[along]
            if values.step is not ONE or not {*domain}.isdisjoint((*shift.symbols, *values.symbols)):
                return Refusal(f"{read} is no box")
            low, high = values.start + shift, values.stop + shift
            params.append(along)
        if not (ranges.proves_nonneg(low) and ranges.proves_le(high, size)):
            return Refusal(f"{read} is not proved to be inside of {read.container!r} where no iteration reads it")
        dims.append(Range(low, high) if along else dim)
    return Ahead(read, Memlet(read.container, Subset(tuple(dims))), tuple(params))

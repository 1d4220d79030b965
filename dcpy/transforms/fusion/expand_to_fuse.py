"""ExpandToFuse: a library node between maps becomes maps itself, so that they can be fused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.base.errors import ExpansionError
from dcpy.ir.analysis.access_relations import names_in
from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array, strides_of
from dcpy.ir.library.expansions import EXPANSIONS, Replacement, expansions_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Map, Node
from dcpy.ir.region import State
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import child_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.expand import install
from dcpy.transforms.fusion.pointwise import only_result

NEUTRAL = "maps"  #: the name of expansions that write unscheduled maps with conflict resolution


@dataclass(frozen=True)
class ExpandToFuse(Transformation[Replacement]):
    """Replace a library node by unscheduled maps where a map beside it could then become one with these.

    before   map i, j { T[i, j] = A[i, j]*A[i, j] }      after   map i, j { T[i, j] = A[i, j]*A[i, j] }
             reduce (T) -> s {axes = (1,)}                       map i { acc = 0; map k { acc (add) <- T[i, k] }
                                                                         s[i] = acc }

    Applies where the node has an expansion called `maps`, and reads a temporary that a map of its state computes, or
    computes one that a map of its state reads; nobody but the maps of that state may need it. What a foreign library
    does well stays as it is, unless `foreign`, or a matrix that is read once need not be stored then.
    """

    name: ClassVar[str] = "expand-to-fuse"
    optional: ClassVar[bool] = True
    node = capture(LibraryNode)
    pattern = one(node)

    foreign: bool = False  #: also nodes that a foreign library would work on
    columns: bool = False  #: also sums of columns, although each result jumps from row to row then

    def plan(self, m: Match) -> Replacement | Refusal:
        """The maps. Refuses nodes without such an expansion, and those with nothing beside them."""
        node, uses = m[self.node], m.uses
        name = f"{node.kind}/{NEUTRAL}"
        if name not in EXPANSIONS:
            return Refusal(f"{node.kind} has no expansion called {NEUTRAL!r}")
        if not EXPANSIONS[name].fuses:
            return Refusal("its maps are in loops and branches, where no map beside it is")
        if _is_foreign(node) and not self.foreign and not _is_streamed(node, uses):
            return Refusal("a foreign library does it well")
        if next(_from_maps(node, uses), None) is None and next(_for_maps(node, uses), None) is None:
            return Refusal("no map of its state computes what it reads, or reads what it computes")
        if not any(memlet.subset.shape for memlet in node.writes()) and _can_be_inlined(node, uses):
            return Refusal("what it reads is computed in the loops of its own expansion: map-inlining does that")
        try:
            maps = EXPANSIONS[name].build(node)
        except ExpansionError as problem:
            return Refusal(problem.message)
        why_not = _why_no_nest(maps, (*_from_maps(node, uses), *_for_maps(node, uses)))
        across = None if self.columns or why_not else _is_across(maps, uses)
        if across is not None:
            return Refusal(f"its results lie side by side in {across!r}: rows are added up")
        return why_not or maps

    def apply(self, m: Match, plan: Replacement, rw: Rewriter) -> None:
        install(rw, m[self.node], plan)


def _is_foreign(node: LibraryNode) -> bool:
    """Whether C functions would do what the node says."""
    return any(one.environment and not one.refusal("cpu") for one in expansions_of(node.kind))


def _can_be_inlined(node: LibraryNode, uses: Uses) -> bool:
    """Whether each map that it could be fused with computes nothing but what the node reads."""
    state = node.state
    assert state is not None
    for name in _from_maps(node, uses):
        makers = dict.fromkeys(child_of(state, writer) for writer in uses.writers(name))
        alone = [isinstance(maker, Map) and not isinstance(only_result(maker, uses), Refusal) for maker in makers]
        if uses.readers(name) != (node,) or not all(alone):
            return False
    return True


def _why_no_nest(maps: Replacement, shared: Sequence[str]) -> Refusal | None:
    """None where a map with results of its own touches what is shared: it can become one with the map beside it."""
    if not all(isinstance(block, State) for block in maps.blocks):
        return Refusal("its maps are in loops and branches, where no map beside it is")
    nodes = [node for block in maps.blocks if isinstance(block, State) for node in block.nodes]
    nests = [node for node in nodes if isinstance(node, Map) and not _touched(node).isdisjoint(shared)]
    if not nests:
        return Refusal("no map of its expansion touches what a map beside it does, where its parameters say")
    if all(_is_one_sum(node) for node in nests):
        return Refusal("it has one result of one row: there is no nest to fuse with")
    return None


def _touched(node: Map) -> set[str]:
    """What a map touches at places that its parameters say; where the data say so, nothing is fused."""
    parts = (*node.body.walk_nodes(), *node.body.walk_blocks())
    found = {name for region in node.body.walk_regions() for name in symbols_assigned_in(region)}
    memlets = (memlet for part in parts for memlet in (*part.reads(), *part.writes()))
    return {memlet.container for memlet in memlets if found.isdisjoint(memlet.subset.symbols)}


def _is_one_sum(node: Map) -> bool:
    """Whether the iterations of a map combine values in what is declared outside of it."""
    private = {name for region in node.body.walk_regions() for name in region.containers}
    writes = (memlet for inner in node.body.walk_nodes() for memlet in inner.writes())
    return any(memlet.wcr and memlet.container not in private for memlet in writes)


def _is_across(maps: Replacement, uses: Uses) -> str | None:
    """An operand along which the outer parameters of a nest run, and not the inner ones, which combine its elements."""
    nodes = [node for block in maps.blocks if isinstance(block, State) for node in block.nodes]
    for outer in (node for node in nodes if isinstance(node, Map)):
        private = {name for region in outer.body.walk_regions() for name in region.containers} | set(maps.containers)
        for inner in (node for node in outer.body.walk_nodes() if isinstance(node, Map)):
            for read in (memlet for node in inner.body.walk_nodes() for memlet in node.reads()):
                along = () if read.container in private else _fastest(read, uses)
                if not {*outer.params}.isdisjoint(along) and {*inner.params}.isdisjoint(along):
                    return read.container
    return None


def _fastest(read: Memlet, uses: Uses) -> tuple[str, ...]:
    """The symbols along which neighbours in memory are read."""
    desc = uses.desc(read.container)
    pairs = zip(read.subset.dims, strides_of(desc), strict=True)
    return tuple(symbol for dim, stride in pairs if stride is ONE for symbol in dim.symbols)


def _is_streamed(node: LibraryNode, uses: Uses) -> bool:
    """Whether it reads each element of a matrix once that a map computes: storing that for a library costs more."""
    rank = max(len(memlet.subset.shape) for memlet in node.writes())
    return any(len(uses.desc(name).shape) > rank for name in _from_maps(node, uses))


def _from_maps(node: LibraryNode, uses: Uses) -> Iterator[str]:
    """Temporaries that the node reads and a map before it in its state writes."""
    for name in names_in(node, uses)[0]:
        if _is_temporary(name, node, uses) and _before(node, name, uses):
            yield name


def _for_maps(node: LibraryNode, uses: Uses) -> Iterator[str]:
    """Temporaries that the node writes and a map behind it in its state reads."""
    for name in names_in(node, uses)[1]:
        if _is_temporary(name, node, uses) and _behind(node, name, uses):
            yield name


def _is_temporary(name: str, node: LibraryNode, uses: Uses) -> bool:
    """Whether only the node and maps of its state touch an array."""
    if not isinstance(uses.desc(name), Array) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
        return False
    state = node.state
    assert isinstance(state, State)
    beside = (child_of(state, part) for part in uses.touchers(name))
    return all(other is node or isinstance(other, Map) for other in beside)


def _before(node: LibraryNode, name: str, uses: Uses) -> bool:
    state = node.state
    assert isinstance(state, State)
    writers = [child_of(state, part) for part in uses.writers(name)]
    return any(isinstance(other, Map) and _comes_first(other, node, state) for other in writers)


def _behind(node: LibraryNode, name: str, uses: Uses) -> bool:
    state = node.state
    assert isinstance(state, State)
    readers = [child_of(state, part) for part in uses.readers(name)]
    return any(isinstance(other, Map) and _comes_first(node, other, state) for other in readers)


def _comes_first(first: Node, second: Node, state: State) -> bool:
    return state.index(first) < state.index(second)

"""ExpandToFuse: expansion of a library node into maps that can be fused with maps beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from dcpy.base.errors import ExpansionError
from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Array, strides_of
from dcpy.ir.library.expansions import EXPANSIONS, Replacement, expansions_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Loop, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, sym
from dcpy.ir.tree import Element, child_of, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.expand import install
from dcpy.transforms.fusion.pointwise import only_result

WALKING = ("indexing.scatter",)  #: kinds of nodes that become loops over what they store
NEUTRAL = "maps"  #: the name of expansions that write unscheduled maps with conflict resolution


@dataclass(frozen=True)
class ExpandToFuse(Transformation[Replacement]):
    """Replace a library node by unscheduled maps if a map beside it can then be fused with them.

    before   map i, j { T[i, j] = A[i, j]*A[i, j] }      after   map i, j { T[i, j] = A[i, j]*A[i, j] }
             reduce (T) -> s {axes = (1,)}                       map i { acc = 0; map k { acc (add) <- T[i, k] }
                                                                         s[i] = acc }

    Applies if the node has an expansion called `maps`, and shares a temporary with a map of its state; only maps of
    that state may access the temporary, and loops that add its elements up where indices say. A node that a foreign
    library implements well stays, unless `foreign` is set or fusion saves storing a matrix that is read once.
    """

    name: ClassVar[str] = "expand-to-fuse"
    optional: ClassVar[bool] = True
    node = capture(LibraryNode)
    pattern = one(node)

    foreign: bool = False  #: also nodes that a foreign library would work on
    columns: bool = False  #: also sums of columns, although each result jumps from row to row then

    def plan(self, m: Match) -> Replacement | Refusal:
        """The expansion. Refuses nodes without one, and nodes without a map beside them."""
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
    """Return whether a foreign library implements the node efficiently."""
    foreign = (one for one in expansions_of(node.kind) if one.environment and not one.refusal("cpu"))
    return any(not one.why_slow(node) for one in foreign)


def _can_be_inlined(node: LibraryNode, uses: Uses) -> bool:
    """Return whether each map beside the node computes only the node's input."""
    state = node.state
    assert state is not None
    for name in _from_maps(node, uses):
        makers = dict.fromkeys(child_of(state, writer) for writer in uses.writers(name))
        alone = [isinstance(maker, Map) and not isinstance(only_result(maker, uses), Refusal) for maker in makers]
        if uses.readers(name) != (node,) or not all(alone):
            return False
    return True


def _why_no_nest(maps: Replacement, shared: Sequence[str]) -> Refusal | None:
    """The reason that the expansion has no nest to fuse with a map beside it; None if it has one."""
    if not all(isinstance(block, State) for block in maps.blocks):
        return Refusal("its maps are in loops and branches, where no map beside it is")
    nodes = [node for block in maps.blocks if isinstance(block, State) for node in block.nodes]
    nests = [node for node in nodes if isinstance(node, Map) and not _accessed(node).isdisjoint(shared)]
    if not nests:
        return Refusal("no map of its expansion touches what a map beside it does, where its parameters say")
    if all(_is_one_sum(node) for node in nests):
        return Refusal("it has one result of one row: there is no nest to fuse with")
    return None


def _accessed(node: Map) -> set[str]:
    """The containers that a map accesses at indices of its parameters; data-dependent indices prevent fusion."""
    parts = (*node.body.walk_nodes(), *node.body.walk_blocks())
    found = {name for region in node.body.walk_regions() for name in symbols_assigned_in(region)}
    memlets = (memlet for part in parts for memlet in (*part.reads(), *part.writes()))
    return {memlet.container for memlet in memlets if found.isdisjoint(memlet.subset.symbols)}


def _is_one_sum(node: Map) -> bool:
    """Return whether the iterations of a map combine values in a container from outside."""
    private = {name for region in node.body.walk_regions() for name in region.containers}
    writes = (memlet for inner in node.body.walk_nodes() for memlet in inner.writes())
    return any(memlet.wcr and memlet.container not in private for memlet in writes)


def _is_across(maps: Replacement, uses: Uses) -> str | None:
    """An operand that is contiguous along an outer parameter of a nest, and combined along inner ones."""
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
    """The symbols along which a memlet reads adjacent elements in memory."""
    desc = uses.desc(read.container)
    pairs = zip(read.subset.dims, strides_of(desc), strict=True)
    return tuple(symbol for dim, stride in pairs if stride is ONE for symbol in dim.symbols)


def _is_streamed(node: LibraryNode, uses: Uses) -> bool:
    """Return whether a node reads each element of a computed matrix once: storing the matrix for a library costs more.
    """
    rank = max(len(memlet.subset.shape) for memlet in node.writes())
    return any(len(uses.desc(name).shape) > rank for name in _from_maps(node, uses))


def _from_maps(node: LibraryNode, uses: Uses) -> Iterator[str]:
    """Temporaries that a map before the node writes and the node reads."""
    for name in names_in(node, uses)[0]:
        if _is_temporary(name, node, uses) and _before(node, name, uses):
            yield name


def _for_maps(node: LibraryNode, uses: Uses) -> Iterator[str]:
    """Temporaries that the node writes and a map after it reads, or a loop over its elements."""
    for name in names_in(node, uses)[1]:
        if _is_temporary(name, node, uses) and _behind(node, name, uses):
            yield name


def _is_temporary(name: str, node: LibraryNode, uses: Uses) -> bool:
    """Return whether only the node and maps of its state access an array."""
    if not isinstance(uses.desc(name), Array) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
        return False
    state = node.state
    assert isinstance(state, State)
    return all(
        isinstance(other := child_of(state, part), Map) or other is node or _is_walked(part, name)
        for part in uses.accessors(name)
    )


def _is_walked(part: Element, name: str) -> bool:
    """Return whether a loop needs each element of a container once: the one that adds up values where indices say."""
    if part.kind in WALKING:
        inputs = cast(LibraryNode, part).inputs
        return [key for key, memlet in inputs.items() if memlet.container == name] == ["values"]
    loop = next(iter(owners_around(part)), None)
    if not isinstance(part, Tasklet) or not isinstance(loop, Loop):
        return False
    return [memlet.subset for memlet in part.reads() if memlet.container == name] == [Subset((sym(loop.param),))]


def _before(node: LibraryNode, name: str, uses: Uses) -> bool:
    state = node.state
    assert isinstance(state, State)
    writers = [child_of(state, part) for part in uses.writers(name)]
    return any(isinstance(other, Map) and _comes_first(other, node, state) for other in writers)


def _behind(node: LibraryNode, name: str, uses: Uses) -> bool:
    state = node.state
    assert isinstance(state, State)
    beside = {part: child_of(state, part) for part in uses.readers(name)}
    return any(
        other is None or _comes_first(node, other, state)
        for part, other in beside.items()
        if isinstance(other, Map) or _is_walked(part, name)
    )


def _comes_first(first: Node, second: Node, state: State) -> bool:
    return state.index(first) < state.index(second)

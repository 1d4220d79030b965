"""MapInlining: what an elementwise map computes is computed where it is read, once per element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array, Lifetime, Scalar
from dcpy.ir.editing.copying import copy_node
from dcpy.ir.editing.places import position_of
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr
from dcpy.ir.tree import Element, child_of, dominates, is_inside, owners_around, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MapInlining(Transformation["Inlining"]):
    """Substitute the expression of an elementwise map for the reads of its result (Halide's compute-inline).

    before   map i = 0:N { tmp[i] = A[i]*A[i] }          after   map c = 0:N:1024 { map k = c:min(N, c + 1024) {
             map c = 0:N:1024 { map k = c:min(N, c + 1024) {               t = A[k]*A[k]
               s += tmp[k] } }                                             s += t } }

    The loops of the reader may be of any shape: it is how maps go into the loops that an expansion of a reduction
    writes. Applies when the map computes each element of a transient by tasklets alone, when only tasklets read it,
    each element at most once in a run, and when nothing that the map reads is written in between.
    """

    name: ClassVar[str] = "map-inlining"
    producer = capture(Map)
    pattern = one(producer)

    def plan(self, m: Match) -> Inlining | Refusal:
        """What to substitute where."""
        producer, uses = m[self.producer], m.uses
        result = only_result(producer, uses)
        if isinstance(result, Refusal):
            return result
        tmp, axes = result.container, tuple("" if dim is ZERO else str(dim) for dim in result.subset.dims)
        if refusal := unfit_result(tmp, axes, producer, uses):
            return refusal
        readers = _readers(producer, tmp, uses)
        if isinstance(readers, Refusal):
            return readers
        return why_not_later(producer, readers, uses) or Inlining(tmp, axes, readers)

    def apply(self, m: Match, plan: Inlining, rw: Rewriter) -> None:
        inline(m[self.producer], plan, rw)


_ONCE = Range(ZERO, ONE, ONE)
Place = tuple[State, Subset]  # an element, where it is read
Position = tuple[int, int]  # of a block in a region, and of a node in it


@dataclass(frozen=True, slots=True)
class Inlining:
    """What is computed again, and where."""

    tmp: str
    axes: tuple[str, ...]  # for each dimension of `tmp`, the parameter that runs along it; "" along one of size 1
    readers: tuple[Tasklet, ...]

    def values(self, subset: Subset) -> Mapping[str, Expr]:
        """The parameters of the producer for the element that a reader reads."""
        dims = (dim for dim in subset.dims if isinstance(dim, Expr))
        return {axis: dim for axis, dim in zip(self.axes, dims, strict=True) if axis}

    def places(self) -> tuple[Place, ...]:
        """Where an element is computed: once in each state that reads it, however often it does."""
        found: dict[Place, None] = {}
        for reader in self.readers:
            assert reader.state is not None
            found |= {(reader.state, memlet.subset): None for memlet in reader.reads() if memlet.container == self.tmp}
        return tuple(found)


def unfit_result(tmp: str, axes: tuple[str, ...], producer: Map, uses: Uses) -> Refusal | None:
    """Why a container is not a temporary of which the map computes each element; None where it is."""
    desc = uses.desc(tmp)
    if not isinstance(desc, Array) or not uses.is_private(tmp) or len(uses.overlapping(tmp)) > 1:
        return Refusal(f"{tmp!r} is seen from elsewhere")
    if desc.lifetime is not Lifetime.SCOPE or uses.writers(tmp) != _writers(producer, tmp):
        return Refusal(f"{tmp!r} is written elsewhere")
    domain = dict(zip(producer.params, producer.domain, strict=True))
    if sorted(filter(None, axes)) != sorted(domain) or any(
        domain.get(axis, _ONCE) != Range(ZERO, size, ONE) for axis, size in zip(axes, desc.shape, strict=True)
    ):
        return Refusal(f"it does not compute each element of {tmp!r}")
    return None


def only_result(producer: Map, uses: Uses) -> Memlet | Refusal:
    """The one memlet that the tasklets of the map write outside of it."""
    blocks = producer.body.blocks
    if len(blocks) != 1 or not isinstance(blocks[0], State):
        return Refusal("its body is not a single state")
    if not all(isinstance(node, Tasklet) for node in blocks[0].nodes):
        return Refusal("its body does more than tasklets")
    if any(not isinstance(desc, Scalar | Array) or desc.shape for desc in producer.body.containers.values()):
        return Refusal("its body declares more than scalars")
    writes = [memlet for node in blocks[0].nodes for memlet in node.writes()]
    outside = [memlet for memlet in writes if memlet.container not in producer.body.containers]
    if len(outside) != 1 or any(memlet.wcr for memlet in writes):
        return Refusal("it has not just one result, or combines values")
    reads = {name for node in blocks[0].nodes for name in uses.touches(node).reads}
    if not reads.isdisjoint(uses.overlapping(outside[0].container)):
        return Refusal("it reads what it writes")
    return outside[0]


def _writers(producer: Map, tmp: str) -> tuple[Element, ...]:
    return tuple(
        node for node in producer.body.walk_nodes() if any(memlet.container == tmp for memlet in node.writes())
    )


def _readers(producer: Map, tmp: str, uses: Uses) -> tuple[Tasklet, ...] | Refusal:
    """The tasklets that read the result, later in the same region; each element is read at most once in a run."""
    state = producer.state
    region = None if state is None else state.region
    found: list[Tasklet] = []
    for reader in uses.readers(tmp):
        if not isinstance(reader, Tasklet):
            return Refusal(f"{tmp!r} is read by a {reader.kind}")
        if region is None or not dominates(producer, reader):
            return Refusal(f"{tmp!r} is read elsewhere")
        subsets = {memlet.subset for memlet in reader.reads() if memlet.container == tmp}
        if len(subsets) != 1 or not _reads_once(next(iter(subsets)), reader, region):
            return Refusal(f"an element of {tmp!r} may be read more than once: it would be computed again")
        found.append(reader)
    if not found:
        return Refusal(f"{tmp!r} is not read")
    if not all(_exclusive(first, second) for first, second in combinations(found, 2)):
        return Refusal(f"{tmp!r} is read at {len(found)} places: it would be computed at each")
    return tuple(sorted(found, key=position_of))


def _reads_once(subset: Subset, reader: Tasklet, region: Region) -> bool:
    """Whether each parameter around a reader has a dimension of its own, or bounds a parameter that has one."""
    scopes = scopes_within(reader, region)
    if scopes is None:
        return False
    params = {param for param, _ in scopes}
    used: set[str] = set()
    for dim in subset.dims:
        if isinstance(dim, Expr) and dim.constant is not None:
            continue
        mine = [name for name in dim.symbols if name in params]
        form = dim.linear_in(mine[0]) if isinstance(dim, Expr) and len(mine) == 1 else None
        if form is None or form[0].constant in (None, 0) or mine[0] in used:
            return False
        used.add(mine[0])
    for param, values in scopes:
        if param not in used:
            return False
        used.update(values.symbols)
    return True


def scopes_within(reader: Tasklet, region: Region) -> list[tuple[str, Range]] | None:
    """The parameters around a reader up to a region, innermost first; None where something else repeats it."""
    found: list[tuple[str, Range]] = []
    for owner in owners_around(reader, within=region):
        match owner:
            case Map(params=params, domain=domain):
                found += reversed(list(zip(params, domain, strict=True)))
            case Loop(param=param, range=values):
                found.append((param, values))
            case Branch():
                continue
            case _:
                return None
    return found


def _exclusive(first: Tasklet, second: Tasklet) -> bool:
    """Whether two readers stand in different cases of one branch."""
    around = list(owners_around(second))
    shared = [owner for owner in owners_around(first) if isinstance(owner, Branch) and owner in around]
    cases = [case for branch in shared for case in branch.regions()]
    return any(is_inside(first, case) != is_inside(second, case) for case in cases)


def why_not_later(producer: Map, readers: tuple[Element, ...], uses: Uses) -> Refusal | None:
    """What changes between the map and the readers so that the map cannot run there; None where nothing does."""
    state = producer.state
    assert state is not None
    region = state.region
    assert region is not None
    nodes = list(producer.body.walk_nodes())
    reads = dict.fromkeys(name for node in nodes for name in uses.touches(node).reads)
    names = {name for read in reads for name in uses.overlapping(read)}
    symbols = {name for node in nodes for name in uses.touches(node).symbols}
    last = max(_position(region, reader) for reader in readers)
    for part in _between(region, (region.index(state), state.index(producer)), last):
        for element in subtree(part):
            written = next((name for name in uses.touches(element).writes if name in names), None)
            if written is not None:
                return Refusal(f"{written!r}, which it reads, is written before its result is read", (element,))
            if isinstance(element, SymbolAssign) and element.symbol in symbols:
                return Refusal(f"symbol {element.symbol!r} changes in between", (element,))
    return None


def _between(region: Region, start: Position, last: Position) -> Iterator[Element]:
    """Nodes and blocks of a region from after one place up to another, and that too."""
    for index in range(start[0], last[0] + 1):
        block = region.blocks[index]
        if not isinstance(block, State):
            yield block
            continue
        first = start[1] + 1 if index == start[0] else 0
        yield from block.nodes[first : last[1] + 1 if index == last[0] else None]


def _position(region: Region, element: Element) -> Position:
    """Where in a region an element stands: the block, and the node in it."""
    block = child_of(region, element)
    assert block is not None
    node = child_of(block, element) if isinstance(block, State) else None
    return region.index(block), block.index(node) if isinstance(block, State) and node is not None else 0


def inline(producer: Map, plan: Inlining, rw: Rewriter) -> None:
    """Computes what is read before the first tasklet of each state that reads it; takes out map and temporary."""
    computed: dict[Place, str] = {}
    for reader in sorted(plan.readers, key=_index):
        state = reader.state
        assert state is not None
        for connector, memlet in list(reader.inputs.items()):
            if memlet.container != plan.tmp:
                continue
            element = state, memlet.subset
            if element not in computed:
                computed[element] = compute_before(reader, memlet.subset, producer, plan, rw)
            value = replace(memlet, container=computed[element], subset=Subset())
            rw.update(reader, inputs=reader.inputs | {connector: value})
    _erase_producer(producer, plan, rw)


def _index(reader: Tasklet) -> int:
    assert reader.state is not None
    return reader.state.index(reader)


def _erase_producer(producer: Map, plan: Inlining, rw: Rewriter) -> None:
    state = producer.state
    rw.erase(producer)
    if state is not None and not state.nodes:
        rw.erase(state)
    rw.undeclare_unused([plan.tmp])


def compute_before(reader: Tasklet, subset: Subset, producer: Map, plan: Inlining, rw: Rewriter) -> str:
    """Puts the map's tasklets before a reader, for an element that it reads; returns the scalar that has the result."""
    state = reader.state
    assert state is not None
    fresh = {name: rw.declare_fresh(name, desc, state.region) for name, desc in producer.body.containers.items()}
    desc = rw.uses.desc(plan.tmp)
    assert isinstance(desc, Array)
    value = rw.declare_fresh(plan.tmp, Scalar(desc.dtype, transient=True, span=desc.span), state.region)
    values = Substitution(plan.values(subset), fresh)
    for node in producer.body.walk_nodes():
        copied = copy_node(node, values)
        assert isinstance(copied, Tasklet)
        copied.outputs = {
            name: Memlet(value, Subset()) if written.container == plan.tmp else written
            for name, written in copied.outputs.items()
        }
        rw.add_node_before(reader, copied)
    return value

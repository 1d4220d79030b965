"""Pointwise producers: maps that compute the elements of a temporary independently, so that readers can do it."""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Lifetime, Scalar
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Region, State, SymbolAssign
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO
from dcpy.ir.tree import Element, child_of

_ONCE = Range(ZERO, ONE, ONE)
Position = tuple[int, int]  # of a block in a region, and of a node in it


@dataclass(frozen=True, slots=True)
class Temporary:
    """A transient, and the parameter that indexes each of its dimensions; "" for a dimension of size 1."""

    name: str
    axes: tuple[str, ...]


def temporary_of(producer: Map, uses: Uses, *, indices: bool = False) -> Temporary | Refusal:
    """The transient whose elements a map computes by tasklets alone (after looking up `indices`)."""
    result = only_result(producer, uses, indices=indices)
    if isinstance(result, Refusal):
        return result
    axes = tuple("" if dim is ZERO else str(dim) for dim in result.subset.dims)
    return _unfit(result.container, axes, producer, uses) or Temporary(result.container, axes)


def _unfit(tmp: str, axes: tuple[str, ...], producer: Map, uses: Uses) -> Refusal | None:
    desc = uses.desc(tmp)
    if not isinstance(desc, Array) or not uses.is_private(tmp) or len(uses.overlapping(tmp)) > 1:
        return Refusal(f"{tmp!r} must stay in memory: it is an argument, a result, or has views")
    if desc.lifetime is not Lifetime.SCOPE or uses.writers(tmp) != _writers(producer, tmp):
        return Refusal(f"{tmp!r} is written elsewhere")
    domain = dict(zip(producer.params, producer.domain, strict=True))
    if sorted(filter(None, axes)) != sorted(domain) or any(
        domain.get(axis, _ONCE) != Range(ZERO, size, ONE) for axis, size in zip(axes, desc.shape, strict=True)
    ):
        return Refusal(f"it does not compute each element of {tmp!r}")
    return None


def only_result(producer: Map, uses: Uses, *, indices: bool = False) -> Memlet | Refusal:
    """The only memlet that the tasklets of the map write to outside memory."""
    before, last = producer.body.blocks[:-1], producer.body.blocks[-1:]
    state = last[0] if last else None
    if not isinstance(state, State) or not all(indices and _looks_up(block) for block in before):
        return Refusal("its body is not a single state")
    if not all(isinstance(node, Tasklet) for node in state.nodes):
        return Refusal("its body does more than tasklets")
    if any(not isinstance(desc, Scalar | Array) or desc.shape for desc in producer.body.containers.values()):
        return Refusal("its body declares more than scalars")
    writes = [memlet for node in state.nodes for memlet in node.writes()]
    outside = [memlet for memlet in writes if memlet.container not in producer.body.containers]
    if len(outside) != 1 or any(memlet.wcr for memlet in writes):
        return Refusal("it has not just one result, or combines values")
    parts: list[Node | Block] = [*before, *state.nodes]
    reads = {name for part in parts for name in uses.accesses(part).reads}
    if not reads.isdisjoint(uses.overlapping(outside[0].container)):
        return Refusal("it reads what it writes")
    return outside[0]


def _looks_up(block: Block) -> bool:
    """Return whether a block computes an index, and never raises."""
    return isinstance(block, SymbolAssign) and block.effects is Effect.NOTHING


def _writers(producer: Map, tmp: str) -> tuple[Element, ...]:
    return tuple(
        node for node in producer.body.walk_nodes() if any(memlet.container == tmp for memlet in node.writes())
    )


def why_not_later(producer: Map, readers: tuple[Element, ...], uses: Uses) -> Refusal | None:
    """The change between a map and its readers that prevents running the map there; None if there is none."""
    state = producer.state
    assert state is not None
    region = state.region
    assert region is not None
    parts: list[Node | Block] = [*producer.body.walk_nodes(), *producer.body.walk_blocks()]
    reads = dict.fromkeys(name for part in parts for name in uses.accesses(part).reads)
    names = {name for read in reads for name in uses.overlapping(read)}
    symbols = {name for part in parts for name in uses.accesses(part).symbols}
    start = region.index(state), state.index(producer)
    last = max(place for reader in readers if (place := _position(region, reader)) is not None)
    changes = [(writer, f"{name!r}, which it reads, is written before its result is read")
               for name in sorted(names) for writer in uses.writers(name)]  # fmt: skip
    changes += [(block, f"symbol {name!r} changes in between") for name in sorted(symbols)
                for block in uses.definers(name) if isinstance(block, SymbolAssign)]  # fmt: skip
    between = [(place, number) for number, (element, _) in enumerate(changes)
               if (place := _position(region, element)) is not None and start < place <= last]  # fmt: skip
    if not between:
        return None
    element, why = changes[min(between)[1]]
    return Refusal(why, (element,))


def _position(region: Region, element: Element) -> Position | None:
    """The position of an element in a region: the block, and the node in it; None if it is elsewhere."""
    block = child_of(region, element)
    if block is None:
        return None
    node = child_of(block, element) if isinstance(block, State) else None
    return region.index(block), block.index(node) if isinstance(block, State) and node is not None else 0

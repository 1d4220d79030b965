"""Groups of maps that can be fused: their members, the nodes to move away, and the temporaries that become private."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import groups_depend, nodes_depend, surely_written_before
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.data import Array
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Ranges
from dcpy.ir.tree import child_of
from dcpy.transforms.fusion.conditions import why_not_in_turns
from dcpy.transforms.fusion.prefixes import Renaming, accesses_below, prefix_of, same_prefix
from dcpy.transforms.fusion.temporaries import is_fixed, needed_elsewhere


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A map of a group, and the accesses of one iteration of the prefix, in the first map's parameters."""

    node: Map
    renaming: Renaming
    accesses: tuple[MemoryAccess, ...]
    before: tuple[Node, ...]  # nodes that went before the group when this map had not joined yet


@dataclass(frozen=True, slots=True)
class Group:
    """Maps that are fused at their `depth` outer parameters."""

    depth: int
    members: tuple[GroupMember, ...]
    before: tuple[Node, ...]  # nodes between them, which go before all of them
    private: tuple[tuple[str, tuple[int, ...]], ...] = ()  # temporaries, and the dimensions that they keep


def temporaries_of(node: Map, uses: Uses) -> Iterator[str]:
    """Arrays that a map writes and that may become private to it and later maps."""
    state = node.state
    for name in names_in(node, uses)[1]:
        if not isinstance(uses.desc(name), Array) or not uses.is_private(name) or len(uses.overlapping(name)) > 1:
            continue
        if state is not None and all(isinstance(child_of(state, part), Map) for part in uses.accessors(name)):
            yield name


def accessed_by(node: Map, uses: Uses) -> set[str]:
    """The containers that a map reads or writes."""
    return {name for names in names_in(node, uses) for name in names}


def grown(first: Map, depth: int, uses: Uses, ranges: Ranges) -> tuple[Group, Refusal | None]:
    """The captured map, and the later maps that can join the group; and the reason of one that cannot."""
    state = first.state
    assert isinstance(state, State)
    members = [GroupMember(first, {}, accesses_below(first, depth, uses), ())]
    before: list[Node] = []
    after: list[Node] = []
    refusal: Refusal | None = None
    sure: tuple[Node, ...] = ()  # of `before`, those that stand before the last member
    for node in _until_last_reader(first, state, uses):
        waits = _depends(node, after, uses, ranges)
        member = None if waits or not isinstance(node, Map) else _joining(node, members, depth, uses, ranges)
        refusal = member if isinstance(member, Refusal) else refusal
        if isinstance(member, GroupMember):
            members.append(replace(member, before=sure))
            sure = tuple(before)
        elif waits or _depends(node, [member.node for member in members], uses, ranges):
            after.append(node)
        else:
            before.append(node)
    return Group(depth, tuple(members), sure), refusal


def _until_last_reader(first: Map, state: State, uses: Uses) -> Sequence[Node]:
    """The nodes after a map, up to the last one that uses its temporaries, directly or indirectly."""
    nodes = state.nodes[state.index(first) + 1 :]
    wanted = dict.fromkeys(temporaries_of(first, uses))
    last = 0
    for place, node in enumerate(nodes):
        if isinstance(node, Map) and not wanted.keys().isdisjoint(names_in(node, uses)[0]):
            wanted.update(dict.fromkeys(temporaries_of(node, uses)))
            last = place + 1
    return nodes[:last]


def _depends(node: Node, others: Iterable[Node], uses: Uses, ranges: Ranges) -> bool:
    return any(not nodes_depend(other, node, uses, ranges).is_no for other in others)


def _joining(
    node: Map, members: Sequence[GroupMember], depth: int, uses: Uses, ranges: Ranges
) -> GroupMember | Refusal | None:
    """A map as a member of a group, or the reason that it cannot join; None if it reads no result of the group."""
    first = members[0].node
    written = {name for member in members for name in names_in(member.node, uses)[1]}
    if written.isdisjoint(names_in(node, uses)[0]):
        return None
    values = same_prefix(first, node, depth, ranges)
    if values is None:
        return Refusal(f"outer parameters run through different values: {_outer(first)} and {_outer(node)}", (node,))
    for member in members:
        if obstacle := why_not_in_turns(member.node, node, uses):
            return obstacle
    accesses = tuple(access.subs(values) for access in accesses_below(node, depth, uses))
    earlier = [access for member in members for access in member.accesses]
    answer = groups_depend(earlier, accesses, prefix_of(first, depth), ranges)
    return GroupMember(node, values, accesses, ()) if answer.is_no else Refusal(answer.reason, (node,))


def _outer(node: Map) -> str:
    return ", ".join(map(str, node.domain))


def kept_dims(name: str, group: Group, uses: Uses, ranges: Ranges) -> tuple[int, ...] | Refusal:
    """The dimensions that a private copy of a temporary needs; or the reason that it cannot be private."""
    if refusal := needed_elsewhere(name, [member.node for member in group.members], uses):
        return Refusal(refusal.reason.partition(";")[0], refusal.elements)
    first, desc = group.members[0].node, uses.desc(name)
    assert isinstance(desc, Array)  # or it would be needed elsewhere
    accesses: list[MemoryAccess] = []
    behind = 0
    for member in group.members:
        mine = [replace(access, position=behind + access.position) for access in member.accesses]
        behind += len(mine)
        accesses += [access for access in mine if access.root == name]
    known = Footprint(Subset(), prefix_of(first, group.depth)).known(ranges)
    for read in accesses:
        if (not read.is_write or read.wcr) and not surely_written_before(read, accesses, known).is_yes:
            return Refusal(f"{name!r} is read where the same iteration did not surely write it")
    subsets = [access.subset for access in accesses]
    inner = {variable for access in accesses for scope in access.scopes for variable, _ in scope.variables}
    inner.update(symbol for access in accesses for symbol in access.varying_symbols)
    kept = tuple(axis for axis in range(len(desc.shape)) if not is_fixed(axis, subsets, inner))
    return kept if len(kept) < len(desc.shape) else Refusal(f"each iteration needs all of {name!r}")


def traffic_shrinks(group: Group, private: Iterable[str], uses: Uses) -> bool:
    """Return whether fusion reduces the traffic of an array as large as the maps' domain.

    Such an array is a temporary that becomes private, or an array that two of the maps access. Smaller arrays cost
    little, and a fused map can no longer get the schedule that suits its own accesses.
    """
    largest = group.depth + max(_inner_rank(access) for member in group.members for access in member.accesses)
    accessed = [dict.fromkeys(access.root for access in member.accesses) for member in group.members]
    shared = [name for name in dict.fromkeys(chain(*accessed)) if sum(name in names for names in accessed) > 1]
    return any(_rank(name, uses) >= largest for name in dict.fromkeys([*private, *shared]))


def _inner_rank(access: MemoryAccess) -> int:
    return sum(len(scope.variables) for scope in access.scopes)


def _rank(name: str, uses: Uses) -> int:
    desc = uses.desc(name)
    return sum(size is not ONE for size in desc.shape) if isinstance(desc, Array) else 0

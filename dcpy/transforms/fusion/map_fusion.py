"""MapFusion: a map that computes a temporary and the map that reads it become one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.access import MemoryAccess
from dcpy.ir.analysis.access_relations import accesses_of_body, memories_of
from dcpy.ir.analysis.dependences import groups_depend, nodes_depend, surely_written_before
from dcpy.ir.analysis.footprints import Footprint
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, Ranges, sym
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.bodies import append_body, prepend_body
from dcpy.transforms.fusion.conditions import why_not_in_turns
from dcpy.transforms.fusion.prefixes import same_value
from dcpy.transforms.fusion.temporaries import KEEP, is_fixed, needed_elsewhere, shrink

Renaming = Mapping[str, Expr]  # the second map's parameters in terms of the first map's


@dataclass(frozen=True)
class MapFusion(Transformation["Fusion"]):
    """Fuse a producer map into the consumer map that reads its result.

    before   map i = 0:N { tmp[i] = f(A[i]) }        after   map i = 0:N { t = f(A[i])
             map j = 0:N { B[j] = g(tmp[j]) }                              B[i] = g(t) }

    Applies when the iteration spaces are the same, up to the order of parameters and a shift, when no iteration of
    one map touches what a *different* iteration of the other writes, and when the nodes between the two can stand
    before or after both. ``tmp`` becomes private to the iteration; nobody else may need it, unless it is kept.
    Never changes floating-point order.
    """

    name: ClassVar[str] = "map-fusion"
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    keep_intermediate: bool = False  #: also write ``tmp`` to memory (when it is needed elsewhere)

    def plan(self, m: Match) -> Fusion | Refusal:
        """Refuses different spaces, dependences between different iterations, and temporaries needed elsewhere."""
        first, second, uses = m[self.first], m[self.second], m.uses
        obstacle = _obstacle(first, second, uses)
        if not obstacle and not self.keep_intermediate:  # cheap, and the reason of most refusals
            obstacle = needed_elsewhere(m[self.tmp].container, (first, second), uses)
        if obstacle:
            return obstacle
        ranges = uses.ranges_at(first)
        before = _movable(first, second, uses, ranges)
        if isinstance(before, Refusal):
            return before
        theirs = accesses_of_body(second, uses)
        ours = accesses_of_body(first, uses, only=_shared_names(first, theirs, uses))
        renaming = _renaming(first, second, ours, theirs, m[self.tmp].container, ranges)
        if isinstance(renaming, Refusal):
            return renaming
        if self.keep_intermediate:
            return Fusion(renaming, before, None)
        group = _of_temporary(m[self.tmp].container, ours, theirs, renaming)
        private = _private_dims(m[self.tmp].container, first, second, group, uses, ranges)
        return private if isinstance(private, Refusal) else Fusion(renaming, before, private)

    def apply(self, m: Match, plan: Fusion, rw: Rewriter) -> Map:
        """Returns the fused map: the larger one, which takes up the body of the other."""
        first, second = m[self.first], m[self.second]
        if plan.before:
            rw.move_nodes(plan.before, m.state, m.state.index(first))
        backwards = _inverse(plan.renaming, first) if _size(second) > _size(first) else None
        if backwards is None:
            rw.substitute_symbols(dict(plan.renaming), second.body)
            fused, gone = first, second
            append_body(first, second, rw)
        else:
            rw.substitute_symbols(backwards, first.body)
            rw.move_nodes([second], m.state, m.state.index(first))
            fused, gone = second, first
            prepend_body(first, second, rw)
        rw.update(fused, claimed=first.claimed or second.claimed)
        rw.forward(gone, fused)
        rw.erase(gone)
        if plan.private is not None:
            shrink(m[self.tmp].container, plan.private, fused, rw)
        return fused


@dataclass(frozen=True, slots=True)
class Fusion:
    """How two maps become one."""

    renaming: Renaming
    before: tuple[Node, ...]  # nodes between the maps that go before both
    private: tuple[int, ...] | None  # dimensions that the private temporary keeps; None: it stays where it is


# -- conditions --------------------------------------------------------------------------------------------------------


def _obstacle(first: Map, second: Map, uses: Uses) -> Refusal | None:
    if len(first.params) != len(second.params):
        return Refusal(f"iteration spaces differ: {_domain(first)} and {_domain(second)}")
    return why_not_in_turns(first, second, uses)


def _movable(first: Map, second: Map, uses: Uses, ranges: Ranges) -> tuple[Node, ...] | Refusal:
    """The nodes between two maps that can go before both, where the others can go after both; else why not."""
    state = first.state
    if not isinstance(state, State):
        return Refusal("the first map is in no state")
    before: list[Node] = []
    after: list[Node] = []
    group = _Touching(first, uses)
    for node in state.nodes[state.index(first) + 1 : state.index(second)]:
        if any(not nodes_depend(other, node, uses, ranges).is_no for other in group.sharing(node)):
            after.append(node)
            group.add(node)
        else:
            before.append(node)
    for node in after:
        answer = nodes_depend(node, second, uses, ranges)
        if not answer.is_no:
            reason = f"a node between the maps depends on the first, and the second on it: {answer.reason}"
            return Refusal(reason, (node,))
    return tuple(before)


class _Touching:
    """Nodes by the memories that they touch: who could depend on another one is found without asking each."""

    def __init__(self, first: Node, uses: Uses) -> None:
        self.uses = uses
        self.readers: dict[str, list[Node]] = {}
        self.writers: dict[str, list[Node]] = {}
        self.add(first)

    def add(self, node: Node) -> None:
        for table, memories in zip((self.readers, self.writers), memories_of(node, self.uses), strict=True):
            for memory in memories:
                table.setdefault(memory, []).append(node)

    def sharing(self, node: Node) -> tuple[Node, ...]:
        """The nodes that write what `node` touches, or touch what it writes."""
        reads, writes = memories_of(node, self.uses)
        readers, writers = self.readers, self.writers
        groups = [writers[memory] for memory in reads if memory in writers]
        for memory in writes:
            groups += [table[memory] for table in (writers, readers) if memory in table]
        return tuple(dict.fromkeys(other for group in groups for other in group)) if groups else ()


def _shared_names(first: Map, theirs: Sequence[MemoryAccess], uses: Uses) -> set[str]:
    """Names of what the second map touches, apart from what neither map writes."""
    written: dict[str, bool] = {}
    for touch in theirs:
        written[touch.root] = written.get(touch.root, False) or touch.is_write
    by_first = {name for node in first.body.walk_nodes() for name in uses.touches(node).writes}
    shared: set[str] = set()
    for root, is_written in written.items():
        names = uses.overlapping(root)
        if is_written or not by_first.isdisjoint(names):
            shared.update(names)
    return shared


def _renaming(
    first: Map, second: Map, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], tmp: str, ranges: Ranges
) -> Renaming | Refusal:
    """The first way to match the iteration spaces under which no two different iterations depend on each other."""
    points = tuple(zip(first.params, first.domain, strict=True))
    shared = {touch.memory for touch in ours}
    reason = f"iteration spaces differ: {_domain(first)} and {_domain(second)}"
    asked: dict[tuple[tuple[str, Expr], ...], None] = {}
    for renaming in _candidates(first, second, ours, theirs, tmp):
        if renaming in asked:
            continue
        asked[renaming] = None
        values = dict(renaming)
        if not _same_space(first, second, values, ranges):
            continue
        right = [touch.subs(values) for touch in theirs if touch.memory in shared]
        answer = groups_depend(ours, right, points, ranges)
        if answer.is_no:
            return values
        reason = answer.reason
    return Refusal(reason)


def _candidates(
    first: Map, second: Map, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], tmp: str
) -> Iterator[tuple[tuple[str, Expr], ...]]:
    """Ways to name the second map's parameters: in order, and as the accesses to the temporary suggest."""
    starts = zip(first.params, first.domain, second.params, second.domain, strict=True)
    yield tuple((its, sym(mine) + (theirs_.start - ours_.start)) for mine, ours_, its, theirs_ in starts)
    written = [touch.subset for touch in ours if touch.is_write and touch.container == tmp]
    read = [touch.subset for touch in theirs if not touch.is_write and touch.container == tmp]
    for produced in dict.fromkeys(written):
        for consumed in dict.fromkeys(read):
            if produced is not None and consumed is not None:
                yield from _aligned(first, second, produced, consumed)


def _aligned(first: Map, second: Map, produced: Subset, consumed: Subset) -> Iterator[tuple[tuple[str, Expr], ...]]:
    values: dict[str, Expr] = {}
    free = list(first.params)
    for mine, its in zip(produced.dims, consumed.dims, strict=True):
        for name in second.params:
            slope = its.linear_in(name) if isinstance(its, Expr) else None
            if not isinstance(mine, Expr) or slope is None or slope[0] is not ONE or name in values:
                continue
            target = next((param for param in free if param in mine.symbols), None)
            if target is not None:
                values[name] = mine - slope[1]
                free.remove(target)
    for name in second.params:
        if name not in values:
            values[name] = sym(free.pop(0))
    if all(name not in value.symbols for name in second.params for value in values.values()):
        yield tuple((name, values[name]) for name in second.params)


def _same_space(first: Map, second: Map, renaming: Renaming, ranges: Ranges) -> bool:
    """Whether the second map runs through the first map's points under a renaming by shifted parameters."""
    domains = dict(zip(first.params, first.domain, strict=True))
    for name, values in zip(second.params, second.domain, strict=True):
        mine = next((param for param in domains if renaming[name].linear_in(param) is not None
                     and param in renaming[name].symbols), None)  # fmt: skip
        if mine is None:
            return False
        shift = renaming[name] - sym(mine)
        ours, theirs = domains.pop(mine), values.subs(renaming)
        same = (ours.start + shift, ours.stop + shift, ours.step), (theirs.start, theirs.stop, theirs.step)
        if not all(same_value(a, b, ranges) for a, b in zip(*same, strict=True)):
            return False
    return True


def _of_temporary(
    tmp: str, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], renaming: Renaming
) -> list[MemoryAccess]:
    """All touches of the temporary in the order of the fused body, in terms of the first map's parameters."""
    behind = len(ours)
    second = (touch for touch in theirs if touch.root == tmp)
    moved = [replace(touch.subs(renaming), position=behind + touch.position) for touch in second]
    return [*(touch for touch in ours if touch.root == tmp), *moved]


def _private_dims(
    tmp: str, first: Map, second: Map, group: Sequence[MemoryAccess], uses: Uses, ranges: Ranges
) -> tuple[int, ...] | Refusal:
    """The dimensions that a private copy of the temporary needs, or why it cannot be private."""
    if reason := needed_elsewhere(tmp, (first, second), uses):
        return reason
    desc = uses.desc(tmp)
    assert isinstance(desc, Array)  # or it would have been refused
    known = Footprint(Subset(), tuple(zip(first.params, first.domain, strict=True))).known(ranges)
    for read in group:
        if (not read.is_write or read.wcr) and not surely_written_before(read, group, known).is_yes:
            return Refusal(f"the second map reads {tmp!r} where the same iteration did not surely write it")
    subsets = [touch.subset for touch in group]
    inner = {name for touch in group for scope in touch.scopes for name, _ in scope.variables}
    inner.update(name for touch in group for name in touch.run_time)
    kept = tuple(axis for axis in range(len(desc.shape)) if not is_fixed(axis, subsets, inner))
    return kept if len(kept) < len(desc.shape) else Refusal(f"each iteration needs all of {tmp!r}{KEEP}")


def _domain(node: Map) -> str:
    return ", ".join(map(str, node.domain))


# -- changes -----------------------------------------------------------------------------------------------------------


def _size(node: Map) -> int:
    return sum(1 for _ in node.body.walk_nodes())


def _inverse(renaming: Renaming, first: Map) -> dict[str, Expr] | None:
    """The first map's parameters in terms of the second map's; None where shifts depend on parameters."""
    values: dict[str, Expr] = {}
    for name, value in renaming.items():
        mine = next(param for param in first.params if param in value.symbols)
        shift = value - sym(mine)
        if not {*first.params, *renaming}.isdisjoint(shift.symbols):
            return None
        values[mine] = sym(name) - shift
    return values

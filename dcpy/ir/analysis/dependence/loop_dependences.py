"""Loop dependences: which iterations of a loop depend on each other, proved by integer sets.

A loop may become a map where no iteration touches what another one writes, once temporaries that each iteration
fills before it reads them are private to it. `loop_dependences` answers with the two accesses that stand in the way.
Combining writes (conflict resolution) commute among themselves and do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from dcpy.base.articles import with_article
from dcpy.ir.analysis.accesses.access_relations import accesses_in, accesses_of_body, memories_of
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.summaries import known_effects_of
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import Answer, covers, distance, overlap_across
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.effects import VISIBLE, Effect, keep_order
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Check, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import Element, is_inside, regions_around

_MEET = "meets"  # what `Uses.facts` keeps of a node: its dependences on others
INDEPENDENT = Answer(False, "no iteration touches what another one writes")


@dataclass(frozen=True, slots=True)
class LoopDependences:
    """Dependences between iterations (`answer`), given that the containers `private` get one copy each.

    `reductions` names containers that iterations combine values into. `updates` names the container that stands in
    the way where all that happens to it is ``acc = acc + x``: making that a combining write would help.
    """

    answer: Answer
    private: tuple[str, ...] = ()
    reductions: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()


def loop_dependences(
    loop: Loop, uses: Uses, *, leaves: bool = True, apart: Collection[str] = ()
) -> LoopDependences:
    """Return the dependences between a loop's iterations; unless `leaves`, as if none ended early.

    Dependences by the containers `apart` are left out: the caller takes care of them.
    """
    obstacle = (_way_out(loop.body) if leaves else None) or _obstacle(loop.body, (loop.param,), uses)
    if obstacle:
        return LoopDependences(Answer(None, str(obstacle)))
    ranges = uses.ranges_at(loop)
    accesses = accesses_of_body(loop, uses)
    private: list[str] = []
    reductions: list[str] = []
    for memory, group in by_memory(accesses).items():
        if memory in apart:
            continue
        if any(access.wcr for access in group):
            reductions.append(memory)
        answer = first_conflict(group, ((loop.param, loop.range),), ranges)
        if answer.is_no:
            continue
        if not _can_be_private(loop, group, uses, ranges):
            return LoopDependences(answer, updates=(memory,) if _candidates(group) else ())
        private.append(memory)
    return LoopDependences(INDEPENDENT, tuple(private), tuple(name for name in reductions if name not in private))


def nodes_depend(first: Node, second: Node, uses: Uses, ranges: Ranges) -> Answer:
    """Dependence test: whether two nodes of one state stay in their order.

    So they do where one writes what the other touches, where both have effects that are seen outside, and where one may
    end the program while the other one writes what the caller sees then.
    """
    facts, theirs_facts = uses.facts(first), uses.facts(second)
    known = facts.get((_MEET, second))
    if known is not None and known[0] is theirs_facts and known[1] is ranges:  # neither has changed since
        answer: Answer = known[2]
        return answer
    answer = _nodes_meet(first, second, uses, ranges)
    facts[_MEET, second] = theirs_facts, ranges, answer
    return answer


def _nodes_meet(first: Node, second: Node, uses: Uses, ranges: Ranges) -> Answer:
    (our_reads, our_writes), (their_reads, their_writes) = memories_of(first, uses), memories_of(second, uses)
    obstacle = _order_of_effects((first, our_writes), (second, their_writes), uses)
    if obstacle:
        return Answer(True, str(obstacle))
    shared = (our_writes.keys() & (their_writes | their_reads)) | (our_reads.keys() & their_writes)
    if not shared:
        return INDEPENDENT
    ours, theirs = accesses_in(first, uses), accesses_in(second, uses)
    return groups_depend(
        [access for access in ours if access.memory in shared],
        [access for access in theirs if access.memory in shared],
        (),
        ranges,
    )


def _order_of_effects(
    first: tuple[Node, Iterable[str]], second: tuple[Node, Iterable[str]], uses: Uses
) -> Refusal | None:
    """Return why the effects of two nodes, with the memories that they write, keep them in order; None if not."""
    (node, _), (other, _) = first, second
    left, right = known_effects_of(node, uses), known_effects_of(other, uses)
    if keep_order(left, right):
        return Refusal(f"the {node.kind} {(left & VISIBLE).words}, the {other.kind} {(right & VISIBLE).words}")
    for raiser, effects, written in ((node, left, second[1]), (other, right, first[1])):
        seen = next((name for name in written if not uses.is_private(name)), "") if Effect.MAY_RAISE in effects else ""
        if seen:
            reason = f"the {raiser.kind} {Effect.MAY_RAISE.words}, and the caller would see what is in {seen!r} then"
            return Refusal(reason)
    return None


def groups_depend(
    ours: Iterable[MemoryAccess], theirs: Iterable[MemoryAccess], points: Sequence[Variable], ranges: Ranges
) -> Answer:
    """Return whether a touch of one part depends on a touch of another at a different point; the worst answer of all
    pairs.
    """
    worst = INDEPENDENT
    right = kinds_of(theirs)
    for first in kinds_of(ours):
        for second in right:
            if first.memory == second.memory and worst.value is not True:
                answer = conflict(first, second, points, ranges)
                worst = answer if answer.is_yes or worst.is_no else worst
    return worst


def happens_before(first: MemoryAccess, second: MemoryAccess, ranges: Ranges) -> Answer:
    """Whether, wherever two touches inside one node meet, the first is over before the second begins.

    So it is where they meet only in one iteration of the loops and maps around both, and stand there in this order. A
    tasklet reads before it writes; of the order inside a library call nothing is known.
    """
    shared = first.shared_scopes(second)
    for depth, scope in enumerate(first.scopes[:shared]):
        iterates = scope.repeats or scope.variables
        if iterates and not _meet_below(first, second, depth + 1, scope.variables, ranges).is_no:
            why = _describe(first, second, scope.variables)
            return Answer(False, f"{why} in another iteration" if scope.repeats else why)
        ranges = Footprint(Subset(), scope.variables).known(ranges)
    in_order = first.position < second.position
    if in_order and (first.place is not second.place or isinstance(first.place, Tasklet)):
        return Answer(True)
    if _meet_below(first, second, shared, (), ranges).is_no:
        return Answer(True)
    return Answer(False, f"{first} and {second} may be the same element{_at(second.place)}")


def _meet_below(
    first: MemoryAccess, second: MemoryAccess, depth: int, points: Sequence[Variable], ranges: Ranges
) -> Answer:
    ours, theirs = _elements(first, depth), _elements(second, depth)
    if ours is None or theirs is None or first.root != second.root:
        return Answer(None if first.memory == second.memory else False)
    return overlap_across(ours, theirs, points, ranges)


def by_memory(accesses: Iterable[MemoryAccess]) -> dict[str, list[MemoryAccess]]:
    """The touches of each memory that is written, in order of first touch."""
    groups: dict[str, list[MemoryAccess]] = {}
    for access in accesses:
        groups.setdefault(access.memory, []).append(access)
    return {memory: group for memory, group in groups.items() if any(access.is_write for access in group)}


def first_conflict(group: Sequence[MemoryAccess], points: Sequence[Variable], ranges: Ranges) -> Answer:
    """Return whether two touches of one memory, at least one a write, meet at different points of an iteration space.
    """
    worst = INDEPENDENT
    for first, second in _different_pairs(group):
        answer = conflict(first, second, points, ranges)
        if answer.is_yes:
            return answer
        if answer.is_unknown and worst.is_no:
            worst = answer
    return worst


def conflict(first: MemoryAccess, second: MemoryAccess, points: Sequence[Variable], ranges: Ranges) -> Answer:
    """Return whether two touches depend on each other at different points of an iteration space (or, without any, at
    all).

    Both are seen from inside the scope whose parameters the points are.
    """
    if not (first.is_write or second.is_write) or (first.wcr and first.wcr == second.wcr):
        return INDEPENDENT
    ours, theirs = _elements(first), _elements(second)
    if ours is None or theirs is None or first.root != second.root:
        return Answer(None, f"{_describe(first, second, points)}: which part of it is not known")
    answer = overlap_across(ours, theirs, points, ranges)
    if answer.is_no:
        return answer
    why = _describe(first, second, points)
    return Answer(answer.value, why if answer.is_yes else f"{why}: {answer.reason}")


def _elements(access: MemoryAccess, common: int = 0) -> Footprint | None:
    """The footprint of an access; of a queue it is not known which elements it gets."""
    return None if access.of_queue else access.footprint(common)


def _different_pairs(group: Sequence[MemoryAccess]) -> Iterator[tuple[MemoryAccess, MemoryAccess]]:
    """Pairs with a write among them."""
    for first, second in combinations_with_replacement(kinds_of(group), 2):
        if first.is_write or second.is_write:
            yield (first, second) if first.is_write else (second, first)


def kinds_of(accesses: Iterable[MemoryAccess]) -> tuple[MemoryAccess, ...]:
    """One touch of each kind: a thousand reads of ``A[i]`` are one."""
    kinds: dict[tuple[object, ...], MemoryAccess] = {}
    for access in accesses:
        kinds.setdefault((access.root, access.subset, access.is_write, access.wcr, access.footprint()), access)
    return tuple(kinds.values())


def _describe(first: MemoryAccess, second: MemoryAccess, points: Sequence[Variable]) -> str:
    """``iteration t writes b[t], iteration t + 1 reads b[t - 1] (jacobi.py:4)``."""
    place = _at(second.place)
    if not points:
        return f"{first} and {second}{place}"
    name = ", ".join(name for name, _ in points)
    other = "another one"
    if len(points) == 1 and first.subset is not None and second.subset is not None:
        gap = distance(first.subset, second.subset, name)
        other = f"iteration {name} {'+' if gap > 0 else '-'} {abs(gap)}" if gap else other
    return f"iteration {name} {first}, {other} {second}{place}"


# -- control flow and symbols ------------------------------------------------------------------------------------------


def iterations_have_order(body: Region, around: Region, uses: Uses) -> Refusal | None:
    """Return why the iterations of a nest keep their order, for all data; None where they need not.

    They may end early, have effects that are seen, or pass symbols on. `body` is what the innermost loop runs, `around`
    what the outermost one does: there the parameters are seen.
    """
    regions = [region for region in regions_around(body) if region is around or is_inside(region, around)]
    obstacle = next(filter(None, map(_way_out, regions)), None) or _obstacle(body, (), uses)
    return obstacle or _seen_outside([name for region in regions for name in region.params], around, uses)


def _way_out(body: Region) -> Refusal | None:
    """Return what may end a loop early. After a check raised, the caller would see what later iterations write.

    `loop-inspection` finds out before which iterations these are. A loop inside that never ends, and nothing that
    raises beside it, is no way out: nothing is visible then, whatever the order is.
    """
    for part in leavers(body):
        if part.effects is Effect.MAY_NOT_END:
            continue
        what = "an index check" if isinstance(part, SymbolAssign) else with_article(part.kind)
        raised = f", by {part.exception}" if isinstance(part, Check) else ""
        return Refusal(f"{what} inside may end it early{raised}", (part,))
    return None


def _obstacle(body: Region, params: Sequence[str], uses: Uses) -> Refusal | None:
    """Return why the iterations cannot be analyzed one by one; None where they can."""
    for node in body.walk_nodes():
        if not node.regions() and Effect.ORDERED in effects_of(node):
            return Refusal(f"the {node.kind} inside {Effect.ORDERED.words}, in the order of the iterations", (node,))
    assigned = symbols_assigned_in(body)
    for symbol in assigned:
        if _takes_over(body, symbol, uses):
            return Refusal(f"symbol {symbol!r} is used in an iteration before it is assigned there")
    return _seen_outside((*params, *assigned), body, uses)


def _seen_outside(symbols: Iterable[str], body: Region, uses: Uses) -> Refusal | None:
    """Return a refusal for a symbol that each run of a part changes and that is used outside; None without one."""
    for symbol in symbols:
        if any(not is_inside(user, body) for user in uses.users(symbol)):
            return Refusal(f"symbol {symbol!r} changes inside and is used outside")
        inside = list(body.walk_regions())
        if any(uses.home(name) not in inside for name in uses.described_by(symbol)):
            return Refusal(f"symbol {symbol!r} changes inside and describes a container outside")
    return None


def _takes_over(region: Region, symbol: str, uses: Uses) -> bool:
    """Return whether a run of a region may use the value that a symbol had before it."""
    described = uses.described_by(symbol)
    for block in region.blocks:
        elements: tuple[Element, ...] = (block, *block.nodes) if isinstance(block, State) else (block,)
        for accesses in map(uses.accesses, elements):
            accessed = (*accesses.reads, *accesses.writes) if described else ()
            if symbol in accesses.symbols or any(name in described for name in accessed):
                return True
        if isinstance(block, SymbolAssign) and block.symbol == symbol:
            return False
        if any(_takes_over(inner, symbol, uses) for inner in block.regions()):
            return True
    return False


# -- privatization -----------------------------------------------------------------------------------------------------


def _can_be_private(loop: Loop, group: Sequence[MemoryAccess], uses: Uses, ranges: Ranges) -> bool:
    """Return whether each iteration may have a copy of its own of what a group of touches touches.

    So it is where only the loop touches it, and each iteration reads only what it wrote itself.
    """
    root = group[0].root
    if any(access.root != root for access in group) or not uses.is_private(root):
        return False
    desc = uses.desc(root)
    if isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE:
        return False
    names = uses.overlapping(root)
    if any(not is_inside(accessor, loop.body) for name in names for accessor in uses.accessors(name)):
        return False
    inside = Footprint(Subset(), ((loop.param, loop.range),)).known(ranges)
    reads = [access for access in group if not access.is_write or access.wcr]
    return all(surely_written_before(read, group, inside).is_yes for read in reads)


def surely_written_before(read: MemoryAccess, group: Iterable[MemoryAccess], ranges: Ranges) -> Answer:
    """Return whether all that `read` reads was surely written before, by touches of `group`, in the same run of the
    part.
    """
    earlier = [
        (access, access.shared_scopes(read))
        for access in group
        if access.is_write and not access.wcr and access.position < read.position and access.root == read.root
    ]
    sure = [(access, common) for access, common in earlier if access.is_sure(common)]
    fixed = max((common for _, common in sure), default=0)
    for scope in read.scopes[:fixed]:
        ranges = Footprint(Subset(), scope.variables).known(ranges)
    inner = read.footprint(fixed)
    outers = [footprint for access, common in sure if (footprint := access.footprint(common)) is not None]
    if inner is None or not outers:
        return Answer(None, f"nothing surely writes {read.container} before")
    return covers(outers, inner, ranges)


def _candidates(group: Sequence[MemoryAccess]) -> bool:
    """Return whether only tasklets that update one element touch it: ``acc = acc + x``."""
    return all(
        isinstance(access.place, Tasklet)
        and access.subset in [other.subset for other in group if other.place is access.place and other is not access]
        for access in group
    )


def _at(part: Block | Node) -> str:
    return "" if part.span is None else f" ({part.span})"

"""RedundantCopyRemoval: what is computed into a temporary and copied is computed in place; what is copied to be read
is read where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.aliasing import in_base, memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dependence.loop_dependences import happens_before, surely_written_before
from dcpy.ir.analysis.polyhedral.integer_sets import overlap
from dcpy.ir.data import Array, Scalar, View
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Block, Check, State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import child_of, is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class RedundantCopyRemoval(Transformation["CopyRedirection | None"]):
    """Make the accesses of a temporary accesses of what it is copied to, or from.

    before   map i: tmp[i] = f(B[i])        after   map i: A[i + 1] = f(B[i])        (write side)
             copy tmp -> A[1:]

    before   copy A[1:] -> tmp              after   map i: B[i] = g(A[i + 1])        (read side)
             map i: B[i] = g(tmp[i])

    The temporary must be copied as a whole and used in this state alone; or be filled in earlier ones, with no more
    than checks and assignments of symbols between. Write side: it is filled before the copy, and what is read or
    written of ``A`` meanwhile happens before the element of the temporary is written: ``f(A[i + 1])`` may stand in the
    map above, ``f(A[i])`` may not, and no library call may read what it writes. Read side: ``A`` does not change before
    the temporary was read for the last time.
    """

    name: ClassVar[str] = "redundant-copy-removal"
    copy = capture(Copy)
    pattern = one(copy)

    def plan(self, m: Match) -> CopyRedirection | Refusal | None:
        """Return how to remove the copy; None where it copies something onto itself.

        Refuses on both sides what would see, or leave, another value than with the copy.
        """
        copy, uses = m[self.copy], m.uses
        if copy.src == copy.dst:
            return None
        written = _write_side(copy, uses)
        if isinstance(written, CopyRedirection):
            return written
        read = _read_side(copy, uses)
        return read if isinstance(read, CopyRedirection) else Refusal(f"write side: {written}; read side: {read}")

    def apply(self, m: Match, plan: CopyRedirection | None, rw: Rewriter) -> None:
        """Redirect the accesses; the copy and the temporary are gone then."""
        copy = m[self.copy]
        if plan is None:
            rw.erase(copy)
            return
        plan.redirect(copy, rw)
        rw.erase(copy)
        rw.undeclare(plan.tmp)


@dataclass(frozen=True, slots=True)
class CopyRedirection:
    """``tmp[x]`` becomes ``base[x]``, where `base` names a subset and x counts within it."""

    tmp: str
    base: Memlet

    def redirect(self, copy: Copy, rw: Rewriter) -> None:
        for accessor in rw.uses.accessors(self.tmp):
            if accessor is copy:
                continue
            if isinstance(accessor, Node):
                rw.replace_memlets(accessor, self.memlet)
            else:
                rw.rewrite_exprs(accessor, lambda expr: rewrite(expr, self.load))

    def memlet(self, memlet: Memlet) -> Memlet:
        if memlet.container != self.tmp:
            return memlet
        return replace(memlet, container=self.base.container, subset=self.base.subset.compose(memlet.subset))

    def load(self, part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load) or part.container != self.tmp:
            return None
        indices = self.base.subset.compose(Subset(part.indices)).indices
        return replace(part, container=self.base.container, indices=indices)

    def access(self, access: MemoryAccess, uses: Uses) -> MemoryAccess:
        """Return the access of the base that replaces an access of the temporary."""
        if access.subset is None:
            return replace(access, memory=memory_of(self.base.container, uses.desc))
        memlet = self.memlet(replace(access.memlet, container=self.tmp, subset=access.subset))
        root, subset = in_base(memlet, uses.desc)
        return replace(access, memlet=memlet, root=root, memory=memory_of(root, uses.desc), subset=subset)


# -- the two sides -----------------------------------------------------------------------------------------------------


def _write_side(copy: Copy, uses: Uses) -> CopyRedirection | Refusal:
    """Return how to compute the copied values in place, or why not."""
    found = CopyRedirection(copy.src.container, copy.dst)
    span = _unfit(found, copy, copy.src, uses) or _span(copy, found.tmp, uses, after=False)
    if isinstance(span, Refusal):
        return span
    ranges, accesses = uses.ranges_at(copy), list(_numbered_accesses(span, uses))
    mine = [access for _, access in accesses if access.root == found.tmp]
    for read in mine:
        if (not read.is_write or read.wcr) and not surely_written_before(read, mine, ranges).is_yes:
            return Refusal(f"{found.tmp!r} may not be filled before it is read or copied")
    kept = uses.is_private(uses.root(copy.dst.container))
    if not kept and any(Effect.MAY_RAISE in effects_of(node) for node in span):
        return Refusal(f"an exception on the way would leave {copy.dst.container!r} half written")
    inside = [(index, access) for index, access in accesses if access.place is not copy]
    return _hazard(found, inside, uses, ranges, in_place=True) or found


def _read_side(copy: Copy, uses: Uses) -> CopyRedirection | Refusal:
    """Return how to read the copied values where they are, or why not."""
    found = CopyRedirection(copy.dst.container, copy.src)
    span = _unfit(found, copy, copy.dst, uses) or _span(copy, found.tmp, uses, after=True)
    if isinstance(span, Refusal):
        return span
    if uses.writers(found.tmp) != (copy,):
        return Refusal(f"{found.tmp!r} is written elsewhere too")
    inside = [(index, access) for index, access in _numbered_accesses(span, uses) if access.place is not copy]
    return _hazard(found, inside, uses, uses.ranges_at(copy), in_place=False) or found


def _unfit(found: CopyRedirection, copy: Copy, whole: Memlet, uses: Uses) -> Refusal | None:
    """Return why the base cannot replace a temporary, accessed by the copy as `whole`; None where it can."""
    tmp, base = uses.desc(found.tmp), uses.desc(found.base.container)
    if not uses.is_private(found.tmp) or not isinstance(tmp, Array | Scalar) or len(uses.overlapping(found.tmp)) > 1:
        return Refusal(f"{found.tmp!r} must stay in memory: it is an argument, a result, or has views")
    if whole.subset != Subset.whole(tmp.shape):
        return Refusal(f"{whole} is not all of {found.tmp!r}")
    if any(memlet.wcr or memlet.dynamic for memlet in (whole, found.base)):
        return Refusal("the copy combines values, or may not happen")
    if not isinstance(base, Array | Scalar | View):
        return Refusal(f"{found.base.container!r} is no array")
    if tmp.dtype != base.dtype or tmp.storage != _storage(found.base.container, uses):
        return Refusal(f"{found.tmp!r} and {found.base.container!r} are stored differently")
    for symbol in found.base.subset.symbols:
        for definer in uses.definers(symbol):
            if isinstance(definer, SymbolAssign) and copy.state is not None and is_inside(definer, copy.state):
                return Refusal(f"symbol {symbol!r} may change on the way", (definer,))
    return None


def _storage(container: str, uses: Uses) -> tuple[object, ...] | None:
    root = uses.desc(uses.root(container))
    return root.storage if isinstance(root, Array | Scalar) else None


def _span(copy: Copy, tmp: str, uses: Uses, *, after: bool) -> Sequence[Node | Block] | Refusal:
    """The nodes from the first user of a temporary to the copy, or from the copy to the last user; else why not."""
    state = copy.state
    users = [None if state is None else child_of(state, part) for part in uses.accessors(tmp) if part is not copy]
    if state is None or None in users:
        elsewhere = Refusal(f"{tmp!r} is used in another state")
        return elsewhere if after or state is None else _span_of_blocks(copy, state, tmp, uses) or elsewhere
    position = state.index(copy)
    places = [state.index(user) for user in dict.fromkeys(users) if user is not None]
    if not places:
        return Refusal(f"{tmp!r} is {'never read' if after else 'not written'}")
    if after and min(places) > position:
        return state.nodes[position : max(places) + 1]
    if not after and max(places) < position:
        return state.nodes[min(places) : position + 1]
    return Refusal(f"{tmp!r} is used {'before' if after else 'after'} the copy")


def _span_of_blocks(copy: Copy, state: State, tmp: str, uses: Uses) -> Sequence[Node | Block] | Refusal | None:
    """The same, where the temporary is filled in earlier states: blocks between may check, and assign symbols."""
    region = state.region
    assert region is not None
    users = [child_of(region, part) for part in uses.accessors(tmp)]
    places = [region.index(user) for user in users if isinstance(user, State)]
    last = state.nodes[: state.index(copy) + 1]
    position = region.index(state)
    if len(places) < len(users) or max(places) > position:
        return None
    if any(child_of(state, part) not in (None, *last) for part in uses.accessors(tmp)):
        return None
    span: list[Node | Block] = []
    for block in region.blocks[min(places) : position]:
        if not isinstance(block, State | Check | SymbolAssign):
            return None
        span += block.nodes if isinstance(block, State) else [block]
    return _reshaped(copy, span, uses) or (*span, *last)


def _reshaped(copy: Copy, span: Sequence[Node | Block], uses: Uses) -> Refusal | None:
    """Return why the part that the copy fills changes before the copy; None where it does not."""
    descs = [uses.desc(memlet.container) for memlet in (copy.src, copy.dst)]
    if not all(isinstance(desc, Array | Scalar) for desc in descs):
        return Refusal(f"{copy.dst.container!r} is a view")
    exprs = (*(size for desc in descs for size in desc.shape), *copy.dst.subset.dims)
    symbols = {symbol for expr in exprs for symbol in expr.symbols}
    for part in span:
        if isinstance(part, SymbolAssign) and part.symbol in symbols:
            return Refusal(f"symbol {part.symbol!r} is assigned on the way", (part,))
    return None


def _numbered_accesses(nodes: Sequence[Node | Block], uses: Uses) -> Iterator[tuple[int, MemoryAccess]]:
    """The accesses of each node with the node's number; positions count through all of them."""
    position = 0
    for index, node in enumerate(nodes):
        for access in accesses_in(node, uses):
            yield index, replace(access, position=position)
            position += 1


def _hazard(
    found: CopyRedirection, accesses: Sequence[tuple[int, MemoryAccess]], uses: Uses, ranges: Ranges, *, in_place: bool
) -> Refusal | None:
    """An access of the base that would see, or leave, another value if the temporary's accesses went to the base.

    The write side moves accesses of the temporary (`in_place`) before those of the base that come after them; the read
    side moves them behind.
    """
    moved = [(index, found.access(access, uses)) for index, access in accesses if access.root == found.tmp]
    memory = {access.memory for _, access in moved}
    others = [(index, access) for index, access in accesses if access.memory in memory and access.root != found.tmp]
    for place, mine in moved:
        for index, other in others:
            if not (mine.is_write or other.is_write) or (index < place if in_place else index > place):
                continue
            if index == place:
                first, second = (other, mine) if in_place else (mine, other)
                answer = happens_before(first, second, ranges)
                if not answer.is_yes:
                    return Refusal(answer.reason or f"{first} and {second} may be the same element")
            elif not _apart(mine, other, ranges):
                return Refusal(f"{other} happens between")
    return None


def _apart(mine: MemoryAccess, other: MemoryAccess, ranges: Ranges) -> bool:
    ours, theirs = mine.footprint(), other.footprint()
    same_root = ours is not None and theirs is not None and mine.root == other.root
    return same_root and ours is not None and theirs is not None and overlap(ours, theirs, ranges).is_no

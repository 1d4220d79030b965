"""CyclicShiftToMap: the two copies of a cyclic shift become one map, which can be fused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of, min_of, sym
from dcpy.ir.tree import dominates, is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class CyclicShift:
    """``target[i] = source[i + before]`` for ``i < end`` along an axis, ``source[i + behind]`` from there on.

    `starts` are where the source begins along each axis.
    """

    first: Copy
    axis: int
    end: Expr
    before: Expr
    behind: Expr
    starts: tuple[Expr, ...]


@dataclass(frozen=True)
class CyclicShiftToMap(Transformation[CyclicShift]):
    """Write an array that two copies fill from one source, ``np.roll(x, s)``, by one map whose index jumps.

    before   copy x[0:N - s] -> t[s:N]            after   map i = 0:N { t[i] = x[i - s + N*max(0, min(1, s - i))] }
             copy x[N - s:N] -> t[0:s]                    map j = 0:N { y[j] = x[j] + t[j] }
             map j = 0:N { y[j] = x[j] + t[j] }

    Applies where tasklets read the array, so that fusion can put the read of the source in place of it;
    `index-set-splitting` takes the jump out of loops again. So are the halves of ``np.concatenate((x[s:], x[:s]))``.
    Where the source is written later in the state, the map reads a copy of it, which all shifts of it share: fusion
    could not bring the two together else.
    """

    name: ClassVar[str] = "cyclic-shift-to-map"
    optional: ClassVar[bool] = True
    second = capture(Copy)
    pattern = one(second)

    def plan(self, m: Match) -> CyclicShift | Refusal:
        """The shift. Refuses copies that are no halves of one, and arrays that no map reads."""
        second, uses = m[self.second], m.uses
        target, state = second.dst.container, second.state
        desc = uses.desc(target)
        if not isinstance(desc, Array) or not uses.is_private(target) or desc.lifetime is Lifetime.PERSISTENT:
            return Refusal(f"{target!r} is no temporary array")
        if desc.distribution is not None or uses.views_of(target):
            return Refusal(f"{target!r} is distributed, or has views")
        writers = [writer for writer in uses.writers(target) if writer is not second]
        if len(writers) != 1 or not isinstance(writers[0], Copy) or writers[0].state is not state or state is None:
            return Refusal(f"{target!r} is not written by two copies of one state")
        first = writers[0]
        if state.index(first) > state.index(second):
            return Refusal("it is the first one of two copies")
        if not uses.readers(target) or not all(isinstance(reader, Tasklet) for reader in uses.readers(target)):
            return Refusal(f"{target!r} is read by more than tasklets")
        early = tuple(reader for reader in uses.readers(target) if not dominates(second, reader))
        if early:
            return Refusal(f"{target!r} is read before both parts are there", early)
        source = first.src.container
        if source != second.src.container or source == target or uses.desc(source).dtype != desc.dtype:
            return Refusal("the copies have different sources")
        if any(uses.writers_between(name, first, second) for name in uses.overlapping(source)):
            return Refusal(f"{source!r} is written between the copies")
        return _shift(first, second, desc, uses) or Refusal("the copies are not two parts of the array along an axis")

    def apply(self, m: Match, plan: CyclicShift, rw: Rewriter) -> Map:
        """Return the map."""
        second = m[self.second]
        source, target = second.src.container, second.dst.container
        if _is_written_later(source, second, rw.uses):
            source = _kept(source, plan.first, rw)
        shape = rw.uses.desc(target).shape
        params = tuple(rw.fresh_name("i") for _ in shape)
        indices = [start + sym(param) for start, param in zip(plan.starts, params, strict=True)]
        param = sym(params[plan.axis])
        indices[plan.axis] = param + plan.behind + (plan.before - plan.behind) * jump(param, plan.end)
        dtype = rw.uses.desc(target).dtype
        move = Tasklet(
            {"a": Memlet(source, Subset.point(*indices))},
            {"out": Memlet(target, Subset.point(*map(sym, params)))},
            (("out", Ref("a", dtype)),),
            span=second.span,
        )
        whole = Map(params, tuple(Range(ZERO, size) for size in shape), Region([State(nodes=[move])]), span=second.span)
        rw.replace(second, whole)
        rw.erase(plan.first)
        return whole


def _is_written_later(source: str, second: Copy, uses: Uses) -> bool:
    state = second.state
    writers = (writer for name in uses.overlapping(source) for writer in uses.writers(name))
    return any(state is not None and is_inside(writer, state) and dominates(second, writer) for writer in writers)


def _kept(source: str, first: Copy, rw: Rewriter) -> str:
    """The name of a copy of the source before a node: one that is there already, or a new one."""
    state, uses = first.state, rw.uses
    assert state is not None
    whole = Memlet(source, Subset.whole(uses.desc(source).shape))
    place = state.index(first)
    for node in (*reversed(state.nodes[:place]), *state.nodes[place:]):
        if isinstance(node, Copy) and node.src == whole and _is_whole_copy(node, first, uses):
            if state.index(node) > place:
                rw.move_nodes([node], state, place)
            return node.dst.container
    desc = uses.desc(source)
    fresh = Array.packed(desc.dtype, desc.shape, transient=True, span=first.span)
    name = rw.declare_fresh("before", fresh, state.region)
    rw.add_node_before(first, Copy(whole, Memlet(name, Subset.whole(desc.shape)), span=first.span))
    return name


def _is_whole_copy(copy: Copy, first: Copy, uses: Uses) -> bool:
    """Return whether a copy fills a temporary, and neither it nor its source is written between it and a node."""
    kept, source, state = copy.dst.container, copy.src.container, first.state
    if not uses.is_private(kept) or uses.writers(kept) != (copy,) or uses.desc(kept).shape != uses.desc(source).shape:
        return False
    assert state is not None
    ends = sorted((copy, first), key=state.index)
    return not any(uses.writers_between(name, *ends) for name in uses.overlapping(source))


def jump(param: Expr, end: Expr) -> Expr:
    """1 where ``param < end``, else 0."""
    return max_of(0, min_of(1, end - param))


def _shift(first: Copy, second: Copy, desc: Array, uses: Uses) -> CyclicShift | None:
    """The shift that two copies make; None where they do not fill the array, or leave the order of its axes."""
    ranges = uses.ranges_at(second)
    pairs = [(copy.src.subset.dims, copy.dst.subset.dims) for copy in (first, second)]
    if any(len(source) != len(target) for source, target in pairs):
        return None
    found: CyclicShift | None = None
    starts: list[Expr] = []
    for axis, size in enumerate(desc.shape):
        parts = [(source[axis], target[axis]) for source, target in pairs]
        bands = [_moved(source, target) for source, target in parts]
        if None in bands:
            return None
        (start, stop, offset), (other, end, other_offset) = sorted(
            (band for band in bands if band is not None), key=lambda band: band[0] is not ZERO
        )
        if start is not ZERO:
            return None
        if (stop, offset) == (end, other_offset) and other is ZERO and stop is size:
            starts.append(offset)
        elif stop is other and end is size and found is None and _is_plain(stop) and ranges.proves_nonneg(size - stop):
            starts.append(ZERO)
            found = CyclicShift(first, axis, stop, offset, other_offset, ())
        else:
            return None
    if found is None:
        return None
    return CyclicShift(first, found.axis, found.end, found.before, found.behind, tuple(starts))


def _moved(source: Expr | Range, target: Expr | Range) -> tuple[Expr, Expr, Expr] | None:
    """Return where a band of the target begins and ends, and how far behind it the source is; None for other steps."""
    if not isinstance(source, Range) or not isinstance(target, Range):
        return None
    if source.step is not ONE or target.step is not ONE:
        return None
    return target.start, target.stop, source.start - target.start


def _is_plain(end: Expr) -> bool:
    """Return whether an expression takes no division: one is computed for each element."""
    return all(atom.kind in ("sym", "min", "max") for monomial, _ in end.terms for atom, _ in monomial)

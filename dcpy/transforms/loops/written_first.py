"""Definite assignment along a dimension: a point writes each element of an array before it reads it.

The body of a map over points is a sequence of tasklets and of loops over tasklets. The analysis follows intervals of
the one dimension that no point indexes: elements that earlier blocks, iterations and tasklets have surely written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Block, Loop, State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, sym

Interval = tuple[Expr, Expr]  # from the first one up to the second one, which is not in it; there may be none in it


def writes_first(outer: Map, name: str, kept: Sequence[int], uses: Uses) -> bool:
    """Return whether no point reads an element of `name` before it has written it; `kept`: the other dimensions.

    False if that is not proved: several such dimensions, or indices that are not a loop parameter plus a number.
    """
    return len(kept) <= 1 and _Follow(name, tuple(kept), uses).blocks(outer.body.blocks, []) is not None


@dataclass(frozen=True, slots=True)
class _Follow:
    name: str
    kept: tuple[int, ...]
    uses: Uses

    def blocks(self, blocks: Iterable[Block], written: list[Interval]) -> list[Interval] | None:
        """The intervals written after some blocks; None if the blocks read elements that may be unwritten."""
        for block in blocks:
            more = self._state(block, written) if isinstance(block, State) else self._loop(block, written)
            if more is None:
                return None
            written = more
        return written

    def _state(self, state: State, written: list[Interval]) -> list[Interval] | None:
        ranges = self.uses.ranges_at(state)
        for node in state.nodes:
            if not isinstance(node, Tasklet) or any(memlet.wcr for memlet in self._mine(node.writes())):
                return None
            reads, writes = self._indices(node.reads()), self._indices(node.writes())
            if reads is None or writes is None or not all(_is_in(index, written, ranges) for index in reads):
                return None
            written = [*written, *((index, index + ONE) for index in writes)]
        return written

    def _loop(self, block: Block, written: list[Interval]) -> list[Interval] | None:
        if not isinstance(block, Loop) or block.range.step.constant not in (1, -1):
            return None
        if not all(isinstance(inner, State) for inner in block.body.blocks):
            return None
        indices = self._indices(memlet for node in block.body.walk_nodes() for memlet in node.writes())
        if indices is None:
            return None
        own = [index for index in dict.fromkeys(indices) if block.param in index.symbols]
        if any(block.param in (index - sym(block.param)).symbols for index in own):
            return None
        before = [_iterations(index, block, sym(block.param)) for index in own]
        if self.blocks(block.body.blocks, [*written, *before]) is None:
            return None
        return [*written, *(_iterations(index, block, block.range.stop) for index in own)]

    def _mine(self, memlets: Iterable[Memlet]) -> list[Memlet]:
        return [memlet for memlet in memlets if memlet.container == self.name]

    def _indices(self, memlets: Iterable[Memlet]) -> list[Expr] | None:
        """The indices that an access touches along the dimension; None if it touches several at once."""
        found: list[Expr] = []
        for memlet in self._mine(memlets):
            index = memlet.subset.dims[self.kept[0]] if self.kept else ZERO
            if isinstance(index, Range):
                return None
            found.append(index)
        return found


def _iterations(index: Expr, loop: Loop, end: Expr) -> Interval:
    """The interval that the iterations of a loop before `end`, a value of its parameter, have written at an index."""
    first, last = index.subs({loop.param: loop.range.start}), index.subs({loop.param: end})
    return (first, last) if loop.range.step is ONE else (last + ONE, first + ONE)


def _is_in(index: Expr, written: list[Interval], ranges: Ranges) -> bool:
    """Return whether an index is in one of the intervals, or in a gapless sequence of them."""
    return any(
        ranges.proves_le(first, index) and _reaches(index, end, [one for one in written if one[0] is not first], ranges)
        for first, end in written
    )


def _reaches(index: Expr, end: Expr, others: list[Interval], ranges: Ranges) -> bool:
    """Return whether an interval that ends at `end`, or one that continues it, contains an index after its start."""
    if ranges.proves_lt(index, end):
        return True
    return any(
        ranges.proves_le(begin, end) and _reaches(index, later, [one for one in others if one[0] is not begin], ranges)
        for begin, later in others
    )

"""Copies of an array that blocks of threads combine into, and what adds them up: the parts of privatization.

A block takes a chunk of iterations, in rounds of one iteration for each thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcpy.ir import types
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.editing.nest_edits import set_axes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Block, Branch, Loop, Region, State, SymbolAssign
from dcpy.ir.schedules import BLOCK, GRID, SEQUENTIAL
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, as_expr, min_of, sym
from dcpy.ir.types import DType

ROUNDS = 16  #: iterations of each thread


class PrivateCopies:
    """A kernel around what was a map, with a copy of its target for each block; the copies are added up behind it."""

    def __init__(self, node: Map, target: Memlet, most: int, threads: int, rw: Rewriter) -> None:
        assert node.state is not None
        assert node.state.region is not None
        desc = rw.uses.desc(target.container)
        self.node, self.rw, self.threads, self.wcr, self.dtype = node, rw, threads, target.wcr, desc.dtype
        (self.param,), (values,) = node.params, node.domain
        self.stop, self.size, length = values.stop, desc.shape[0], ROUNDS * threads
        chunks = Range(values.start, values.stop, as_expr(length))
        self.start = sym(rw.fresh_name("chunk"))
        self.end = min_of(self.start + length, values.stop)
        self.kernel = Map((str(self.start),), (chunks,), Region(), GRID, span=node.span)
        rw.add_node_before(node, self.kernel)
        self.private_copy = self._shared("mine", desc.dtype, most)
        array = Array.packed(desc.dtype, (chunks.size, desc.shape[0]), transient=True, span=node.span)
        copies = rw.declare_fresh("copies", array, node.state.region)
        bin_, zero = self._fresh("b"), Const(identity_value(target.wcr, desc.dtype), desc.dtype)
        number = (self.start - values.start) // length
        mine, its = _element(self.private_copy, bin_), Memlet(copies, Subset.point(number, bin_))
        clear = self._for_all_bins(bin_, Tasklet({}, {"o": mine}, (("o", zero),)))
        last = self._fresh("b")
        keep = Tasklet({"a": _element(self.private_copy, last)}, {"o": replace(its, subset=Subset.point(number, last))},
                       (("o", Ref("a", desc.dtype)),))  # fmt: skip
        rw.insert(State(nodes=[clear], span=node.span), self.kernel.body)
        rw.insert(State(nodes=[self._for_all_bins(last, keep)], span=node.span), self.kernel.body)
        self._add_up(copies, chunks.size, target)

    def by_atomic_updates(self, tasklet: Tasklet, index: Expr) -> None:
        """Threads meet in the copy of their block."""
        rw, thread, state = self.rw, self._fresh("t"), State(span=self.node.span)
        self._insert(State(nodes=[_map(thread, self.threads, [state])]))
        rw.move_nodes([self.node], state)
        set_axes(self.node, {self.param: Range(self.start + thread, self.end, as_expr(self.threads))}, rw)
        rw.update(self.node, schedule=SEQUENTIAL)
        rw.update(tasklet, outputs=dict.fromkeys(tasklet.outputs, _element(self.private_copy, index, self.wcr)))

    def by_owners(self, tasklet: Tasklet, index: Expr) -> None:
        """Let all threads find out in each round what falls where; then each takes what falls into its own bins,
        in the order of the iterations.
        """
        rw, threads = self.rw, as_expr(self.threads)
        turn, thread, owner, other = (self._fresh(stem) for stem in ("r", "t", "u", "s"))
        bins, values = self._shared("bins", types.int64, self.threads), self._shared("values", self.dtype, self.threads)
        first = self.start + turn * threads
        none = Tasklet({}, {"o": _element(bins, thread)}, (("o", Const(-1, types.int64)),))
        bin_ = self._fresh("k")
        rw.sdfg.assign_symbol(str(bin_))
        place, value = _element(self.private_copy, bin_), _element(values, other)
        code = op(self.wcr, Ref("a", self.dtype), Ref("b", self.dtype))
        combine = State(nodes=[Tasklet({"a": place, "b": value}, {"o": place}, (("o", code),))])
        found: list[Block] = [
            SymbolAssign(str(bin_), Load(bins, (other,), types.int64)),
            Branch([(_is_owned(bin_, owner, self.threads), Region([combine]))]),
        ]
        taking = _map(owner, self.threads, [Loop(str(other), Range(ZERO, threads), Region(found), SEQUENTIAL)])
        round_ = State(nodes=[_map(thread, self.threads, [State(nodes=[none])]), taking], span=self.node.span)
        self._insert(Loop(str(turn), Range(ZERO, as_expr(ROUNDS)), Region([round_]), SEQUENTIAL, span=self.node.span))
        rw.move_nodes([self.node], round_, 1)
        set_axes(self.node, {self.param: Range(first, min_of(first + threads, self.stop))}, rw)
        rw.update(self.node, schedule=BLOCK)
        slot, state = sym(self.param) - first, tasklet.state
        assert state is not None
        rw.update(tasklet, outputs=dict.fromkeys(tasklet.outputs, _element(values, slot)))
        note = Tasklet({}, {"o": _element(bins, slot)}, (("o", Index(index)),), span=tasklet.span)
        rw.add_node(note, state, state.index(tasklet) + 1)

    def _add_up(self, copies: str, count: Expr, target: Memlet) -> None:
        """``target[b] (op)= copies[q, b]``, for all copies in order."""
        bin_, number = self._fresh("b"), self._fresh("q")
        source = Memlet(copies, Subset.point(number, bin_))
        move = Tasklet({"a": source}, {"o": _element(target.container, bin_, self.wcr)}, (("o", Ref("a", self.dtype)),))
        inner = Map((str(number),), (Range(ZERO, count),), Region([State(nodes=[move])]), span=self.node.span)
        outer = Map((str(bin_),), (Range(ZERO, self.size),), Region([State(nodes=[inner])]), span=self.node.span)
        state = self.kernel.state
        assert state is not None
        self.rw.add_node(outer, state, state.index(self.kernel) + 1)

    def _for_all_bins(self, bin_: Expr, tasklet: Tasklet) -> Map:
        """A map of the block whose threads take turns, however many bins there are."""
        thread = self._fresh("t")
        values = Range(thread, self.size, as_expr(self.threads))
        inner = Map((str(bin_),), (values,), Region([State(nodes=[tasklet])]), SEQUENTIAL, span=self.node.span)
        return _map(thread, self.threads, [State(nodes=[inner])])

    def _insert(self, block: Block) -> None:
        """Between what clears the copy and what keeps it."""
        self.rw.insert(block, self.kernel.body, 1)

    def _shared(self, stem: str, dtype: DType, count: int) -> str:
        array = Array.packed(dtype, (count,), transient=True, span=self.node.span)
        shared = replace(array, space=Space.SHARED, allocation=Allocation.STACK)
        return self.rw.declare_fresh(stem, shared, self.kernel.body)

    def _fresh(self, stem: str) -> Expr:
        return sym(self.rw.fresh_name(stem))


def _is_owned(bin_: Expr, owner: Expr, threads: int) -> ScalarExpr:
    """Return whether something falls into a bin, and this thread owns it."""
    some = op("ge", Index(bin_), Const(0, types.int64))
    power = threads & (threads - 1) == 0
    number = op("bitand" if power else "mod", Index(bin_), Const(threads - power, types.int64))
    mine = op("eq", number, Index(owner))
    return op("and", some, mine)


def _map(param: Expr, count: int, blocks: Sequence[Block]) -> Map:
    return Map((str(param),), (Range(ZERO, as_expr(count)),), Region(list(blocks)), BLOCK)


def _element(container: str, index: Expr, wcr: str = "") -> Memlet:
    return Memlet(container, Subset.point(index), wcr)

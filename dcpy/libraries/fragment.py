"""Fragments, into which expansions write: operands to index, and statements that become nodes and blocks.

A `Fragment` belongs to one library node. It reads like the loop nest that it makes::

    with f.map(Range.of(0, rows)) as i:
        acc = f.scalar("acc", x.dtype)
        f.put(acc.at(), 0)
        with f.map(Range.of(0, columns)) as j:
            f.put(acc.at(), x.at(i, j), wcr="add")
        f.put(out.at(i), acc.at())

Nothing of the SDFG changes before `replacement` is installed by the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

from dcpy.base.errors import ExpansionError
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.name_resolution import desc_at
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.data import Allocation, Array, Data, Scalar, Space, View, packed_strides, strides_of
from dcpy.ir.expressions.scalar import Const, Load, Ref, ScalarExpr, cast
from dcpy.ir.library.expansions import Replacement
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, sym
from dcpy.ir.tree import sdfg_of
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a container, with its dtype."""

    memlet: Memlet
    dtype: DType


@dataclass(frozen=True, slots=True)
class Operand:
    """Array of a connector: the kept dimensions of its memlet."""

    memlet: Memlet
    desc: Data

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.desc.dtype

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Sizes of the kept dimensions."""
        return self.memlet.subset.shape

    @property
    def strides(self) -> tuple[Expr, ...]:
        """Distances in elements between neighbours along each kept dimension."""
        pairs = zip(self.memlet.subset.dims, strides_of(self.desc), strict=True)
        return tuple(stride * dim.step for dim, stride in pairs if isinstance(dim, Range))

    def at(self, *indices: ExprLike) -> Element:
        """One element; as many indices as dimensions."""
        return Element(replace(self.memlet, subset=self.memlet.subset.compose(Subset.point(*indices))), self.dtype)


class Fragment:
    """Collects what replaces `node`; see the module."""

    def __init__(self, node: LibraryNode, costs: Costs = COSTS) -> None:
        self.node = node
        self.costs = costs
        self.sdfg = sdfg_of(node)
        self.ranges = ranges_at(node)
        self._body = Region()
        self._regions: list[Region] = [self._body]
        self._returns: list[tuple[Operand, Operand]] = []
        self._names: dict[str, None] = {}
        self._symbols: list[str] = []

    # -- operands ----------------------------------------------------------------------------------------------

    def input(self, connector: str) -> Operand:
        """Return an input's array; `ExpansionError` where the node has no such input."""
        if connector not in self.node.inputs:
            raise ExpansionError(f"{self.node.kind} has no input {connector!r}", span=self.node.span)
        return self._operand(self.node.inputs[connector])

    def output(self, connector: str) -> Operand:
        """Return the array for an output: the container itself, or a temporary where an input may overlap it.

        An input of the same name and memlet is updated in place, element by element.
        """
        out = self._operand(self.node.outputs[connector])
        place = (out.memlet.container, out.memlet.subset)
        others = [
            memlet
            for name, memlet in self.node.inputs.items()
            if name != connector or (memlet.container, memlet.subset) != place
        ]
        if not out.memlet.wcr and not any(self._may_overlap(memlet, out.memlet) for memlet in others):
            return out
        fresh = self.array(f"{out.memlet.container}_new", out.dtype, out.shape, outermost=True)
        self._returns.append((fresh, out))
        return fresh

    def decline(self, reason: str) -> NoReturn:
        """Say that this expansion does not fit the node, and why."""
        raise ExpansionError(reason, span=self.node.span)

    def _operand(self, memlet: Memlet) -> Operand:
        return Operand(memlet, desc_at(self.node, memlet.container))

    def _may_overlap(self, one: Memlet, other: Memlet) -> bool:
        if one.container == other.container:
            return not one.subset.disjoint(other.subset, self.ranges)
        mine, its = (memory_of(memlet.container, lambda name: desc_at(self.node, name)) for memlet in (one, other))
        return mine == its

    def fresh_name(self, stem: str) -> str:
        """A name that nothing in the SDFG or in this fragment has: `stem` itself, or with a number.

        The number is found by bisection: there may be as many names of that stem as library nodes.
        """
        name = stem
        if self._is_taken(stem):
            taken, free = 0, 1
            while self._is_taken(f"{stem}_{free}"):
                taken, free = free, 2 * free
            while free - taken > 1:
                middle = (taken + free) // 2
                taken, free = (middle, free) if self._is_taken(f"{stem}_{middle}") else (taken, middle)
            name = f"{stem}_{free}"
        self._names[name] = None
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self._names or not self.sdfg.is_free(name)

    # -- containers --------------------------------------------------------------------------------------------

    def scalar(self, stem: str, dtype: DType, *, outermost: bool = False) -> Operand:
        """A new scalar, private to the innermost scope that is open (or declared outside of all)."""
        return self._declare(stem, Scalar(dtype, transient=True), outermost)

    def array(
        self, stem: str, dtype: DType, shape: Sequence[ExprLike], *, order: str = "C", outermost: bool = False
    ) -> Operand:
        """A new packed array, private to the innermost scope that is open (or declared outside of all)."""
        return self._declare(stem, Array.packed(dtype, shape, order=order, transient=True), outermost)

    def shared(self, stem: str, dtype: DType, shape: Sequence[int]) -> Operand:
        """A new array that the threads of a block share; in a map over blocks of a device."""
        desc = Array.packed(dtype, shape, transient=True)
        name = self.fresh_name(stem)
        self._regions[-1].containers[name] = replace(desc, space=Space.SHARED, allocation=Allocation.STACK)
        return Operand(Memlet(name, Subset.whole(desc.shape)), desc)

    def _declare(self, stem: str, desc: Scalar | Array, outermost: bool) -> Operand:
        name = self.fresh_name(stem)
        (self._body if outermost else self._regions[-1]).containers[name] = desc
        return Operand(Memlet(name, Subset.whole(desc.shape)), desc)

    def declare_outermost(self, stem: str, desc: Data) -> str:
        """A new container of any kind, outside of all scopes; gives its name."""
        name = self.fresh_name(stem)
        self._body.containers[name] = desc
        return name

    def is_packed(self, operand: Operand) -> bool:
        """Return whether an operand is a whole container whose elements lie in C order without gaps."""
        memlet, desc = operand.memlet, operand.desc
        is_whole = memlet.subset == Subset.whole(desc.shape)
        return is_whole and isinstance(desc, Array | View) and desc.strides == packed_strides(desc.shape)

    def flat(self, operand: Operand) -> Operand | None:
        """All elements of an operand as one dimension, without a copy; None where they have gaps."""
        if not self.is_packed(operand):
            return None
        memlet = operand.memlet
        view = View.reshape(memlet.container, operand.desc, (memlet.volume,))
        return self.viewed(f"{memlet.container}_flat", view)

    def reals(self, operand: Operand) -> Operand:
        """The numbers of a packed operand as one dimension of real ones: a complex one is two, its parts."""
        memlet, desc = operand.memlet, operand.desc
        real, parts = desc.dtype.real, 2 if desc.dtype.kind == "c" else 1
        offset = desc.offset * parts if isinstance(desc, View) else ZERO
        view = View(memlet.container, real, (memlet.volume * parts,), (ONE,), offset)
        return self.viewed(f"{memlet.container}_reals", view)

    def viewed(self, stem: str, view: View, *, outermost: bool = True) -> Operand:
        """The whole of a view, declared outside of all (or in the innermost scope that is open, as what it shows)."""
        name = self.fresh_name(stem)
        (self._body if outermost else self._regions[-1]).containers[name] = view
        return Operand(Memlet(name, Subset.whole(view.shape)), view)

    def append(self, block: Block) -> None:
        """Append a block to the innermost scope that is open."""
        self._regions[-1].add(block)

    # -- statements --------------------------------------------------------------------------------------------

    def add(self, node: Node) -> Node:
        """Append a node to the innermost scope that is open."""
        blocks = self._regions[-1].blocks
        if not blocks or not isinstance(blocks[-1], State):
            self._regions[-1].add(State())
        state = self._regions[-1].blocks[-1]
        node.span = node.span or self.node.span
        return state.add(node)  # type: ignore[attr-defined,no-any-return]

    def compute(
        self, target: Element, value: Callable[..., ScalarExpr], *sources: Element, wcr: str = "", name: str = ""
    ) -> Node:
        """``target = value(*sources)``, converted to the target's dtype. With `wcr` it is combined with what is there.

        `value` gets one `Ref` per source.
        """
        refs = [Ref(f"{_CONNECTORS[index]}", source.dtype) for index, source in enumerate(sources)]
        code = (("out", cast(value(*refs), target.dtype)),)
        inputs = {ref.name: source.memlet for ref, source in zip(refs, sources, strict=True)}
        return self.add(Tasklet(inputs, {"out": replace(target.memlet, wcr=wcr)}, code, name))

    def put(self, target: Element, source: Element | bool | int | float | complex, *, wcr: str = "") -> Node:
        """``target = source``: an element, or a number."""
        if isinstance(source, Element):
            return self.compute(target, lambda ref: ref, source, wcr=wcr)
        return self.compute(target, lambda: Const(source, target.dtype), wcr=wcr)

    # -- scopes ------------------------------------------------------------------------------------------------

    @contextmanager
    def map(self, values: Range, schedule: Schedule = UNDECIDED, param: str = "i") -> Iterator[Expr]:
        """A map over one range; gives its parameter."""
        with self.maps([values], schedule, param) as (index,):
            yield index

    @contextmanager
    def maps(
        self, domain: Sequence[Range], schedule: Schedule = UNDECIDED, param: str = "i"
    ) -> Iterator[tuple[Expr, ...]]:
        """A map over several ranges; gives its parameters. No ranges, no map."""
        if not domain:
            yield ()
            return
        params = tuple(self.fresh_name(param) for _ in domain)
        body = Region()
        self.add(Map(params, tuple(domain), body, schedule))
        with self.inside(body):
            yield tuple(map(sym, params))

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Statements go into `region`."""
        self._regions.append(region)
        try:
            yield
        finally:
            self._regions.pop()

    @contextmanager
    def loop(self, values: Range, param: str = "k") -> Iterator[Expr]:
        """A sequential loop, whose iterations may depend on each other; gives its parameter."""
        name = self.fresh_name(param)
        body = Region()
        self._regions[-1].add(Loop(name, values, body))
        with self.inside(body):
            yield sym(name)

    def symbol(self, stem: str, value: Element) -> Expr:
        """An integer that an element holds now, as a new symbol: to index with, and to bound loops."""
        return self.let(stem, self.load(value))

    def load(self, value: Element) -> ScalarExpr:
        """Return an element's value as an int64: for conditions and symbols."""
        return cast(Load(value.memlet.container, value.memlet.subset.indices, value.dtype), types.int64)

    def let(self, stem: str, value: ScalarExpr) -> Expr:
        """A new symbol with the value of an integer expression over symbols and elements."""
        name = self.fresh_name(stem)
        self._symbols.append(name)
        self._regions[-1].add(SymbolAssign(name, value, span=self.node.span))
        return sym(name)

    def assign(self, symbol: Expr, value: ScalarExpr) -> None:
        """Give a symbol that `let` made another value."""
        self._regions[-1].add(SymbolAssign(str(symbol), value, span=self.node.span))

    def branch(self, condition: ScalarExpr) -> tuple[Region, Region]:
        """``if condition``: the regions of the two cases, to be filled with `inside`."""
        holds, fails = Region(), Region()
        self._regions[-1].add(Branch([(condition, holds)], fails))
        return holds, fails

    def check(self, condition: ScalarExpr, exception: str, message: str) -> None:
        """Raise the Python exception of this name unless `condition` holds."""
        self._regions[-1].add(Check(condition, exception, message, span=self.node.span))

    # -- the end -----------------------------------------------------------------------------------------------

    def replacement(self) -> Replacement:
        """All that was written, to stand where the node stood."""
        for fresh, out in self._returns:
            if not out.memlet.wcr:
                self.add(Copy(fresh.memlet, out.memlet))
                continue
            with self.maps([Range(ZERO, size) for size in out.shape]) as indices:
                self.put(out.at(*indices), fresh.at(*indices), wcr=out.memlet.wcr)
        self._returns = []
        blocks: list[Block] = list(self._body.blocks)
        containers: dict[str, Data] = dict(self._body.containers)
        return Replacement(tuple(blocks), containers, tuple(self._names), tuple(self._symbols))


_CONNECTORS = "abcdefghijklmnopqrstuvwxyz"  # of a tasklet, in order

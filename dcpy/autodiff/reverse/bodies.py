"""Reversed bodies: where adjoint statements are written, with the symbols and containers that hold there.

One for the program and one for each reversed loop. Statements come in the parameters of the program as it was, and get
those of the reversed loops. An adjoint is filled with zeros before it is first read, or is assigned where what comes
first writes all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dcpy.autodiff.assignments import number
from dcpy.autodiff.reverse.items import LoopItem, Row
from dcpy.ir.data import Array, Data, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import substitute_symbols
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Block, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym


@dataclass
class ReversedBody:
    """A body that is being written."""

    item: LoopItem | None
    env: dict[str, Expr]
    region: Region = field(default_factory=Region)
    prologue: list[Block] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    untouched: dict[str, str] = field(default_factory=dict)  # base -> adjoint that nothing has written yet

    def add(self, node: Node) -> None:
        """Append a node."""
        _append(self.blocks, node)

    def add_first(self, node: Node) -> None:
        """Append a node to what runs before all else."""
        _append(self.prologue, node)

    def finished(self) -> Region:
        """The region with all that was written."""
        for block in (*self.prologue, *self.blocks):
            self.region.add(block)
        return self.region


def _append(blocks: list[Block], node: Node) -> None:
    if not blocks or not isinstance(blocks[-1], State):
        blocks.append(State())
    state = blocks[-1]
    assert isinstance(state, State)
    state.add(node)


class NodeWriter:
    """Makes nodes: tasklets for all points of a box, under fresh parameters."""

    def __init__(self, rw: Rewriter) -> None:
        self._rw = rw

    def pointwise(
        self,
        env: Mapping[str, Expr],
        box: tuple[Sequence[str], Sequence[Range]],
        inputs: Mapping[str, Memlet],
        outputs: Mapping[str, Memlet],
        code: Row,
        *,
        named: bool = False,
    ) -> Node:
        """A tasklet, in a map over a box if it has parameters; these get fresh names, unless they are `named` so."""
        fresh = {name: sym(name if named else self._rw.fresh_name(name)) for name in box[0]}
        values = {**env, **fresh}
        tasklet = Tasklet(
            {name: memlet.subs(values) for name, memlet in inputs.items()},
            {name: memlet.subs(values) for name, memlet in outputs.items()},
            tuple((name, substitute_symbols(value, values)) for name, value in code),
        )
        if not fresh:
            return tasklet
        domain = tuple(values_of.subs(values) for values_of in box[1])
        return Map(tuple(str(name) for name in fresh.values()), domain, Region([State(nodes=[tasklet])]))

    def fill(self, memlet: Memlet, desc: Data) -> Node:
        """A node that sets all elements of a memlet to 0."""
        names: list[str] = []
        ranges: list[Range] = []
        dims: list[Expr] = []
        for dim in memlet.subset.dims:
            if isinstance(dim, Range):
                names.append(self._rw.fresh_name("z"))
                ranges.append(Range(ZERO, dim.size))
                dims.append(dim.at(sym(names[-1])))
            else:
                dims.append(dim)
        out = Memlet(memlet.container, Subset(tuple(dims)))
        return self.pointwise({}, (names, ranges), {}, {"out": out}, [("out", number(0.0, desc.dtype))], named=True)


def local(desc: Data, env: Mapping[str, Expr]) -> Data:
    """The descriptor of a temporary of a reversed body."""
    made = desc.subs(env)
    if isinstance(made, Array):
        return replace(made, transient=True, span=None)
    return Scalar(desc.dtype, transient=True)


def covers(memlet: Memlet, params: Sequence[str], domain: Sequence[Range], shape: Iterable[Expr]) -> bool:
    """Return whether a box's points write each element of a container once."""
    sizes = tuple(shape)
    if len(memlet.subset.dims) != len(sizes) or len(params) != len(sizes):
        return False
    ranges = dict(zip(params, domain, strict=True))
    left = dict.fromkeys(params)
    for dim, size in zip(memlet.subset.dims, sizes, strict=True):
        name = str(dim)
        if name not in left or ranges[name] != Range(ZERO, size):
            return False
        del left[name]
    return True


def is_injective(memlet: Memlet, params: Sequence[str]) -> bool:
    """Return whether different points of a box are proved to touch different elements."""
    left = dict.fromkeys(params)
    for dim in memlet.subset.dims:
        if not isinstance(dim, Expr):
            return False
        names = [name for name in params if name in dim.symbols]
        if len(names) != 1:
            continue
        form = dim.linear_in(names[0])
        if form is not None and form[0].constant:
            left.pop(names[0], None)
    return not left

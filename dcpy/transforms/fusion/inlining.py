"""Inlining of a pointwise producer: each reader recomputes the value that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.copying import copy_block, copy_node
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, ExprLike, sym
from dcpy.transforms.api import Rewriter
from dcpy.transforms.fusion.pointwise import Temporary

ReadElement = tuple[State, Subset]  # an element, where it is read


@dataclass(frozen=True, slots=True)
class Inlining:
    """The producer to recompute, and its readers."""

    temporary: Temporary
    readers: tuple[Tasklet, ...]

    @property
    def tmp(self) -> str:
        """The temporary that inlining removes."""
        return self.temporary.name

    def values(self, subset: Subset) -> Mapping[str, Expr]:
        """The producer's parameters for the element that a reader reads."""
        dims = (dim for dim in subset.dims if isinstance(dim, Expr))
        return {axis: dim for axis, dim in zip(self.temporary.axes, dims, strict=True) if axis}

    def places(self) -> tuple[ReadElement, ...]:
        """The places that compute an element: one per state and element, however often the state reads it."""
        found: dict[ReadElement, None] = {}
        for reader in self.readers:
            assert reader.state is not None
            found |= {(reader.state, memlet.subset): None for memlet in reader.reads() if memlet.container == self.tmp}
        return tuple(found)


def inline(producer: Map, plan: Inlining, rw: Rewriter) -> None:
    """Recompute each element before its first reader in each state; erase the map and the temporary."""
    computed: dict[ReadElement, str] = {}
    for reader in sorted(plan.readers, key=_index):
        state = reader.state
        assert state is not None
        for connector, memlet in list(reader.inputs.items()):
            if memlet.container != plan.tmp:
                continue
            element = state, memlet.subset
            if element not in computed:
                computed[element] = compute_before(reader, memlet.subset, producer, plan, rw)
            value = replace(memlet, container=computed[element], subset=Subset())
            rw.update(reader, inputs=reader.inputs | {connector: value})
    _erase_producer(producer, plan, rw)


def _index(reader: Tasklet) -> int:
    assert reader.state is not None
    return reader.state.index(reader)


def _erase_producer(producer: Map, plan: Inlining, rw: Rewriter) -> None:
    state = producer.state
    rw.erase(producer)
    if state is not None and not state.nodes:
        rw.erase(state)
    rw.undeclare_unused([plan.tmp])


def compute_before(reader: Tasklet, subset: Subset, producer: Map, plan: Inlining, rw: Rewriter) -> str:
    """Insert the map's tasklets before a reader, for one element; return the scalar with the result."""
    state = reader.state
    assert state is not None
    fresh = {name: rw.declare_fresh(name, desc, state.region) for name, desc in producer.body.containers.items()}
    desc = rw.uses.desc(plan.tmp)
    assert isinstance(desc, Array)
    value = rw.declare_fresh(plan.tmp, Scalar(desc.dtype, transient=True, span=desc.span), state.region)
    symbols: dict[str, ExprLike] = {}
    for block in producer.body.blocks:
        if isinstance(block, SymbolAssign):
            symbols[block.symbol] = sym(_look_up_before(state, block, {**plan.values(subset), **symbols}, rw))
    values = Substitution({**plan.values(subset), **symbols}, fresh)
    for node in producer.body.walk_nodes():
        copied = copy_node(node, values)
        assert isinstance(copied, Tasklet)
        copied.outputs = {
            name: Memlet(value, Subset()) if written.container == plan.tmp else written
            for name, written in copied.outputs.items()
        }
        rw.add_node_before(reader, copied)
    return value


def _look_up_before(state: State, block: SymbolAssign, values: Mapping[str, ExprLike], rw: Rewriter) -> str:
    """Insert an index that the map looks up before a reading state; return its name there."""
    symbol = rw.fresh_name(block.symbol)
    rw.sdfg.assign_symbol(symbol, rw.sdfg.assigned_symbols[block.symbol])
    copied = copy_block(block, Substitution({**values, block.symbol: sym(symbol)}))
    rw.insert_before(state, copied)
    return symbol

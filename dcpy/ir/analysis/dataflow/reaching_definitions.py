"""Reaching definitions: what was run, or entered, on the way to a place, and what a tasklet wrote to a scalar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dcpy.ir.expressions.scalar import Load, Ref, ScalarExpr, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.region import Block, Region, State
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import Element, holder_of
from dcpy.ir.types import DType


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An expression, where it is evaluated, and what its connectors are; `at_head`: at the head of a loop's body."""

    expr: ScalarExpr
    at: Element
    refs: Mapping[str, Evaluation] = field(default_factory=dict)
    at_head: bool = False

    def part(self, expr: ScalarExpr) -> Evaluation:
        """A part of it, at the same place."""
        return Evaluation(expr, self.at, self.refs, self.at_head)


@dataclass(frozen=True, eq=False, slots=True)
class RegionEntry:
    """A region was entered: the body of a loop, a side of a branch."""

    owner: Element
    region: Region


def steps_before(place: Element) -> Iterator[Element | RegionEntry]:
    """Yield what was run, or entered, on the way to a place, the last one first: the tasklets of a state one by one."""
    current: Element | None = place
    while current is not None:
        if isinstance(current, Node):
            state = current.state
            yield from reversed(state.nodes[: state.index(current)]) if state is not None else ()
        else:
            region = current.region
            if region is None:
                return
            yield from steps_backwards(region.blocks[: region.index(current)])
            if isinstance(region.owner, Node | Block):
                yield RegionEntry(region.owner, region)
        current = holder_of(current)


def steps_backwards(blocks: list[Block]) -> Iterator[Element]:
    """The blocks of a region, or some of them, the last one first: the nodes of a state one by one."""
    for block in reversed(blocks):
        if isinstance(block, State):
            yield from reversed(block.nodes)
        else:
            yield block


def tasklet_write(tasklet: Tasklet, name: str) -> Evaluation | None:
    """The value that a tasklet writes to a scalar; None where it combines it with what was there."""
    outputs = [connector for connector, memlet in tasklet.outputs.items() if memlet.container == name]
    plain = len(outputs) == 1 and not tasklet.outputs[outputs[0]].wcr and not tasklet.outputs[outputs[0]].dynamic
    if not plain:
        return None
    refs: dict[str, Evaluation] = {}
    dtypes = {part.name: part.dtype for _, expr in tasklet.code for part in _refs(expr)}
    for connector, memlet in tasklet.inputs.items():
        if connector in dtypes and all(isinstance(dim, Expr) for dim in memlet.subset.dims):
            refs[connector] = evaluation_of_memlet(memlet, dtypes[connector], tasklet)
    for target, expr in tasklet.code:
        refs[target] = Evaluation(expr, tasklet, dict(refs))
    return refs[outputs[0]]


def evaluation_of_memlet(memlet: Memlet, dtype: DType, at: Element) -> Evaluation:
    """The value that a memlet of one element reads."""
    indices = tuple(dim for dim in memlet.subset.dims if isinstance(dim, Expr))
    return Evaluation(Load(memlet.container, indices, dtype), at)


def _refs(expr: ScalarExpr) -> Iterator[Ref]:
    return (part for part in walk(expr) if isinstance(part, Ref))

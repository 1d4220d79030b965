"""Loop parallelization: loops whose iterations only write places of their own become parallel maps.

Every iteration of a comprehension writes to a place of its own. Where all else that its body writes
is its own, too, iterations may run in any order; anything else is left to the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.ir.data import View
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def as_map(frame: Frame, block: Block, out: ArrayValue) -> Block:
    """The loop as a map, where its iterations fill places of `out` that differ, and do nothing else."""
    if not isinstance(block, Loop) or block.range.step.constant != 1 or frame.map_scopes():
        return block
    own: set[str] = set()
    _collect(block.body, own)
    if not _is_pure(block.body, own, out.container, block.param):
        return block
    body = block.body
    node = Map((block.param,), (block.range,), body, span=block.span)
    return State(nodes=[node], span=block.span)


def _collect(region: Region, own: set[str]) -> None:
    """The containers that are declared inside."""
    for inner in region.walk_regions():
        own.update(name for name, desc in inner.containers.items() if not isinstance(desc, View) or desc.of in own)


def _is_pure(region: Region, own: set[str], out: str, param: str) -> bool:
    for block in region.blocks:
        if not isinstance(block, State):
            return False
        if not all(_node_is_pure(node, own, out, param) for node in block.nodes):
            return False
    return True


def _node_is_pure(node: Node, own: set[str], out: str, param: str) -> bool:
    if isinstance(node, Map):
        return _is_pure(node.body, own, out, param)
    if node.regions() or node.callees() or node.effects is not Effect.NOTHING:
        return False
    if any(memlet.container == out for memlet in node.reads()):
        return False
    return all(
        memlet.container in own or (memlet.container == out and _place(memlet.subset.dims, param))
        for memlet in node.writes()
    )


def _place(dims: tuple[object, ...], param: str) -> bool:
    """Return whether a subset lies in the place of one iteration: an index differs from one iteration to the next."""
    found = [dim.linear_in(param) for dim in dims if isinstance(dim, Expr) and param in dim.symbols]
    return any(form is not None and form[0].constant not in (None, 0) and param not in form[1].symbols
               for form in found)  # fmt: skip



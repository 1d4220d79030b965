"""Single-thread kernels for neighbouring nodes."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.accesses.exposed_reads import exposed_accesses
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import GRID
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO
from dcpy.ir.tree import is_inside


def one_thread(nodes: Sequence[Node], rw: Rewriter) -> Map:
    """A kernel of one point that runs nodes of a state, which are neighbours, in their order.

    before   acc = 0;  map k = 0:N { acc += x[k] };  s = sqrt(acc)
    after    map one = 0:1 @grid { data acc;  acc = 0;  map k = 0:N { acc += x[k] };  s = sqrt(acc) }
    """
    first = nodes[0]
    assert first.state is not None
    inside = State(span=first.span)
    kernel = Map((rw.fresh_name("one"),), (Range(ZERO, ONE),), Region([inside]), GRID, span=first.span)
    rw.add_node_before(first, kernel)
    rw.move_nodes(nodes, inside)
    for name in dict.fromkeys(name for node in nodes for name in exposed_accesses(node, rw.uses)):
        if _is_private_to(name, kernel, rw):
            rw.move_container(name, kernel.body)
    return kernel


def _is_private_to(name: str, kernel: Map, rw: Rewriter) -> bool:
    """Return whether a scalar is touched in one kernel only, which needs nothing that was there before."""
    desc = rw.uses.desc(name)
    if not isinstance(desc, Scalar | Array) or desc.shape or not desc.transient or rw.uses.views_of(name):
        return False
    if any(rw.uses.root(result.container) == name for result in rw.sdfg.results) or name in rw.sdfg.constants:
        return False
    inside = all(is_inside(element, kernel) for element in rw.uses.accessors(name))
    return inside and not exposed_accesses(kernel, rw.uses)[name].exposed

"""Loop interchange for short sums: what a stencil or a small filter sums up stays in registers, vectors go around it.

A loop over 3 weights outside of one over the 600 elements of a row loads and stores the row three times; inside, where
it is unrolled, each element is loaded and stored once. Longer sums stay outside, all but their innermost loops: nobody
unrolls them.
"""

from __future__ import annotations

from dcpy.ir.analysis.conflicts import conflict_resolutions
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import UNROLLED


def move_short_sums_inside(node: Map, vector: str, most: int, rw: Rewriter) -> None:
    """Makes innermost, unrolled maps of the parameters of a rectangular map that take few values and are summed over.

    `most`: terms of a sum, all those maps together, that is written out.

    before   map i = 0:N, j = 0:M, k = 0:3 { B[i, j] (add) <- w[k]*A[i, j + k] }
    after    map i = 0:N, j = 0:M { map k = 0:3 @unrolled { B[i, j] (add) <- w[k]*A[i, j + k] } }
    """
    short = _short_sums(node, vector, most, rw)
    params = (*(param for param in node.params if param not in short), *short)
    if short:
        reorder_axes(node, params, rw)
    for count in (len(params) - len(short), *(1 for _ in short[1:])):
        if short:
            node = expand_map(node, count, rw)
            rw.update(node, schedule=UNROLLED)


def _short_sums(node: Map, vector: str, most: int, rw: Rewriter) -> tuple[str, ...]:
    """Parameters of few values that no combining write mentions, where all of those mention `vector`."""
    writes = conflict_resolutions(rw.uses, node)
    mentioned = [frozenset(memlet.subset.symbols) for memlet in writes.resolved]
    if not mentioned or not all(vector in names for names in mentioned) or not _is_flat(node):
        return ()
    short: list[str] = []
    terms = 1
    for param, values in reversed(list(zip(node.params, node.domain, strict=True))):
        count = values.size.constant
        summed = not any(param in names for names in mentioned)
        if count and summed and terms * count <= most:
            short.append(param)
            terms *= count
    return tuple(reversed(short))


def _is_flat(node: Map) -> bool:
    """Whether the body is a state of tasklets: what is written out is short."""
    return all(isinstance(block, State) for block in node.body.blocks) and all(
        isinstance(inner, Tasklet) for inner in node.body.walk_nodes()
    )

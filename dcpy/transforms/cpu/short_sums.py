"""Loop interchange for short sums: a stencil or a small filter is summed in registers, and vectors run around it.

A loop over 3 weights outside a loop over the 600 elements of a row loads and stores the row three times; inside, and
unrolled, it loads and stores each element once. Of longer sums only the innermost loops move, since compilers do not
unroll them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import UNROLLED
from dcpy.transforms.cpu.short_maps import is_flat


def move_short_sums_inside(node: Map, vector: str, most: int, rw: Rewriter) -> None:
    """Move the short summation parameters of a rectangular map into innermost, unrolled maps.

    `most`: the maximal number of unrolled terms of a sum.

    before   map i = 0:N, j = 0:M, k = 0:3 { B[i, j] (add) <- w[k]*A[i, j + k] }
    after    map i = 0:N, j = 0:M { map k = 0:3 @unrolled { B[i, j] (add) <- w[k]*A[i, j + k] } }
    """
    write_out(node, _short_sums(node, vector, most, rw), rw)


def write_out(node: Map, short: Sequence[str], rw: Rewriter) -> None:
    """Move parameters of a map into innermost, unrolled maps, one in another."""
    if not short:
        return
    kept = [param for param in node.params if param not in short]
    reorder_axes(node, (*kept, *short), rw)
    for count in (len(kept), *(1 for _ in short[1:])):
        node = expand_map(node, count, rw)
        rw.update(node, schedule=UNROLLED)


def _short_sums(node: Map, vector: str, most: int, rw: Rewriter) -> tuple[str, ...]:
    """The short parameters that no combining write mentions, if all such writes mention `vector`."""
    writes = conflict_resolutions(rw.uses, node)
    mentioned = [frozenset(memlet.subset.symbols) for memlet in writes.resolved]
    if not mentioned or not all(vector in names for names in mentioned) or not is_flat(node):
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


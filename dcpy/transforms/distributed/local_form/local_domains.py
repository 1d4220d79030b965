"""Local domains: the iterations of a map that a rank runs, given the map's home, those of neighbours included."""

from __future__ import annotations

from typing import Any

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.distributed.ownership import presence
from dcpy.ir.distribution import Blocked, Cyclic, Root, coordinate_names
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ceil_div, max_of, min_of, sym


def local_domain(node: Map, rw: Rewriter) -> dict[str, Any]:
    """New parameters and ranges: those of the whole, cut by what the rank owns. Parameters keep their values."""
    home = node.home
    assert home is not None  # the caller has looked
    sizes = rw.sdfg.grids[home.grid].sizes
    names = coordinate_names(home.grid, len(sizes))
    params: list[str] = []
    domain: list[Range] = []
    for param, axis, values in zip(node.params, home.axes, node.domain, strict=True):
        if axis is None:
            params, domain = [*params, param], [*domain, values]
            continue
        step = values.step.constant
        if step is None or step < 1 or (isinstance(axis, Cyclic) and step != 1):
            raise TransformationRefused(f"the range {values} of {param!r} cannot be dealt out", span=node.span)
        at, ranks = sym(names[axis.axis]), sizes[axis.axis]
        if isinstance(axis, Blocked):
            assert axis.block is not None  # the home of a map says it
            low = at * axis.block - axis.offset
            before, behind = home.halo_of(len(domain))
            params, domain = [*params, param], [*domain, _cut(values, low - before, low + axis.block + behind)]
            continue
        dealt = rw.fresh_name(f"{param}_block")
        rounds = ceil_div(values.stop + axis.offset, axis.block * ranks) * min_of(1, max_of(0, ranks - at))
        low = (sym(dealt) * ranks + at) * axis.block - axis.offset
        params += [dealt, param]
        domain += [Range(ZERO, rounds), _cut(values, low, low + axis.block)]
    if any(isinstance(part, Root) for part in home.rest):
        first, here = domain[0], presence(home, rw.sdfg.grids)
        domain[0] = Range(first.start, first.start + (first.stop - first.start) * here, first.step)
    return {"params": tuple(params), "domain": tuple(domain)}


def _cut(values: Range, low: Expr, high: Expr) -> Range:
    """The elements of a range that are in an interval."""
    if values.step is ONE:
        return Range(max_of(values.start, low), min_of(values.stop, high))
    before = ceil_div(max_of(0, low - values.start), values.step)
    return Range(values.start + before * values.step, min_of(values.stop, high), values.step)

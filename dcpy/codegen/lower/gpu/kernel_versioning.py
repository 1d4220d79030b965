"""Kernel versioning: the host launches the version with narrow indices where 32 bits hold all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, LirExpr, integer
from dcpy.codegen.lir.types import TRUTH
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.size_arithmetic import counted, product_of_sizes
from dcpy.codegen.lower.gpu.index_narrowing import SmallIndices, is_costly, without_implied
from dcpy.codegen.lower.gpu.interval_analysis import IndexIntervals, Interval, Known
from dcpy.codegen.lower.gpu.launch_geometry import AXES, LARGEST_GRID
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of, sym

LARGEST = 2**31 - 1  #: of small indices
MOST_BOUNDS = 4  #: that the host compares before a launch


def with_small_version(
    context: Context, node: Map, kernel: tree.Kernel, launch: tree.Launch, blocks: dict[str, Expr]
) -> tree.Launch:
    """Add the kernel to the module, and its version with small indices where that is worth a text; give the launch.

    `blocks`: how many there may be along each axis, as far as the map says.
    """
    intervals = IndexIntervals(ranges_at(node.body))
    host = _of_host(context, intervals) | dict(_of_launch(kernel, blocks))
    indices = SmallIndices(intervals, host, _of_grid(context, node, intervals, host))
    body = indices.rewrite(kernel.body)
    bounds = without_implied(indices.bounds, intervals, LARGEST, MOST_BOUNDS)
    if body == kernel.body:
        return _with(context, replace(kernel, indices="64 bits: data decide what they are"), launch)
    if bounds is None or len(bounds) > MOST_BOUNDS:
        why = "they are larger" if bounds is None else "the host would compare too many sizes before each launch"
        return _with(context, replace(kernel, indices=f"64 bits: {why}"), launch)
    if not bounds:
        return _with(context, replace(kernel, body=body, indices="32 bits"), launch)
    if not is_costly(kernel.body):
        return _with(context, replace(kernel, indices="64 bits: sums alone gain little from fewer"), launch)
    where = " and ".join(f"{_moving(bound)} <= {LARGEST - _number(bound)}" for bound in bounds)
    name = context.file_name(f"{kernel.name}_small")
    launch = _with(context, replace(kernel, indices=f"32 bits where {where}"), launch)
    context.module.kernels.append(replace(kernel, name=name, body=body, small_of=kernel.name, indices="32 bits"))
    return replace(launch, small=name, fits=_all_hold(context, bounds))


def _with(context: Context, kernel: tree.Kernel, launch: tree.Launch) -> tree.Launch:
    context.module.kernels.append(kernel)
    return launch


# -- what the host knows -----------------------------------------------------------------------------------------------


def _of_host(context: Context, intervals: IndexIntervals) -> dict[str, Interval]:
    """Intervals of symbols, by their names in C: sizes and strides as they are, parameters of loops by their ranges."""
    sdfg = context.sdfg
    strides = (stride.name for axes in context.strides.values() for stride in axes)
    found = {
        context.names.of(name): Interval(sym(name), sym(name))
        for name in (*sdfg.symbols, *sdfg.assigned_symbols, *filter(None, strides))
    }
    for name in context.ranges.names:
        low, high = context.ranges.bounds(name)
        if context.names.of(name) in found or low is None or high is None:
            continue
        ends = [intervals.of(context.symbolic(bound), found) for bound in (low, high)]
        if ends[0] is not None and ends[1] is not None:
            found[context.names.of(name)] = Interval(ends[0].low, ends[1].high)
    return found


def _of_launch(kernel: tree.Kernel, blocks: dict[str, Expr]) -> Iterator[tuple[str, Interval]]:
    """Intervals of the numbers of threads and blocks."""
    for axis, threads in zip(AXES, kernel.threads, strict=True):
        count = blocks.get(axis, ONE)
        limited = count if axis == "x" else min_of(count, LARGEST_GRID)
        yield f"thread_{axis}", Interval(ZERO, const(threads - 1))
        yield f"block_{axis}", Interval(ZERO, limited - 1)
        yield f"blocks_{axis}", Interval(ONE, limited)


def _of_grid(context: Context, node: Map, intervals: IndexIntervals, host: Known) -> dict[str, Interval]:
    """Intervals of the parameters of a map on a grid."""
    found: dict[str, Interval] = {}
    for param, dim in zip(node.params, node.domain, strict=True):
        first, last = (intervals.of(context.symbolic(bound), host) for bound in (dim.start, dim.stop - 1))
        if first is not None and last is not None:
            found[context.names.of(param)] = Interval(first.low, last.high)
    return found


# -- the guard ---------------------------------------------------------------------------------------------------------


def _all_hold(context: Context, bounds: list[Expr]) -> LirExpr:
    """Return whether each bound is small. Products come first, one by one, so that no sum of them is too large for 64
    bits.
    """
    tests: dict[LirExpr, None] = {}
    for bound in bounds:
        moving, limit = _moving(bound), LARGEST - _number(bound)
        for monomial, factor in moving.terms:
            atoms = [Expr(((((atom, 1),), 1),)) for atom, power in monomial for _ in range(power)]
            product = counted(reduce(product_of_sizes, map(context.symbolic, atoms)))
            tests[Infix("<=", product, integer(limit // factor), TRUTH)] = None
        if len(moving.terms) > 1:
            tests[Infix("<=", context.symbolic(moving), integer(limit), TRUTH)] = None
    return reduce(lambda left, right: Infix("&&", left, right, TRUTH), tests)


def _number(bound: Expr) -> int:
    return bound.terms[-1][1] if bound.terms and not bound.terms[-1][0] else 0


def _moving(bound: Expr) -> Expr:
    return bound - _number(bound)

"""Shapes of blocks that share work: how many threads a point of a kernel gets, and how many points a block takes.

A row that is long gets a block; short rows get a warp each; points that lie side by side in memory (columns) share a
block, in which each has a few threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Array, Space
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.nest_edits import set_axes, tiles_and_tile
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op, rewrite
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, as_expr, product_of, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.gpu.blocks.map_to_grid import bytes_along

FEW = 64  #: iterations that one thread does as quickly as several
LONG_ROW = 1024  #: iterations above which a row keeps a whole block busy


@dataclass(frozen=True, slots=True)
class Shape:
    """`threads` for each point, `points` along the parameter `along` in a block; side by side in memory, or not."""

    threads: int
    points: int = 1
    along: str = ""
    side_by_side: bool = False

    def __str__(self) -> str:
        if self.points == 1:
            return "a block for each point"
        if self.side_by_side:
            return f"{self.points} columns for each block, {self.threads} threads for each"
        return f"{self.threads} threads for each point, {self.points} points for each block"


def shape_for(kernel: Map, long: Sequence[Map], sums: bool, costs: Costs, rw: Rewriter) -> Shape | Refusal:
    """Return how a block shares a kernel's long maps, some of which are sums; or why single threads are better.

    Rows whose length is not known get a block here; `short_rows` is for versions of them.
    """
    if not long:
        return Refusal("it has no long loop")
    several = [param for param, dim in zip(kernel.params, kernel.domain, strict=True) if dim.size.constant != 1]
    if not several:
        return Shape(costs.block)
    for param in kernel.params:
        if sum(bytes_along(param, node.body, rw) for node in long) > 0:
            if sums and several == [param] and costs.block > costs.warp:
                return Shape(costs.block // costs.warp, costs.warp, param, side_by_side=True)
            return Refusal(f"adjacent threads along {param} read adjacent elements already")
    if sum(bytes_along(node.params[-1], node.body, rw) for node in long) <= 0:
        return Refusal("its loops do not read adjacent elements either")
    counts = [_length(node).constant for node in long]
    if costs.block > costs.warp and all(count is not None and count <= LONG_ROW for count in counts):
        return warps(kernel, costs)
    return Shape(costs.block)


def warps(kernel: Map, costs: Costs) -> Shape:
    """A warp for each point, and as many points in a block as it has warps."""
    several = [param for param, dim in zip(kernel.params, kernel.domain, strict=True) if dim.size.constant != 1]
    return Shape(costs.warp, costs.block // costs.warp, several[-1])


def short_rows(kernel: Map, long: Sequence[Map], costs: Costs) -> ScalarExpr | None:
    """The condition under which all rows of a kernel are short; None where that is known, or not before it starts."""
    lengths = [length for node in long if (length := _length(node)).constant is None]
    inside = {name for region in kernel.body.walk_regions() for name in (*region.params, *symbols_assigned_in(region))}
    known = [_length(node).constant for node in long]
    if not lengths or costs.block <= costs.warp or any(count is not None and count > LONG_ROW for count in known):
        return None
    if all(dim.size.constant == 1 for dim in kernel.domain) or any(inside & set(each.symbols) for each in lengths):
        return None
    tests: list[ScalarExpr] = [
        op("le", Index(length), Const(LONG_ROW, types.int64)) for length in dict.fromkeys(lengths)
    ]
    return reduce(lambda one, other: op("and", one, other), tests)


def version_for(kernel: Map, condition: ScalarExpr, rw: Rewriter) -> Map:
    """A copy of a kernel that runs in its place where a condition holds."""
    before, alone, after = rw.split_state(kernel)
    copied = clone(alone, rw)
    (version,) = copied.nodes
    assert isinstance(version, Map)
    rest = Region()
    rw.insert_before(alone, Branch([(condition, Region([copied]))], rest, span=alone.span))
    rw.move_blocks([alone], rest)
    for state in (before, after):
        if not state.nodes:
            rw.erase(state)
    return version


def _length(node: Map) -> Expr:
    return product_of(*(dim.size for dim in node.domain))


def is_short(node: Map) -> bool:
    """Return whether one thread does it as quickly."""
    count = _length(node).constant
    return count is not None and count <= FEW


def take_points(kernel: Map, shape: Shape, rw: Rewriter) -> None:
    """Give a block several points: each of its maps gets one parameter more, what its threads share one dimension.

    before   map j = 0:M @grid { data parts: f64[8] @shared;  map t = 0:8 @block { ... parts[t] = own };  ... }
    after    map J = 0:M:32 @grid { data parts: f64[8, 32] @shared
                                    map t = 0:8, j = J:min(J + 32, M) @block { ... parts[t, j - J] = own };  ... }
    """
    (program,) = kernel.body.blocks
    assert isinstance(program, State)
    ranges = dict(zip(kernel.params, kernel.domain, strict=True))
    tile = rw.fresh_name(f"{shape.along}_tile")
    tiles, within = tiles_and_tile(ranges[shape.along], shape.points, tile, rw.uses.ranges_at(kernel))
    own = kernel.body.containers.items()
    shared = {name: desc for name, desc in own if isinstance(desc, Array) and desc.space is Space.SHARED}
    for number, node in enumerate(list(program.nodes)):
        assert isinstance(node, Map)  # block programs are nothing else
        point = shape.along
        if number:
            point = rw.fresh_name(shape.along)
            rw.substitute_symbols({shape.along: sym(point)}, within=node.body)
        local = (sym(point) - sym(tile)) // within.step
        for name in shared:
            _index_by_point(name, local, node, shape.side_by_side, rw)
        axes = dict(zip(node.params, node.domain, strict=True))
        set_axes(node, axes | {point: within} if shape.side_by_side else {point: within} | axes, rw)
    for name, desc in shared.items():
        count = as_expr(shape.points)
        sizes = (*desc.shape, count) if shape.side_by_side else (count, *desc.shape)
        array = Array.packed(desc.dtype, sizes, transient=True, span=desc.span)
        rw.redeclare(name, replace(array, space=Space.SHARED, allocation=desc.allocation))
    set_axes(
        kernel,
        {
            tile if param == shape.along else param: tiles if param == shape.along else ranges[param]
            for param in kernel.params
        },
        rw,
    )


def _index_by_point(name: str, point: Expr, scope: Map, last: bool, rw: Rewriter) -> None:
    """Let all in a map touch the part of a shared array that belongs to its point."""

    def memlet(old: Memlet) -> Memlet:
        if old.container != name:
            return old
        dims = old.subset.dims
        return replace(old, subset=Subset((*dims, point) if last else (point, *dims)))

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load) or part.container != name:
            return None
        return replace(part, indices=(*part.indices, point) if last else (point, *part.indices))

    for accessor in rw.uses.accessors(name):
        if is_inside(accessor, scope.body):
            if isinstance(accessor, Node):
                rw.replace_memlets(accessor, memlet)
            rw.rewrite_exprs(accessor, lambda expr: rewrite(expr, load))

"""Block redistribution: ``BlockScatter``, ``BlockGather``, block-cyclic ones, ``Subarray``, ``Redistribute``.

All of them are one library node, the copy from one distribution to another (`dcpy.libraries.mpi.distributed_copies`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.frontend.abstract_values.values import ArrayValue, RecordValue, Static, TupleValue, Value, integer
from dcpy.frontend.comm import block_layouts
from dcpy.frontend.comm.block_layouts import BlockLayout
from dcpy.frontend.comm.constants import BlockArrayValue
from dcpy.frontend.comm.operands import NONE, implements_comm, received_operand, require_same_dtype, sent_operand
from dcpy.frontend.comm.process_grids import CartesianGrid, cart_create, grid_of
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.ir.distribution import Section
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of

Axes = tuple[int | None, ...]


@implements_comm("BlockScatter")
def block_scatter(
    b: OpBuilder, x: Value, out: Value = NONE, scatter_grid: Value = NONE, bcast_grid: Value = NONE,
    correspondence: Value = NONE,
) -> Value:  # fmt: skip
    """Blocks of `x` at the first rank of a grid go to its ranks; without `out`, each gets its block as a new array."""
    called, b.result_name = b.result_name, ""
    source = sent_operand(b, x, "comm.BlockScatter")
    grid, copies = _grids(b, "BlockScatter", source.rank, scatter_grid, bcast_grid)
    axes = _axes(b, "BlockScatter", source.rank, grid, correspondence)
    layout = block_layouts.dealt(grid, source.shape, axes, [None] * len(axes))
    return _scattered(b, "BlockScatter", source, out, layout, copies, called)


@implements_comm("BCScatter")
def bc_scatter(
    b: OpBuilder, x: Value, out: Value = NONE, block_sizes: Value = NONE, process_grid: Value = NONE
) -> Value:
    """Distribute as `BlockScatter` does, in blocks of these sizes that go round the ranks."""
    called, b.result_name = b.result_name, ""
    source = sent_operand(b, x, "comm.BCScatter")
    grid, _ = _grids(b, "BCScatter", source.rank, process_grid, NONE)
    axes = _axes(b, "BCScatter", source.rank, grid, NONE)
    sizes = _block_sizes(b, "BCScatter", block_sizes, source.rank)
    return _scattered(b, "BCScatter", source, out, block_layouts.cyclic(grid, source.shape, axes, sizes), None, called)


def _scattered(
    b: OpBuilder, name: str, x: ArrayValue, out: Value, layout: BlockLayout, copies: CartesianGrid | None, called: str
) -> Value:
    memory = None if out == NONE else _memory(b, name, x, out)
    at_root, in_blocks = block_layouts.across(b, layout, copies)
    checked = () if memory is None else ((memory, in_blocks),)
    block_layouts.require_agreement(b, f"comm.{name}", x.shape, *checked)
    if memory is None:
        b.result_name = called
        found = b.empty(in_blocks.own_block, x.dtype, name="block")
        block_layouts.move(b, at_root.window(b, x), at_root, in_blocks.with_parts(b, found), in_blocks)
        return found
    block_layouts.move(b, at_root.window(b, x), at_root, in_blocks.window(b, memory), in_blocks)
    return NONE


@implements_comm("BlockGather")
def block_gather(
    b: OpBuilder, x: Value, out: Value = NONE, gather_grid: Value = NONE, reduce_grid: Value = NONE,
    correspondence: Value = NONE,
) -> Value:  # fmt: skip
    """Blocks of the ranks of a grid become an array: `out` at its first rank; without `out`, a new one on all ranks.

    With `reduce_grid`, blocks are sums over its ranks.
    """
    called, b.result_name = b.result_name, ""
    source = sent_operand(b, x, "comm.BlockGather")
    grid, sums = _grids(b, "BlockGather", source.rank, gather_grid, reduce_grid)
    axes = _axes(b, "BlockGather", source.rank, grid, correspondence)
    blocks = [None] * len(axes)
    if out == NONE:
        if grid.exact is not None or len({*grid.axes, *(() if sums is None else sums.axes)}) < len(grid.sizes):
            raise b.error("comm.BlockGather on a part of a grid writes into an array", help="pass `out`")
        layout = block_layouts.dealt(grid, _extents(b, source, grid, axes), axes, blocks)
        return _gathered_everywhere(b, source, block_layouts.across(b, layout, sums, "add")[1], called)
    target = _memory(b, "BlockGather", source, out)
    return _gathered(b, "BlockGather", source, target, block_layouts.dealt(grid, target.shape, axes, blocks), sums)


@implements_comm("BCGather")
def bc_gather(b: OpBuilder, x: Value, out: Value, block_sizes: Value, process_grid: Value = NONE) -> Value:
    """Collect as `BlockGather` with `out` does, from blocks of these sizes that go round the ranks."""
    source = sent_operand(b, x, "comm.BCGather")
    grid, _ = _grids(b, "BCGather", source.rank, process_grid, NONE)
    axes, target = _axes(b, "BCGather", source.rank, grid, NONE), _memory(b, "BCGather", source, out)
    sizes = _block_sizes(b, "BCGather", block_sizes, source.rank)
    return _gathered(b, "BCGather", source, target, block_layouts.cyclic(grid, target.shape, axes, sizes), None)


def _gathered(
    b: OpBuilder, name: str, x: ArrayValue, out: ArrayValue, layout: BlockLayout, sums: CartesianGrid | None
) -> Value:
    at_root, in_blocks = block_layouts.across(b, layout, sums, "add")
    block_layouts.require_agreement(b, f"comm.{name}", out.shape, (x, in_blocks))
    block_layouts.move(b, in_blocks.window(b, x), in_blocks, at_root.window(b, out), at_root)
    return NONE


def _extents(b: OpBuilder, x: ArrayValue, grid: CartesianGrid, axes: Axes) -> tuple[Expr, ...]:
    """Return the shape of the whole array: sums of block sizes along each axis, over ranks first along the others."""
    asked = []
    for size, dealt in zip(x.shape, axes, strict=True):
        counts = grid.is_inside
        for axis, at in enumerate(grid.coords):
            counts = counts * (ONE if axis == dealt else max_of(0, 1 - at))
        asked.append(size * counts)
    return block_layouts.total(b, *asked)


def _gathered_everywhere(b: OpBuilder, x: ArrayValue, layout: BlockLayout, called: str) -> Value:
    block_layouts.require_agreement(b, "comm.BlockGather", (), (x, layout))
    b.result_name = called
    found = b.empty(layout.shape, x.dtype, name="whole")
    whole = Section(layout.shape, Subset.whole(layout.shape))
    b.library("comm.copy", {"src": layout.window(b, x)}, {"dst": found}, source=layout.section, target=whole)
    return found


@implements_comm("Subarray")
def subarray(
    b: OpBuilder, array: Value, subarray: Value, process_grid: Value = NONE, correspondence: Value = NONE
) -> Value:
    """Describe an array in blocks by its shape (or the array), that of blocks (or a rank's own), and the grid."""
    shape = array.shape if isinstance(array, ArrayValue) else b.shape_argument(array)
    grid, _ = _grids(b, "Subarray", len(shape), process_grid, NONE)
    if grid.exact is not None:
        raise b.error("comm.Subarray takes a grid all of whose parts count", help="make it without exact_grid")
    axes = _axes(b, "Subarray", len(shape), grid, correspondence)
    blocks: tuple[Expr, ...] = (ZERO,) * len(shape)
    if not isinstance(subarray, ArrayValue):
        blocks = b.shape_argument(subarray)
    if len(blocks if not isinstance(subarray, ArrayValue) else subarray.shape) != len(shape):
        raise b.error(f"comm.Subarray has blocks of other dimensions than the array, which has {len(shape)}")
    for size, block, axis in zip(shape, blocks, axes, strict=True):
        if not isinstance(subarray, ArrayValue):
            ranks = ONE if axis is None else grid.sizes[axis]
            message = "{0} blocks of {1} elements do not hold {2} elements"
            b.emit.require(block * ranks - size, "ValueError", message, (ranks, block, size))
    sizes, dealt = (TupleValue(tuple(map(integer, each))) for each in (shape, blocks))
    return RecordValue(
        BlockArrayValue, ("shape", "grid", "axes", "blocks"),
        (sizes, grid.value, TupleValue(tuple(map(Static, axes))), dealt),
    )  # fmt: skip


@implements_comm("Redistribute")
def redistribute(b: OpBuilder, x: Value, x_subarray: Value, out: Value, out_subarray: Value) -> Value:
    """The blocks `x` of an array become the blocks `out` of the same array, dealt out in another way."""
    source, target = sent_operand(b, x, "comm.Redistribute"), received_operand(b, out, "comm.Redistribute")
    require_same_dtype(b, "Redistribute", source, target)
    first, second = (_layout_of(b, value) for value in (x_subarray, out_subarray))
    if len(first.shape) != len(second.shape):
        raise b.error(
            f"comm.Redistribute moves an array of {len(first.shape)} dimensions into one of {len(second.shape)}"
        )
    for size, other in zip(first.shape, second.shape, strict=True):
        b.same_size(size, other, "comm.Redistribute moves an array of {0} elements along an axis into one of {1}",
                    (size, other))  # fmt: skip
    for memory, layout, what in ((source, first, "x"), (target, second, "out")):
        if memory.rank != len(layout.shape):
            raise b.error(f"{what} has {memory.rank} dimensions, and its subarray has {len(layout.shape)}")
    block_layouts.require_agreement(b, "comm.Redistribute", first.shape, (source, first), (target, second))
    block_layouts.move(b, first.window(b, source), first, second.window(b, target), second)
    return NONE


def _layout_of(b: OpBuilder, value: Value) -> BlockLayout:
    if not isinstance(value, RecordValue) or value.cls is not BlockArrayValue:
        raise b.error(
            f"comm.Redistribute takes what comm.Subarray makes, not {b.describe(value)}",
            help="comm.Redistribute(x, comm.Subarray((N, M), x, grid), out, comm.Subarray((N, M), out, other_grid))",
        )
    shape, grid, axes, blocks = value.items
    sizes = [b.integer(block) for block in items_of(blocks) or ()]
    return block_layouts.dealt(
        grid_of(b, grid, "the grid of a subarray"),
        [b.integer(size) for size in items_of(shape) or ()],
        [b.static(axis) for axis in items_of(axes) or ()],
        [None if size.constant == 0 else size for size in sizes],
    ).with_block(b)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _memory(b: OpBuilder, name: str, x: ArrayValue, out: Value) -> ArrayValue:
    """Return the array to write into: it has the same dtype and number of dimensions."""
    target = received_operand(b, out, f"comm.{name}")
    require_same_dtype(b, name, x, target)
    if target.rank != x.rank:
        raise b.error(
            f"comm.{name} moves an array of {x.rank} dimensions into one of {target.rank}",
            help="a block has the dimensions of the array",
        )
    return target


def _grids(b: OpBuilder, name: str, dims: int, grid: Value, other: Value) -> tuple[CartesianGrid, CartesianGrid | None]:
    """The grid of an array of so many dimensions, by default of all ranks, and another part of the same grid."""
    if not dims:
        raise b.error(f"comm.{name} deals out arrays, and a number has no dimensions")
    if grid == NONE:
        grid = cart_create(b, TupleValue((Static(0),) * dims))
    found = grid_of(b, grid, f"the grid of comm.{name}")
    if other == NONE:
        return found, None
    more = grid_of(b, other, f"the second grid of comm.{name}", found)
    if more.sizes != found.sizes:
        raise b.error(
            f"the grids of comm.{name} are not parts of one grid",
            help="make both by comm.Cart_sub of one grid",
        )
    if set(more.axes) & set(found.axes):
        raise b.error(f"the grids of comm.{name} have an axis in common")
    return found, more


def _axes(b: OpBuilder, name: str, dims: int, grid: CartesianGrid, correspondence: Value) -> Axes:
    """The axis of the whole grid of each dimension: in order, or as the program says; None where there is none."""
    has = grid.axes
    if correspondence == NONE:
        return tuple(has[dim] if dim < len(has) else None for dim in range(dims))
    known = b.static(correspondence, "correspondence")
    if not isinstance(known, list | tuple) or len(known) != dims:
        raise b.error(f"correspondence names an axis of the grid, or None, for each of {dims} dimensions")
    taken = [axis for axis in known if axis is not None]
    if any(not isinstance(axis, int) or not 0 <= axis < len(has) for axis in taken) or len(set(taken)) < len(taken):
        raise b.error(f"correspondence {known} names axes of a grid of {len(has)}, each once")
    return tuple(None if axis is None else has[axis] for axis in known)


def _block_sizes(b: OpBuilder, name: str, sizes: Value, dims: int) -> Sequence[Expr]:
    found = () if sizes == NONE else b.shape_argument(sizes)
    if len(found) != dims:
        raise b.error(
            f"comm.{name} takes the sizes of blocks, one for each of {dims} dimensions",
            help=f"write block_sizes=({', '.join(['64'] * dims)},)",
        )
    for size in found:
        b.emit.require(size - 1, "ValueError", "blocks of {0} elements hold nothing", (size,))
    return found

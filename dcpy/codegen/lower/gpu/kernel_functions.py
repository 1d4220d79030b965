"""Kernel functions: a map on a grid becomes a function of the device for the body, and its launch.

The last parameter is the block's number along x, the one before along y, all before that together along z. Along y and
z a grid is short: a block takes the iterations that are a grid's width apart.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Item, LirExpr, Name, Operation, integer, plus, times
from dcpy.codegen.lir.traversal import changed_variables, names_in, statements
from dcpy.codegen.lir.types import INDEX, TRUTH, LirType, Pointer
from dcpy.codegen.lower.context import Context, ParallelScope
from dcpy.codegen.lower.expressions.loop_ranges import within
from dcpy.codegen.lower.gpu.barrier_insertion import shared_by_threads
from dcpy.codegen.lower.gpu.host_synchronization import command
from dcpy.codegen.lower.gpu.kernel_context import KernelContext
from dcpy.codegen.lower.gpu.kernel_versioning import with_small_version
from dcpy.codegen.lower.gpu.launch_geometry import AXES, LARGEST_GRID, geometry_of, grid_axes
from dcpy.codegen.lower.gpu.pending_waits import NOTHING
from dcpy.codegen.lower.gpu.program_state import program_of
from dcpy.codegen.lower.gpu.read_only_pointers import reading_only
from dcpy.codegen.lower.gpu.thread_blocks import first_thread
from dcpy.codegen.lower.gpu.transfers import rescue
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions
from dcpy.ir.data import Space
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, max_of, product_of

LowerRegion = Callable[[Context, Region], tree.Body]
ERRORS = Name("errors", Pointer(INDEX, space=Space.GLOBAL))
ONE = integer(1)


def lower_grid(context: Context, node: Map, lower_region: LowerRegion) -> None:
    """A kernel for the body of a map, and its launch."""
    _require_grid(context, node)
    number = len(context.module.kernels) + 1
    scope = KernelContext(node, geometry_of(node), conflict_resolutions(context.uses, node).symbols, number)
    name = context.file_name(f"{context.sdfg.name}_{'_'.join(node.params)}")
    with reading_only(context, node) as constant:
        body = _guarded(context, _body(context, node, scope, lower_region), number)
    params, args = _parameters(context, body, constant)
    kernel = tree.Kernel(name, params, body, scope.geometry.threads, span=node.span)
    z, y, x = (_blocks(context, node, axis) for axis in AXES)
    checks = any(isinstance(statement, tree.CheckFail) for statement in statements(body))
    launch = tree.Launch(name, (z, y, x), scope.geometry.threads, args)
    launch = with_small_version(context, node, kernel, launch, _counts(context, node))
    command(context, launch, checks=checks, rescue=rescue(context, node) if checks else NOTHING)


def _require_grid(context: Context, node: Map) -> None:
    if context.kernel is not None or context.parallel is not None:
        raise context.refuse("a map on a grid inside of another map that runs in parallel", node.span)
    for dim in node.domain:
        if not context.ranges.proves_nonneg(dim.step - 1):
            raise context.refuse(f"blocks of a grid count upwards, not in steps of {dim.step}", node.span)
        if set(dim.symbols) & set(node.params):
            raise context.refuse(f"a grid is rectangular: {dim} depends on another of its parameters", node.span)


def _body(context: Context, node: Map, scope: KernelContext, lower_region: LowerRegion) -> tree.Body:
    label = context.names.fresh("end_" + "_".join(node.params))
    ranges = context.ranges
    for param, dim in zip(node.params, node.domain, strict=True):
        ranges = within(ranges, param, dim)
    axes = grid_axes(node.params)
    dims = dict(zip(node.params, node.domain, strict=True))
    with (
        context.in_kernel(scope),
        context.running(ParallelScope(node, scope.varying, label, {})),
        context.knowing(ranges),
    ):
        if any(_is_loop(dims, names) for axis, names in axes.items() if axis != "x"):
            scope.again(shared_by_threads(context, node))
        body = lower_region(context, node.body)
        if any(isinstance(s, tree.CheckFail) and s.leaves == label for s in statements(body)):
            body = (tree.Attempt(label, body),)
        for axis, names in reversed(axes.items()):
            body = _along(context, axis, names, dims, body)
    return body


def _is_loop(dims: dict[str, Range], names: tuple[str, ...]) -> bool:
    """Return whether there may be more iterations along an axis than a grid has blocks."""
    count = product_of(*(dims[name].size for name in names)).constant
    return count is None or count > LARGEST_GRID


def _along(context: Context, axis: str, names: tuple[str, ...], dims: dict[str, Range], body: tree.Body) -> tree.Body:
    """The body, for the iterations that a block has along an axis."""
    number = Intrinsic(f"block_{axis}", (), INDEX)
    if len(names) > 1:
        return _folded(context, axis, names, dims, body)
    dim, variable = dims[names[0]], context.names.of(names[0])
    start, stop, step = (context.symbolic(bound) for bound in (dim.start, dim.stop, dim.step))
    first = plus(times(number, step), start)
    if axis == "x" or not _is_loop(dims, names):
        return (tree.Declare(variable, INDEX, first, constant=True), *body)
    return (tree.Loop(variable, first, stop, times(Intrinsic(f"blocks_{axis}", (), INDEX), step), body),)


def _folded(context: Context, axis: str, names: tuple[str, ...], dims: dict[str, Range], body: tree.Body) -> tree.Body:
    """Several parameters along one axis: each from a number that counts all of their iterations."""
    number = Name(context.names.fresh(f"number_{axis}"), INDEX)
    head: list[tree.Statement] = []
    rest: LirExpr = number
    for name in reversed(names[1:]):
        size = context.symbolic(dims[name].size)
        head.append(_declared(context, name, Infix("%", rest, size, INDEX), dims[name]))
        rest = Infix("/", rest, size, INDEX)
    head.append(_declared(context, names[0], rest, dims[names[0]]))
    count = context.symbolic(_count(context, [dims[name] for name in names]))
    block, blocks = (Intrinsic(f"{word}_{axis}", (), INDEX) for word in ("block", "blocks"))
    return (tree.Loop(number.name, block, count, blocks, (*head, *body)),)


def _declared(context: Context, name: str, number: LirExpr, dim: Range) -> tree.Declare:
    value = plus(times(number, context.symbolic(dim.step)), context.symbolic(dim.start))
    return tree.Declare(context.names.of(name), INDEX, value, constant=True)


def _count(context: Context, dims: list[Range]) -> Expr:
    sizes = (dim.size for dim in dims)
    return product_of(*(size if context.ranges.proves_nonneg(size) else max_of(size, 0) for size in sizes))


def _counts(context: Context, node: Map) -> dict[str, Expr]:
    """Return the number of iterations along each axis."""
    dims = dict(zip(node.params, node.domain, strict=True))
    axes = grid_axes(node.params).items()
    return {axis: _count(context, [dims[name] for name in names]) for axis, names in axes}


def _blocks(context: Context, node: Map, axis: str) -> LirExpr:
    """Return the number of blocks along an axis, as the host computes it."""
    names = grid_axes(node.params).get(axis, ())
    if not names:
        return ONE
    dims = dict(zip(node.params, node.domain, strict=True))
    count = context.symbolic(_counts(context, node)[axis])
    if axis == "x" or not _is_loop(dims, names):
        return count
    return Operation("min", (count, integer(LARGEST_GRID)), INDEX, INDEX)


def _guarded(context: Context, body: tree.Body, number: int) -> tree.Body:
    """Return the body of a kernel, guarded so that code behind a failed check does not run.

    All blocks of the kernel itself go on, so that the first check in the order of the program is found. Threads of one
    block that meet must agree, so one of them looks.
    """
    if not program_of(context.module).kernels_may_fail:
        return body
    failed = Item(ERRORS, integer(0), INDEX)
    checks = any(isinstance(s, tree.CheckFail) for s in statements(body))
    if not any(isinstance(s, tree.BlockBarrier) for s in statements(body)):
        return (tree.If(((_goes_on(failed, number if checks else 0), body),)),)
    stopped = Name(context.names.fresh("stopped"), Pointer(INDEX, space=Space.SHARED))
    seen = Item(stopped, integer(0), INDEX)
    return (
        tree.SharedBuffer(stopped.name, INDEX, 1),
        tree.If(((first_thread(), (tree.Assign(seen, failed),)),)),
        tree.BlockBarrier(),
        tree.If(((_goes_on(seen, number if checks else 0), body),)),
    )


def _goes_on(failed: LirExpr, number: int) -> LirExpr:
    """Return whether no check has failed, or one of the kernel of this number."""
    none = Infix("==", failed, integer(0), TRUTH)
    if not number:
        return none
    own = Infix("==", Infix(">>", failed, integer(32), INDEX), integer(number), TRUTH)
    return Infix("||", none, own, TRUTH)


def _parameters(
    context: Context, body: tree.Body, constant: frozenset[str]
) -> tuple[tuple[tree.Parameter, ...], tuple[LirExpr, ...]]:
    """Return the parameters of a kernel, and the arguments for them."""
    alone = context.unaliased | constant
    params: list[tree.Parameter] = []
    args: list[LirExpr] = []
    tables = {table.name for table in context.module.tables}
    changed = changed_variables(body)
    for name, kind in names_in(body).items():
        if name in tables:
            continue
        if name in changed and not isinstance(kind, Pointer):
            raise context.refuse(f"a kernel assigns {name!r}, a variable of the host")
        _require_device(context, name, kind)
        params.append(tree.Parameter(name, kind, restrict=isinstance(kind, Pointer) and name in alone))
        args.append(Intrinsic("device_errors", (), kind) if name == ERRORS.name else Name(name, kind))
    return tuple(params), tuple(args)


def _require_device(context: Context, name: str, kind: LirType) -> None:
    if isinstance(kind, Pointer) and kind.space not in (Space.GLOBAL, Space.PINNED):
        raise context.refuse(f"a kernel touches {name!r}, which is in the memory of the {kind.space.value}")


"""Thread blocks, inside of a kernel: maps whose iterations the threads divide, and what stands beside such maps.

A guard wraps the statements of an iteration and never a barrier; no thread leaves early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Name, integer, plus, times
from dcpy.codegen.lir.traversal import statements
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.codegen.lower.context import Context, ParallelScope
from dcpy.codegen.lower.expressions.loop_ranges import within
from dcpy.codegen.lower.gpu.barrier_insertion import insert_barrier_before, shared_by_threads
from dcpy.codegen.lower.gpu.launch_geometry import ALL, Geometry, most_iterations
from dcpy.codegen.lower.gpu.program_state import kernel_of
from dcpy.ir.data import Allocation, Scalar
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Block, Loop, Region, State, While
from dcpy.ir.subsets import Range

LowerRegion = Callable[[Context, Region], tree.Body]


def lower_block_map(context: Context, node: Map, lower_region: LowerRegion) -> None:
    """The iterations of a map, divided among the threads of the block."""
    kernel = kernel_of(context)
    if kernel is None or kernel.block is not None:
        where = "outside of a map on a grid" if kernel is None else "inside of another one"
        raise context.refuse(f"a map of a block {where}", node.span)
    insert_barrier_before(context, node)
    label = context.names.fresh("next_" + "_".join(node.params))
    ranges = context.ranges
    for param, dim in zip(node.params, node.domain, strict=True):
        if not ranges.proves_nonneg(dim.step - 1):
            raise context.refuse(f"threads of a block count upwards, not in steps of {dim.step}", node.span)
        ranges = within(ranges, param, dim)
    scope = ParallelScope(node, kernel.varying, label, {})
    with kernel.inside(node), context.running(scope), context.knowing(ranges):
        body = lower_region(context, node.body)
    if any(isinstance(s, tree.CheckFail) and s.leaves == label for s in statements(body)):
        body = (tree.Attempt(label, body),)
    axes = kernel.geometry.axes_of(node)
    for param, dim, axis in reversed(list(zip(node.params, node.domain, axes, strict=True))):
        body = _along(context, kernel.geometry, param, dim, axis, body)
    context.emit(tree.Compound(body))


def _along(
    context: Context, geometry: Geometry, param: str, dim: Range, axis: str, body: tree.Body
) -> tree.Body:
    """The body, for the iterations that a thread has along an axis."""
    variable = context.names.of(param)
    start, stop, step = (context.symbolic(bound) for bound in (dim.start, dim.stop, dim.step))
    if not axis:
        return (tree.Loop(variable, start, stop, step, body),)
    threads, most = geometry.along(axis), most_iterations(dim)
    first = plus(start, times(thread_along(geometry, axis), step))
    if most is None or most > threads:
        return (tree.Loop(variable, first, stop, times(integer(threads), step), body),)
    declared = tree.Declare(variable, INDEX, first, constant=True)
    if dim.size.constant == threads:
        return (declared, *body)
    return (declared, tree.If(((Infix("<", Name(variable, INDEX), stop, TRUTH), body),)))


def thread_along(geometry: Geometry, axis: str) -> LirExpr:
    """The number of this thread along an axis, or among all."""
    if axis != ALL:
        return Intrinsic(f"thread_{axis}", (), INDEX)
    z, y, x = (Intrinsic(f"thread_{one}", (), INDEX) for one in "zyx")
    rows: LirExpr = y if geometry.threads[0] == 1 else plus(y, times(integer(geometry.threads[1]), z))
    return plus(x, times(integer(geometry.threads[2]), rows))


def first_thread() -> LirExpr:
    """Return whether this is the first thread of its block."""
    zero = (Infix("==", Intrinsic(f"thread_{axis}", (), INDEX), integer(0), TRUTH) for axis in "xyz")
    x, y, z = zero
    return Infix("&&", Infix("&&", x, y, TRUTH), z, TRUTH)


# -- beside maps of a block -------------------------------------------------------------------------------------------


def stands_alone(context: Context, node: Node) -> bool:
    """Return whether a node of a kernel is in no map of a block, and so done by the block as a whole."""
    return context.kernel is not None and context.kernel.block is None and isinstance(node, Tasklet | Copy)


def lower_alone(context: Context, node: Node, lower_node: Callable[[Context, Node], None]) -> None:
    """Lower a node that each thread runs for itself, or the first thread for all."""
    kernel = kernel_of(context)
    assert kernel is not None  # `stands_alone` has checked
    insert_barrier_before(context, node)
    kernel.steps += 1
    if all(_is_own(context, name) for name in context.uses.accesses(node).writes):
        lower_node(context, node)
        return
    label = context.names.fresh("done")
    with context.running(ParallelScope(kernel.node, kernel.varying, label, {})), context.capture() as found:
        lower_node(context, node)
    body = tuple(found)
    if any(isinstance(s, tree.CheckFail) for s in statements(body)):
        body = (tree.Attempt(label, body),)
    if kernel.geometry.threads == (1, 1, 1):
        context.emit(tree.Compound(body))
    else:
        context.emit(tree.If(((first_thread(), body),)))


def _is_own(context: Context, name: str) -> bool:
    """Return whether each thread has one for itself."""
    desc = context.uses.desc(context.uses.root(name))
    return isinstance(desc, Scalar) or getattr(desc, "allocation", None) in (Allocation.REGISTER, Allocation.STACK)


@contextmanager
def around_part(context: Context, part: Block) -> Iterator[None]:
    """A loop, a branch or an assignment of the block as a whole: what its own expressions read is there.

    Iterations of a loop come one after the other, and find touched what those before them touched; and a body may be
    left out.
    """
    kernel = kernel_of(context)
    if kernel is None or kernel.block is not None or isinstance(part, State):
        yield
        return
    own = context.uses.accesses(part)
    if isinstance(part, While) and any(_is_own(context, name) is False for name in own.reads):
        raise context.refuse("a loop whose condition reads what threads share", part.span)
    insert_barrier_before(context, part, inside=False)
    if isinstance(part, Loop | While):
        kernel.again(shared_by_threads(context, part))
    before = kernel.pending_accesses
    yield
    kernel.again(before)

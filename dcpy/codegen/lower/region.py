"""Regions and blocks: declarations, then each block in order."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from dcpy.base.program_exceptions import exception_type
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, LirExpr, Literal, Name, Prefix, integer
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH
from dcpy.codegen.lower.buffers import declare_buffer, resize_array
from dcpy.codegen.lower.calls import lower_call, lower_callback, lower_foreign_call
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.copies import lower_copy
from dcpy.codegen.lower.cpu.carried_extrema import with_carried_extrema
from dcpy.codegen.lower.cpu.conversion_checks import with_joined_conversion_checks
from dcpy.codegen.lower.cpu.interrupt_polling import emit_interruptible, question
from dcpy.codegen.lower.cpu.literal_tables import with_literal_tables
from dcpy.codegen.lower.dataflow_blocks import lower_dataflow
from dcpy.codegen.lower.declaration_sinking import sink_declarations
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.loop_ranges import going_down, within
from dcpy.codegen.lower.expressions.scalar import lower_value
from dcpy.codegen.lower.maps import lower_map, marks_of
from dcpy.codegen.lower.result_allocation import allocate_owned
from dcpy.codegen.lower.tasklets import lower_tasklet
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Op, ScalarExpr, walk
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import (
    Block,
    Branch,
    Break,
    Check,
    Continue,
    Dataflow,
    Loop,
    Region,
    Resize,
    Return,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.schedules import Recorded
from dcpy.ir.symbolic.intervals import LIMITS


def lower_region(context: Context, region: Region) -> tree.Body:
    """The statements of a region, a scope of their own."""
    with context.capture() as lowered:
        for symbol in context.placement.symbols.get(region, ()):
            context.emit(tree.Declare(context.names.of(symbol), INDEX))
        for name in context.placement.owned.get(region, ()):
            allocate_owned(context, name)
        for block in region.blocks:
            with context.at(block.span):
                for name in context.placement.buffers.get(block, ()):
                    declare_buffer(context, name)
                (_lower_block if context.kernel is None else _lower_in_kernel)(context, block)
                for name in context.placement.owned.get(block, ()):
                    allocate_owned(context, name)
    body = with_joined_conversion_checks(context, lowered)
    return sink_declarations(with_literal_tables(context, body))


def _lower_block(context: Context, block: Block) -> None:
    match block:
        case State(nodes=nodes):
            for node in nodes:
                with context.at(node.span):
                    _lower_node(context, node)
        case SymbolAssign():
            _lower_assign(context, block)
        case Check():
            _lower_check(context, block)
        case _:
            _lower_control(context, block)


def _lower_in_kernel(context: Context, block: Block) -> None:
    with device_of(context).around_block(context, block):
        _lower_block(context, block)


def _lower_control(context: Context, block: Block) -> None:
    match block:
        case Loop():
            _lower_loop(context, block)
        case While(condition=condition, body=body):
            loop = tree.While(lower_value(context, condition), _in_order(context, body))
            emit_interruptible(context, loop, block)
        case Branch():
            _lower_branch(context, block)
        case Dataflow():
            lower_dataflow(context, block, lower_region)
        case Break():
            context.emit(tree.Break())
        case Continue():
            context.emit(tree.Continue())
        case Return():
            if context.parallel is not None:
                raise context.refuse("a return inside a parallel map", help="return after the map")
            device_of(context).lower_return(context)
            context.emit(tree.Return(success(context)))
        case _:
            raise context.refuse(f"blocks of kind {block.kind!r} cannot be printed")


def _lower_node(context: Context, node: Node) -> None:
    if context.kernel is None or not device_of(context).lower_node(context, node, _lower_one):
        _lower_one(context, node)


def _lower_one(context: Context, node: Node) -> None:
    match node:
        case Tasklet():
            lower_tasklet(context, node)
        case Copy():
            lower_copy(context, node)
        case Map():
            lower_map(context, node, lower_region)
        case Call():
            lower_call(context, node)
        case ForeignCall():
            lower_foreign_call(context, node)
        case Callback():
            lower_callback(context, node)
        case LibraryNode(kind=kind):
            raise context.refuse(f"the library node {kind!r} has not been expanded", help="sdfg.expand_library_nodes()")
        case _:
            raise context.refuse(f"nodes of kind {node.kind!r} cannot be printed")


def success(context: Context) -> LirExpr:
    """The return value of a program that was not stopped: 0, or the number of a warning."""
    return Name("warning", STATUS) if context.may_warn else Literal(0, STATUS)


def _counted(context: Context, counter: Name, down: bool | None) -> AbstractContextManager[None]:
    """Lower a loop around parts of a kernel, which know the number of their iteration."""
    if context.kernel is None or context.kernel.block is not None:
        return nullcontext()
    return context.kernel.looping(Prefix("-", counter, INDEX) if down else counter)


def _lower_loop(context: Context, block: Loop) -> None:
    changed = context.placement.assigned[block]
    range_ = block.range
    bounds = []
    for part, bound in (("begin", range_.start), ("end", range_.stop), ("step", range_.step)):
        value = context.symbolic(bound)
        if changed & set(bound.symbols):  # evaluated once, whatever the body does to its symbols
            name = context.names.fresh(f"{block.param}_{part}")
            context.emit(tree.Declare(name, INDEX, value, constant=True))
            value = Name(name, INDEX)
        bounds.append(value)
    down = going_down(range_, context.ranges)
    counter = Name(context.names.of(block.param), INDEX)
    with context.knowing(within(context.ranges, block.param, range_)), _counted(context, counter, down):
        body = _in_order(context, block.body)
    marks = tuple(device_of(context).loop_marks(context, block, marks_of(context, block.schedule, range_)))
    start, stop, step = bounds
    loop = tree.Loop(context.names.of(block.param), start, stop, step, body, down, marks)
    if isinstance(block.schedule, Recorded):
        context.emit(device_of(context).recorded_loop(context, loop, block.schedule, question(context, block)))
    else:
        emit_interruptible(context, loop, block)


def _in_order(context: Context, region: Region) -> tree.Body:
    """The body of a loop whose iterations follow each other."""
    body = lower_region(context, region)
    return with_carried_extrema(body) if context.on_host else body


def _lower_branch(context: Context, block: Branch) -> None:
    cases = tuple((_condition(context, condition), lower_region(context, region)) for condition, region in block.cases)
    otherwise = lower_region(context, block.otherwise) if block.otherwise is not None else ()
    context.emit(tree.If(cases, otherwise))


def _condition(context: Context, condition: ScalarExpr) -> LirExpr:
    """Branch prediction: sizes nearly always fit 32 bits, and what is done if not stays out of the compiler's way."""
    value = lower_value(context, condition)
    usual = any(map(_asks_for_32_bits, walk(condition)))
    return Intrinsic("likely", (value,), TRUTH) if usual else value


def _asks_for_32_bits(part: ScalarExpr) -> bool:
    match part:
        case Op(name="le", args=(_, Const(value=limit))):
            return limit == 2**31 - 1
    return False


def _lower_assign(context: Context, block: SymbolAssign) -> None:
    dtype = context.sdfg.assigned_symbols.get(block.symbol, types.int64)
    number = convert(lower_value(context, block.value), block.value.dtype, dtype)
    context.emit(tree.Assign(context.symbol(block.symbol), convert(number, dtype, types.int64)))
    if isinstance(block, Resize):
        resize_array(context, block)


def _told(context: Context, value: ScalarExpr) -> LirExpr:
    """A number of a message: one that 64 bits do not hold is the largest that they do."""
    if isinstance(value, Index) and value.value.constant is not None:
        return integer(max(min(value.value.constant, LIMITS[1]), -LIMITS[1]))
    return convert(lower_value(context, value), value.dtype, types.int64)


def _lower_check(context: Context, block: Check) -> None:
    number = context.module.check_number(block.exception, block.message, context.place)
    failed = Prefix("!", lower_value(context, block.condition), TRUTH)
    values = tuple(_told(context, value) for value in block.values)
    warning = issubclass(exception_type(block.exception) or Exception, Warning)
    if warning and context.process:
        raise context.refuse("a warning in a process", help="warn before or after the dataflow block")
    (context.warn if warning else context.fail)(failed, number, values)

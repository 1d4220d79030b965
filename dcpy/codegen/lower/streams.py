"""Streams as bounded blocking queues: their memory, pushing and popping, and the message of a deadlock."""

from __future__ import annotations

from math import prod

from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name, Prefix, integer, times
from dcpy.codegen.lir.tree import Declare, Queues
from dcpy.codegen.lir.types import STATUS, TRUTH, Fifo, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.data import Stream, strides_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.symbolic import Expr, max_of


def is_stream(place: StorageLocation) -> bool:
    """Return whether a container is a stream."""
    kind = place.base.type
    return isinstance(kind, Pointer) and isinstance(kind.element, Fifo)


def moves_tokens(context: Context, node: Copy) -> bool:
    """Return whether what a copy pushes or pops are blocks of elements."""
    descs = (context.uses.desc(memlet.container) for memlet in (node.src, node.dst))
    return any(isinstance(desc, Stream) and bool(desc.token) for desc in descs)


def stream_place(context: Context, name: str, desc: Stream) -> StorageLocation:
    """Return the storage location of the queues of a stream."""
    if not desc.transient:
        raise context.refuse(
            f"the argument {name!r} is a stream: compiled programs take scalars and arrays",
            desc.span,
            help="define the stream in the program, and pass arrays",
        )
    return StorageLocation(Name(context.names.of(name), Pointer(Fifo(desc.dtype))), desc.dtype, strides_of(desc))


def declare_stream(context: Context, name: str, desc: Stream) -> None:
    """Make the queues, which live as long as the scope."""
    if device_of(context).declare_queues(context, name, desc):
        return
    count: LirExpr = integer(1)
    for size in desc.shape:
        count = times(count, context.symbolic(max_of(size, 0)))
    place = context.locations[name]
    elements = desc.capacity * prod(desc.token)  # a token goes element by element: a reader of one waits for all
    context.emit(Queues(place.base.name, desc.dtype, count, context.symbolic(elements)))
    context.fail_unless_memory(place.base, name)


def push(context: Context, memlet: Memlet, value: LirExpr) -> None:
    """Push a value of the stream's dtype, as soon as there is room."""
    if device_of(context).push(context, memlet, value):
        return
    place = context.locations[memlet.container]
    call = Intrinsic("push", (_queue(context, memlet), value), STATUS, place.dtype)
    status = Name(context.names.fresh("status"), STATUS)
    context.emit(Declare(status.name, STATUS, call, constant=True))
    _fail_where_it_waits(context, memlet, Infix("==", status, Literal(1, STATUS), TRUTH), "room in", "full")
    number = context.module.check_number("MemoryError", f"no memory is left for {memlet.container!r}", context.place)
    no_memory = Infix("==", status, Literal(2, STATUS), TRUTH)
    context.fail(no_memory, number)


def pop(context: Context, memlet: Memlet) -> LirExpr:
    """A variable with the next element, as soon as there is one."""
    if (popped := device_of(context).pop(context, memlet)) is not None:
        return popped
    place = context.locations[memlet.container]
    value = Name(context.names.fresh(f"{memlet.container}_next"), place.dtype)
    context.emit(Declare(value.name, value.type))
    address = Prefix("&", value, Pointer(place.dtype))
    call = Intrinsic("pop", (_queue(context, memlet), address), STATUS, place.dtype)
    failed = Infix("!=", call, Literal(0, STATUS), TRUTH)
    _fail_where_it_waits(context, memlet, failed, "an element of", "empty")
    return value


def _queue(context: Context, memlet: Memlet) -> LirExpr:
    """A pointer to one queue."""
    return context.locations[memlet.container].address(memlet.subset.indices, context.symbolic)


def _fail_where_it_waits(context: Context, memlet: Memlet, waits: LirExpr, what: str, state: str) -> None:
    """Leave where no process will end the waiting; indices that are not known yet are the numbers of the message."""
    values: list[Expr] = []
    indices = []
    for index in memlet.subset.indices:
        if index.constant is None and len(values) < 4:
            indices.append(f"{{{len(values)}}}")
            values.append(index)
        else:
            indices.append(str(index))
    queue = f"{memlet.container}[{', '.join(indices)}]" if indices else memlet.container
    who = f"the process {context.process!r}" if context.process else "the program"
    message = f"deadlock: {who} waits for {what} {queue!r}, which is {state}"
    number = context.module.check_number("RuntimeError", message, context.place)
    numbers = tuple(context.symbolic(value) for value in values)
    context.fail(waits, number, numbers)


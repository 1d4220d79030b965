"""Process kernels: each process of a dataflow block becomes a function, and one kernel starts them all.

The kernel is a function of the device's unit; the host calls it where the block stood. Queues are the kernel's. A
process gets those that it uses by reference, one parameter for each queue of an array: which one that is is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Cast, Infix, Intrinsic, Item, LirExpr, Literal, Name, integer
from dcpy.codegen.lir.traversal import changed_variables, names_in
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Fifo, Lanes, LirType, Pointer, Reference
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.array_extents import buffer_size
from dcpy.codegen.lower.expressions.loop_ranges import within
from dcpy.codegen.lower.fpga.device_unit import Hardware, KernelSite, Queue, hardware_of
from dcpy.codegen.lower.fpga.local_names import Locals
from dcpy.codegen.lower.fpga.loop_coalescing import coalesced
from dcpy.codegen.lower.fpga.opencl_names import module_name
from dcpy.codegen.lower.fpga.pipeline_depths import with_depths
from dcpy.codegen.lower.fpga.process_checks import PLACES, guarded
from dcpy.codegen.lower.fpga.source_cleanup import cleaned_up
from dcpy.ir.data import Array, Stream
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Dataflow, Process, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, const, sym
from dcpy.ir.types import DType

LowerRegion = Callable[[Context, Region], tree.Body]


def token_type(stream: Stream) -> DType | Lanes:
    """The type of what goes through a queue at once."""
    return Lanes(stream.dtype, prod(stream.token)) if stream.token else stream.dtype


def queue_type(stream: Stream) -> Fifo:
    """The type of one queue."""
    return Fifo(token_type(stream), stream.capacity.constant or 0)


def push_to_queue(context: Context, memlet: Memlet, value: LirExpr) -> None:
    """Push: the process waits for room."""
    _note(context, memlet, pushing=True)
    queue = _queue(context, memlet)
    context.emit(tree.Evaluate(Intrinsic("put", (queue, value), Basic.VOID, value.type)))  # type: ignore[arg-type]


def pop_from_queue(context: Context, memlet: Memlet) -> LirExpr:
    """A constant with the next element, or token: the process waits for one."""
    _note(context, memlet, pushing=False)
    queue = _queue(context, memlet)
    assert isinstance(queue.type, Fifo)  # that is what streams are here
    kind = queue.type.element
    value = Name(context.names.fresh(f"{memlet.container}_next"), kind)
    taken = Intrinsic("take", (queue,), kind, kind)
    context.emit(tree.Declare(value.name, value.type, taken, constant=True))
    return value


def _queue(context: Context, memlet: Memlet) -> LirExpr:
    hardware = hardware_of(context.module)
    stream = context.uses.desc(memlet.container)
    assert isinstance(stream, Stream)
    if not context.process:
        raise context.refuse(f"{memlet} is in no process", help="queues connect the processes of a dataflow block")
    key = memlet.container, memlet.subset.indices
    if key not in hardware.queues:
        stem = context.names.of(memlet.container)
        hardware.queues[key] = stem if not key[1] else context.names.fresh(stem)
    return Name(hardware.queues[key], queue_type(stream))


def _note(context: Context, memlet: Memlet, *, pushing: bool) -> None:
    """The check that fails where the process waits here for ever."""
    hardware = hardware_of(context.module)
    what, state = ("room in", "full") if pushing else ("an element of", "empty")
    message = (
        f"deadlock: the process {context.process!r} waits for {what} {memlet.container!r}, which is {state}: "
        "{0} of {1}, in cycle {2}"
    )
    known = [(site.process, site.stream, site.pushing) for site in hardware.queue_sites]
    queue = context.names.of(memlet.container)
    if (hardware.function, queue, pushing) not in known:
        number = context.module.check_number("RuntimeError", message, context.place)
        hardware.queue_sites.append(KernelSite(hardware.function, queue, pushing, number))


def lower_kernel(context: Context, block: Dataflow, lower_region: LowerRegion) -> None:
    """A kernel for the block, and its call; the program stops with the check of the process that waits for ever."""
    hardware = hardware_of(context.module)
    name = context.file_name(module_name(f"{context.sdfg.name}_kernel"))
    starts: list[tree.Statement] = []
    hardware.assigned_variables, hardware.checking_processes, hardware.failure_array = (
        set(),
        0,
        context.names.fresh("failed"),
    )
    for process in block.body.blocks:
        assert isinstance(process, Process)  # `verify` refuses others
        with context.at(process.span):
            starts += _started(context, process, name, lower_region)
    queues = [context.uses.desc(stream) for stream in _streams(context, block)]
    declared = [
        tree.Queues(
            context.names.of(name), token_type(desc), integer(_count(desc)), integer(desc.capacity.constant or 0)
        )
        for name, desc in zip(_streams(context, block), queues, strict=True)
        if isinstance(desc, Stream)
    ]
    if hardware.checking_processes:
        context.emit(tree.StackBuffer(hardware.failure_array, INDEX, PLACES * hardware.checking_processes))
    arrays: dict[str, str] = {}
    if hardware.separate_ports:
        starts, arrays = _ports_apart(context, starts)
    used = names_in(tuple(starts))
    own = {context.names.of(stream) for stream in _streams(context, block)}
    params = tuple(
        tree.Parameter(variable, Reference(kind) if variable in hardware.assigned_variables else kind)
        for variable, kind in used.items()
        if variable not in own
    )
    run = tree.Run(name, name, integer(0))
    body = (tree.ProcessNetwork(name), *declared, *starts, run)
    kernel = tree.Function(name, Basic.VOID, params, body, exported=True, span=block.span)
    hardware.functions.append(kernel)
    hardware.kernels.append(kernel)
    counts = _counts(context, kernel, arrays) if hardware.board else {}
    args = (*(_argument(param, arrays) for param in params), *counts.values())
    if hardware.board:
        _note_board(context, kernel, starts, counts)
    context.emit(tree.Evaluate(Call(name, args, Basic.VOID)))
    if declared or hardware.board:  # another process waits, so it may not have ended and reported
        told = Call(hardware.deadlock(context.module.base), (Name("error", Pointer(INDEX)),), STATUS)
        status = Name(context.names.fresh("status"), STATUS)
        context.emit(tree.Declare(status.name, STATUS, told, constant=True))
        context.fail(Infix("!=", status, Literal(0, STATUS), TRUTH), status, forwarded=True)
    _raised(context, hardware)


def _ports_apart(context: Context, starts: list[tree.Statement]) -> tuple[list[tree.Statement], dict[str, str]]:
    """Give each process that reads an array a port of its own: on one port the bursts of two break each other.

    With the array that each new port is for. What is written has one process, or copies of one, and keeps its port.
    """
    arrays: dict[str, str] = {}
    taken: set[str] = set()

    def port(arg: LirExpr) -> LirExpr:
        if not (isinstance(arg, Name) and isinstance(arg.type, Pointer) and arg.type.const):
            return arg
        if arg.name not in taken:
            taken.add(arg.name)
            return arg
        fresh = context.names.fresh(arg.name)
        arrays[fresh] = arg.name
        return replace(arg, name=fresh)

    apart = [
        replace(start, call=replace(start.call, args=tuple(map(port, start.call.args))))
        if isinstance(start, tree.Spawn)
        else start
        for start in starts
    ]
    return apart, arrays


def _counts(context: Context, kernel: tree.Function, ports: dict[str, str]) -> dict[str, LirExpr]:
    """The elements of each array of a kernel that go to the board and back: a parameter, and its value."""
    arrays = {
        place.base.name: desc
        for title, place in context.locations.items()
        if isinstance(place.base, Name) and isinstance(desc := context.uses.desc(title), Array)
    }
    hardware = hardware_of(context.module)
    places = {
        hardware.failure_array: integer(PLACES * hardware.checking_processes)
    }  # failures of processes come back like any array
    return {
        f"{param.name}_count": places.get(param.name) or buffer_size(context, arrays[ports.get(param.name, param.name)])
        for param in kernel.params
        if isinstance(param.type, Pointer)
    }


def _note_board(
    context: Context, kernel: tree.Function, starts: Sequence[tree.Statement], counts: dict[str, LirExpr]
) -> None:
    """Record the host's call of a kernel on a board, and the checks for failures of that call."""
    hardware = hardware_of(context.module)
    more = tuple(tree.Parameter(title, INDEX) for title in counts)
    hardware.launches[kernel.name] = replace(kernel, params=(*kernel.params, *more), body=())
    refused = "OpenCL has refused a call for the board: its error {0}"
    hardware.refusal_check = context.module.check_number("RuntimeError", refused, context.place)
    late = "has not ended {0} s after it was started: a deadlock, or fpga.watchdog is too short"
    for spawn in starts:
        if isinstance(spawn, tree.Spawn):
            title = "_".join((spawn.call.function, *spawn.params))
            message = f"the kernel {title!r} on the board {late}"
            hardware.unfinished_checks[title] = context.module.check_number("RuntimeError", message, context.place)
    message = f"the kernel {kernel.name!r} on the board {late}"
    hardware.unfinished_checks[kernel.name] = context.module.check_number("RuntimeError", message, context.place)


def _argument(param: tree.Parameter, arrays: dict[str, str]) -> LirExpr:
    kind = param.type.element if isinstance(param.type, Reference) else param.type
    return Name(arrays.get(param.name, param.name), kind)


def _streams(context: Context, block: Dataflow) -> list[str]:
    """The streams that the processes of a block use, in order."""
    found: dict[str, None] = {}
    for node in block.body.walk_nodes():
        for memlet in (*node.reads(), *node.writes()):
            if isinstance(context.uses.desc(memlet.container), Stream):
                found[memlet.container] = None
    return list(found)


def _count(stream: Stream) -> int:
    """Return the number of queues in an array of them; 0 for a single queue."""
    count = 1
    for size in stream.shape:
        count *= size.constant or 1
    return count if stream.shape else 0


def _started(context: Context, process: Process, kernel: str, lower_region: LowerRegion) -> Iterator[tree.Statement]:
    """The function of a process, and its call for each point of the domain, all written out."""
    hardware = hardware_of(context.module)
    hardware.queues = {}
    name = hardware.function = context.file_name(module_name(f"{context.sdfg.name}_{process.name}"))
    ranges = context.ranges
    for param, values in zip(process.params, process.domain, strict=True):
        ranges = within(ranges, param, values)
    with context.as_process(process.name), context.knowing(ranges):
        checked = guarded(lower_region(context, process.body), context.names.fresh, lambda: _refused(context))
        sizes = frozenset(context.names.of(name) for name in ranges.names if ranges.proves_nonneg(sym(name)))
        own = Locals(checked.body)
        written = cleaned_up(coalesced(with_depths(checked.body), own.fresh, sizes), own.fresh)
        body = Locals(written).shortened(written, context.names.stem)
    queues = {title: key for key, title in hardware.queues.items()}
    for stream, indices in queues.values():
        strange = [symbol for index in indices for symbol in index.symbols if symbol not in process.params]
        if strange:
            raise context.refuse(
                f"which queue of {stream!r} {process.name!r} uses depends on {strange[0]!r}",
                help="give each queue a process of its own: process feed p = 0:4",
            )
    free = names_in(body)
    changed = changed_variables(body) & free.keys()
    hardware.assigned_variables |= changed
    params = tuple(
        tree.Parameter(variable, Reference(kind) if variable in queues or variable in changed else kind)
        for variable, kind in free.items()
    )
    hardware.functions.append(tree.Function(name, Basic.VOID, params, body, span=process.span))
    for number, point in enumerate(_points(process)):
        args = tuple(
            _place_for_failure(hardware) if param.name == checked.place else _passed(context, param, queues, point)
            for param in params
        )
        copies = (str(number),) if process.params else ()
        yield tree.Spawn(kernel, Call(name, args, STATUS), params=copies)


def _refused(context: Context) -> CodegenError:
    return context.refuse(
        "a process cannot check that, because it passes elements on after the check",
        help="check before the part that runs on the device, or give sizes and indices that are surely in range",
    )


def _place_for_failure(hardware: Hardware) -> LirExpr:
    """Return the place where a process reports its failure, in an array of the kernel."""
    offset = PLACES * hardware.checking_processes
    hardware.checking_processes += 1
    places = Name(hardware.failure_array, Pointer(INDEX))
    return places if not offset else Infix("+", places, integer(offset), Pointer(INDEX))


def _raised(context: Context, hardware: Hardware) -> None:
    """Raise the error of the first process of a kernel, in the order of the program."""
    for number in range(hardware.checking_processes):
        places = Name(hardware.failure_array, Pointer(INDEX))
        values = [Item(places, integer(PLACES * number + position), INDEX) for position in range(PLACES)]
        failed = Infix("!=", values[0], integer(0), TRUTH)
        context.fail(failed, Cast(values[0], INDEX, STATUS), tuple(values[1:]))


def _passed(context: Context, param: tree.Parameter, queues: dict[str, Queue], point: dict[str, int]) -> LirExpr:
    """Return the argument that a copy of a process gets for a parameter."""
    if param.name in queues:
        stream, indices = queues[param.name]
        desc = context.uses.desc(stream)
        assert isinstance(desc, Stream)
        queue = Name(context.names.of(stream), queue_type(desc))
        if not indices:
            return queue
        place: Expr = const(0)
        for index, stride in zip(indices, desc.strides, strict=True):
            place = place + index.subs(point) * stride
        return Item(Name(queue.name, Pointer(queue.type)), integer(place.constant or 0), queue.type)
    for symbol, value in point.items():
        if context.names.of(symbol) == param.name:
            return integer(value)
    kind: LirType = param.type.element if isinstance(param.type, Reference) else param.type
    return Name(param.name, kind)


def _points(process: Process) -> Iterator[dict[str, int]]:
    """The points of a constant domain."""
    found: list[dict[str, int]] = [{}]
    for param, values in zip(process.params, process.domain, strict=True):
        found = [{**point, param: value} for point in found for value in _numbers(values.subs(point))]
    yield from found


def _numbers(values: Range) -> range:
    start, stop, step = (bound.constant or 0 for bound in (values.start, values.stop, values.step))
    return range(start, stop, step)

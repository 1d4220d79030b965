"""Dataflow blocks: each process becomes a function, and a network runs them all, a thread for each.

Threads of our own, not a team of OpenMP: a team may be smaller than asked for, and then a process that all others wait
for would never start. Inside a process no team is started: the processes are the parallelism.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Infix, LirExpr, Literal, Name
from dcpy.codegen.lir.traversal import names_in
from dcpy.codegen.lir.types import STATUS, TRUTH
from dcpy.codegen.lower.buffers import declare_buffer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.loop_ranges import going_down, within
from dcpy.codegen.lower.maps import parameter_for
from dcpy.ir.region import Dataflow, Process, Region

LowerRegion = Callable[[Context, Region], tree.Body]


def lower_dataflow(context: Context, block: Dataflow, lower_region: LowerRegion) -> None:
    """Emit the network; where it fails, the program stops with the status of the process that counts."""
    if device_of(context).lower_dataflow(context, block, lower_region):
        return
    context.module.processes = True
    network = context.names.fresh("network")
    no_threads = context.module.check_number("RuntimeError", "no thread is left for a process", block.span)
    with context.capture() as body:
        context.emit(tree.ProcessNetwork(network))
        for process in block.body.blocks:
            assert isinstance(process, Process)  # `verify` refuses others
            for name in context.placement.buffers.get(process, ()):
                declare_buffer(context, name)
            with context.at(process.span):
                context.emit(_spawned(context, process, network, lower_region))
        status = Name(context.names.fresh("status"), STATUS)
        context.emit(tree.Run(status.name, network, Literal(no_threads, STATUS)))
        failed = Infix("!=", status, Literal(0, STATUS), TRUTH)
        context.fail(failed, status, forwarded=True)
    context.emit(tree.Compound(tuple(body)))


def _spawned(context: Context, process: Process, network: str, lower_region: LowerRegion) -> tree.Statement:
    """The function of a process, and its call for each point of the domain."""
    ranges = context.ranges
    for param, values in zip(process.params, process.domain, strict=True):
        ranges = within(ranges, param, values)
    with context.as_process(process.name), context.knowing(ranges):
        body = (*lower_region(context, process.body), tree.Return(Literal(0, STATUS)))
    name = context.file_name(f"{context.sdfg.name}_{process.name}")
    params = tuple(parameter_for(context, variable, kind, body) for variable, kind in names_in(body).items())
    context.module.functions.append(tree.Function(name, STATUS, params, body, span=process.span))
    args: tuple[LirExpr, ...] = tuple(Name(param.name, param.type) for param in params)
    points = tuple(context.names.of(param) for param in process.params)
    statement: tree.Statement = tree.Spawn(network, Call(name, args, STATUS), process.endless, points)
    for param, values in reversed(list(zip(points, process.domain, strict=True))):
        start, stop, step = (context.symbolic(bound) for bound in (values.start, values.stop, values.step))
        statement = tree.Loop(param, start, stop, step, (statement,), down=going_down(values, context.ranges))
    return statement

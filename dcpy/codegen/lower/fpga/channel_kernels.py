"""Channel kernels: each process is a kernel of its own, and queues are channels of the file.

There is no kernel around them: the host starts them all (`codegen.fpga.opencl_host`). A process whose arguments are all
known needs no host, it starts by itself. Copies of a process are written out, for a channel cannot be an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Item, LirExpr, Literal, Name, integer
from dcpy.codegen.lir.traversal import with_children, with_expressions
from dcpy.codegen.lir.types import Basic, Fifo, Pointer, Reference
from dcpy.ir.data import Space


@dataclass(frozen=True, slots=True)
class ChannelKernel:
    """A kernel of a board: a function, and which parameters of the network it has."""

    function: tree.Function
    process: str  # as people know it: the function of the process, with the number of a copy

    @property
    def args(self) -> tuple[str, ...]:
        """The parameters that the host gives it."""
        return tuple(param.name for param in self.function.params)


@dataclass(frozen=True, slots=True)
class Networks:
    """All networks of a program: by kernel the parts that run together, and the channels of the file."""

    parts: Mapping[str, tuple[ChannelKernel, ...]]
    channels: tuple[tree.Queues, ...]
    callees: tuple[tree.Function, ...]  # functions that are no process: those of the file


def networks(functions: Sequence[tree.Function], kernels: Sequence[tree.Function]) -> Networks:
    """The kernels of a board that stand for these ones."""
    by_name = {function.name: function for function in functions}
    channels: dict[str, tree.Queues] = {}
    parts: dict[str, tuple[ChannelKernel, ...]] = {}
    processes = set()
    for kernel in kernels:
        own: dict[str, str] = {}
        found = []
        for statement in kernel.body:
            match statement:
                case tree.Queues(name=name):
                    own[name] = name if name not in channels else f"{kernel.name}_{name}"
                    channels[own[name]] = replace(statement, name=own[name])
                case tree.Spawn(call=call):
                    processes.add(call.function)
                    found.append(_part(by_name[call.function], statement, own))
        parts[kernel.name] = tuple(found)
    rest = tuple(f for f in functions if f.name not in processes and f not in kernels)
    return Networks(parts, tuple(channels.values()), rest)


def _part(function: tree.Function, spawn: tree.Spawn, channels: Mapping[str, str]) -> ChannelKernel:
    """The kernel of one process, or of one copy of it."""
    known: dict[str, LirExpr] = {}
    params, constants = [], []
    for param, given in zip(function.params, spawn.call.args, strict=True):
        match param.type, given:
            case Reference(element=Fifo()), Name(name=name):
                known[param.name] = replace(given, name=channels[name])
            case Reference(element=Fifo()), Item(base=Name(name=name) as base):
                known[param.name] = replace(given, base=replace(base, name=channels[name]))
            case Reference(element=element), Name(name=name):  # a variable of the caller: the only element of an array
                pointer = Pointer(element, space=Space.HOST)
                known[param.name] = Item(Name(name, pointer), integer(0), element)
                params.append(tree.Parameter(name, pointer, restrict=True))
            case kind, Literal():
                constants.append(tree.Declare(param.name, kind, given, constant=True))
            case kind, Infix(left=Name(name=name)):  # a place in an array of the caller
                known[param.name] = given
                params.append(tree.Parameter(name, kind, restrict=True))
            case kind, Name(name=name):
                known[param.name] = given
                params.append(tree.Parameter(name, kind, restrict=isinstance(kind, Pointer)))
            case _:
                raise AssertionError(f"a process is given {given}")
    number = "".join(f"_{number}" for number in spawn.params)
    body = (*constants, *_with(function.body, known))
    starts = not params
    changed = replace(
        function, name=f"{function.name}{number}", result=Basic.VOID, params=tuple(params), body=body, exported=True,
        starts=starts,
    )  # fmt: skip
    return ChannelKernel(changed, changed.name)


def _with(body: tree.Body, known: Mapping[str, LirExpr]) -> tree.Body:
    """The statements with expressions in place of names."""

    def change(expr: LirExpr) -> LirExpr:
        if isinstance(expr, Name) and expr.name in known:
            return known[expr.name]
        return with_children(expr, change)

    def changed(statement: tree.Statement) -> tree.Statement:
        match statement:
            case tree.Loop(start=start, stop=stop, step=step, body=inside):
                bounds = {"start": change(start), "stop": change(stop), "step": change(step)}
                return replace(statement, **bounds, body=_with(inside, known))  # type: ignore[arg-type]
            case tree.While(condition=condition, body=inside):
                return replace(statement, condition=change(condition), body=_with(inside, known))
            case tree.Compound(body=inside) | tree.Attempt(body=inside):
                return replace(statement, body=_with(inside, known))
            case tree.If(cases=cases, otherwise=otherwise):
                kept = tuple((change(condition), _with(inside, known)) for condition, inside in cases)
                return replace(statement, cases=kept, otherwise=_with(otherwise, known))
            case tree.Evaluate(call=call):
                return replace(statement, call=with_children(call, change))  # type: ignore[arg-type]
        return with_expressions(statement, change)

    return tuple(map(changed, body))

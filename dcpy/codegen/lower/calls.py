"""Calls: of other SDFGs (a function for each, with the strides that its callers have), and of C functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir.expr import Call as CallExpr
from dcpy.codegen.lir.expr import Convert, Infix, Intrinsic, LirExpr, Literal, Name, integer
from dcpy.codegen.lir.tree import Compound, Declare, Evaluate
from dcpy.codegen.lir.types import STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.copies import first_element
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.scalar import lower_value
from dcpy.codegen.lower.tasklets import read, write
from dcpy.ir.data import Array, Scalar, strides_of
from dcpy.ir.library.callback_table import operand_memlets, site_of
from dcpy.ir.library.expansions import environment_of
from dcpy.ir.library.foreign_functions import prototypes_of, refusal
from dcpy.ir.nodes import Call, Callback, ForeignCall
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, where_positive

if TYPE_CHECKING:
    from dcpy.ir.memlet import Memlet


@dataclass(frozen=True, slots=True)
class CallShape:
    """Properties of a call that its function depends on besides the SDFG: equal calls share the function."""

    strided: tuple[str, ...]  # arguments whose strides are passed, since they differ from the descriptor's
    aliased: bool  # some arguments may overlap
    shared: bool  # several threads may run it on the same arguments


def lower_call(context: Context, node: Call) -> None:
    """A call of the callee's function; its errors go where the caller's go."""
    shape = _shape_of(context, node)
    assert context.module.callee_function is not None  # a module is lowered by `module.lower_program`
    name, warns = context.module.callee_function(node.sdfg, shape)
    args: list[LirExpr] = []
    for argument in argument_names(node.sdfg):
        if argument in node.sdfg.symbols:
            continue
        memlet = node.arguments[argument]
        desc = node.sdfg.desc(argument)
        args.append(read(context, memlet) if isinstance(desc, Scalar) else first_element(context, memlet))
        if argument in shape.strided:
            args += [context.symbolic(stride) for stride in actual_strides(context, memlet)]
    args += [context.symbolic(node.symbols[symbol]) for symbol in node.sdfg.symbols]
    if not context.module.checks:  # then nothing can have failed
        context.emit(Evaluate(CallExpr(name, tuple(args), STATUS)))
        return
    status = Name(context.names.fresh("status"), STATUS)
    zero = Literal(0, STATUS)
    with context.capture() as body:
        context.emit(Declare(status.name, STATUS, CallExpr(name, tuple(args), STATUS), constant=True))
        context.fail(Infix(">", status, zero, TRUTH), status, forwarded=True)
        if warns:
            context.warn(Infix("<", status, zero, TRUTH), status, forwarded=True)
    context.emit(Compound(tuple(body)))


def argument_names(sdfg: Sdfg) -> tuple[str, ...]:
    """Containers that a caller passes, in the order of the C function: arguments, then results."""
    inside = {*sdfg.arguments, *sdfg.constants}
    results = [name for name, desc in sdfg.containers.items() if not desc.transient and name not in inside]
    return (*(name for name in sdfg.arguments if name in sdfg.containers), *results)


def actual_strides(context: Context, memlet: Memlet) -> tuple[Expr, ...]:
    """Strides of the kept dimensions of a subset, in elements."""
    strides = context.locations[memlet.container].strides
    dims = zip(memlet.subset.dims, strides, strict=True)
    return tuple(dim.step * stride for dim, stride in dims if isinstance(dim, Range))


def _shape_of(context: Context, node: Call) -> CallShape:
    strided = []
    for argument in argument_names(node.sdfg):
        desc = node.sdfg.desc(argument)
        if argument not in node.arguments:
            raise context.refuse(f"the call of {node.sdfg.name!r} passes nothing for {argument!r}", node.span)
        if isinstance(desc, Array) and not _lies_as_described(context, desc, node, node.arguments[argument]):
            strided.append(argument)
    roots = [context.uses.root(memlet.container) for memlet in node.arguments.values()]
    overlapping = [set(context.uses.overlapping(root)) for root in roots]
    aliased = any(a & b for i, a in enumerate(overlapping) for b in overlapping[i + 1 :])
    beside_others = context.parallel is not None or bool(context.process)
    return CallShape(tuple(strided), aliased, beside_others or context.shared_writes)


def _lies_as_described(context: Context, desc: Array, node: Call, memlet: Memlet) -> bool:
    """Return whether what is passed has the strides that the callee describes, or has no elements.

    A size may be ``M - 1`` here and ``max(0, M - 1)`` there: they differ, and the strides that follow from them, only
    where the array is empty.
    """
    there, here = (tuple(stride.subs(node.symbols) for stride in strides_of(desc)), actual_strides(context, memlet))
    sizes = (*(size.subs(node.symbols) for size in desc.shape), *memlet.subset.shape)
    pairs = zip(there, here, strict=True)
    return all(a is b or where_positive(a, sizes) is where_positive(b, sizes) for a, b in pairs)


def _pointer(context: Context, memlet: Memlet, *, read_only: bool) -> LirExpr:
    """A pointer for a C function, which need not be declared with all the ``const`` that it could have."""
    place = context.locations[memlet.container]
    pointer = first_element(context, memlet)
    kind = place.base.type
    if not isinstance(kind, Pointer) or not kind.const or read_only:
        return pointer
    return Convert(pointer, Pointer(place.dtype, space=kind.space))


def _is_constant(context: Context, node: ForeignCall, position: int) -> bool:
    """Return whether a foreign function says that it does not write what its parameter points to."""
    known = prototypes_of(context.module.known_environments.get(node.environment) or environment_of(node.environment))
    if node.function in known:
        return known[node.function].parameters[position].const
    found = re.search(rf"\b{re.escape(node.function)}\s*\(([^()]*)\)", context.module.declarations)
    types = found.group(1).split(",") if found else []
    return position < len(types) and "const" in types[position].split()


def lower_foreign_call(context: Context, node: ForeignCall) -> None:
    """``function(args)``: connectors are pointers to the first element of their subset, expressions are values."""
    if problem := refusal(
        node, context.module.known_environments
    ):  # also of what an expansion makes of a library node's fields
        raise CodegenError(problem, span=node.span)
    environment = context.module.known_environments.get(node.environment) or environment_of(node.environment)
    device_of(context).require_callable(node, environment)
    context.module.environments[node.environment] = None
    values = {
        connector: read(context, memlet)
        for connector, memlet in node.inputs.items()
        if connector not in node.args and memlet.subset.is_point
    }
    memlets = {**node.inputs, **node.outputs}
    args = tuple(
        _pointer(context, memlets[arg], read_only=_is_constant(context, node, position))
        if isinstance(arg, str)
        else lower_value(context, arg, values)
        for position, arg in enumerate(node.args)
    )
    if environment.runtime:
        device_of(context).call_runtime(context, node, args)
        return
    if not node.result:
        context.emit(Evaluate(CallExpr(node.function, args, Basic.VOID)))
        return
    memlet = node.outputs[node.result]
    dtype = context.locations[memlet.container].dtype
    write(context, memlet, CallExpr(node.function, args, dtype), dtype)


def lower_callback(context: Context, node: Callback) -> None:
    """A call of a Python function, through what the dispatcher has handed over; where it raises, the program stops."""
    if context.parallel is not None:
        raise context.refuse(f"the callback {node.function} in a parallel map", help="make the map a loop")
    if context.process:
        raise context.refuse(
            f"the process {context.process!r} calls the Python function {node.function}",
            help="call it before or after the dataflow block: processes run in threads without Python",
        )
    region = None if node.state is None else node.state.region
    site = site_of(node, lambda name: context.desc(name, region))
    number = len(context.module.callbacks)
    context.module.callbacks.append(site)
    values: list[LirExpr] = [integer(number)]
    for _, memlet in operand_memlets(node, site):
        values.append(_pointer(context, memlet, read_only=False))
        sizes = [dim.size for dim in memlet.subset.dims if isinstance(dim, Range)]
        values += [context.symbolic(part) for part in (*sizes, *actual_strides(context, memlet))]
    failed = context.module.check_number("callback", node.function, node.span)
    with context.capture() as body:
        status = Name(context.names.fresh("status"), STATUS)
        context.emit(Declare(status.name, STATUS, Intrinsic("call_python", tuple(values), STATUS), constant=True))
        stopped = Infix("!=", status, Literal(0, STATUS), TRUTH)
        context.fail(stopped, failed)
    context.emit(Compound(tuple(body)))

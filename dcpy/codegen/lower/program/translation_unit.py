"""The translation unit: one SDFG as one C file, with its functions and the entries of the C ABI in artifact.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.cpu import CpuOptions, Language
from dcpy.codegen.artifact import OwnedArray, Signature
from dcpy.codegen.c_identifiers import C_LIBRARY, Names, identifier
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr, Literal, Name, Prefix
from dcpy.codegen.lir.traversal import with_bodies
from dcpy.codegen.lir.types import STATUS
from dcpy.codegen.lower.buffers import register_places
from dcpy.codegen.lower.calls import CallShape
from dcpy.codegen.lower.context import Context, ModuleContext, declarations_of
from dcpy.codegen.lower.cpu.moved_arrays import with_moved_arrays
from dcpy.codegen.lower.cpu.vector_loops import with_vector_loops
from dcpy.codegen.lower.device_lowering import DeviceLowering, device_of
from dcpy.codegen.lower.program.c_abi import entry_functions
from dcpy.codegen.lower.program.c_parameters import parameters
from dcpy.codegen.lower.program.function_merging import merged
from dcpy.codegen.lower.region import lower_region, success
from dcpy.codegen.lower.result_allocation import start_owned
from dcpy.codegen.prelude import CPP_PRELUDE
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.sdfg import Sdfg

#: behind the name of a program, what its library has
EXPORTED = ("program", "entry", "results", "init", "exit", "message", "attach", "on_stream", "told", "kernels")


def lower_program(
    sdfg: Sdfg,
    signature: Signature,
    options: CpuOptions,
    known: Mapping[str, Environment],
    costs: Costs = COSTS,
    *,
    device: DeviceLowering | None = None,
) -> ModuleContext:
    """The functions of `sdfg` and of its C ABI, in the order in which they must stand; `CodegenError` refuses.

    `known` has what foreign calls need, by name: the identifiers of its C text are avoided. `device` lowers what
    differs from a program for CPUs.
    """
    avoided = frozenset((*CPP_PRELUDE.names, *re.findall(r"[A-Za-z_]\w*", declarations_of(known))))
    device = device or DeviceLowering()
    avoided |= device.reserved_words
    name = exported_name(signature.name)
    base = identifier(signature.name)
    exported = {name, *(f"{base}_{part}" for part in EXPORTED)}
    module = ModuleContext(name, base, options, Names(avoided | exported), known, costs, device)
    device.begin(module, sdfg)
    module.callee_function = partial(_callee_function, module)
    context = Context(sdfg, module, avoided | exported, owned_results=_owned(sdfg, signature))
    context.array_sizes = frozenset(signature.sizes if not sdfg.grids else sdfg.sizes)  # of ranks: whole arrays'
    function = _lower_function(context, module.program, CallShape((), False, False))
    module.functions.append(function)
    module.functions += entry_functions(context, function, signature)
    if options.language is Language.CPP:
        if module.moves_arrays:
            module.functions = list(map(with_moved_arrays, module.functions))
        module.functions = list(map(with_vector_loops, module.functions))
    module.functions = merged(module.functions, module.names)
    return module


def program_prototype(sdfg: Sdfg, signature: Signature) -> tree.Function:
    """The typed C function of a program, without its body."""
    name = exported_name(signature.name)
    module = ModuleContext(name, identifier(signature.name), CpuOptions(), Names())
    reserved = frozenset(CPP_PRELUDE.names) | {name}
    context = Context(sdfg, module, reserved, owned_results=_owned(sdfg, signature))
    params = parameters(context, CallShape((), False, False), exported=True)
    return tree.Function(name, STATUS, params, (), exported=True, span=sdfg.span)


def _owned(sdfg: Sdfg, signature: Signature) -> list[str]:
    """The results that the program allocates."""
    pairs = zip(sdfg.results, signature.results, strict=True)
    return [result.container for result, described in pairs if isinstance(described, OwnedArray)]


def exported_name(name: str) -> str:
    """The C name of a program: the SDFG's, unless that means something else in C or to the C library."""
    return Names((*CPP_PRELUDE.names, *C_LIBRARY)).fresh(identifier(name))


def _callee_function(module: ModuleContext, sdfg: Sdfg, shape: CallShape) -> tuple[str, bool]:
    """The function of a called SDFG (made once per shape of call), and whether it may warn."""
    key = (sdfg, shape)
    if key not in module.callees:
        name = module.names.fresh(f"{module.base}_{identifier(sdfg.name)}")
        context = Context(sdfg, module, frozenset(CPP_PRELUDE.names) | {name}, shared_writes=shape.shared)
        function = _lower_function(context, name, shape)
        module.functions.append(function)
        module.callees[key] = (name, context.may_warn)
    return module.callees[key]


def _lower_function(context: Context, name: str, shape: CallShape) -> tree.Function:
    """One SDFG as one function. Callees return minus the number of a warning: an error is positive."""
    exported = name == context.module.program
    params = parameters(context, shape, exported=exported)
    register_places(context)
    device_of(context).begin_function(context)
    body = list(_inside(context))
    body = [*context.poll_intervals, *body]
    if exported:
        body = device_of(context).around_program(context, body)
    if context.may_warn:
        body.insert(0, tree.Declare("warning", STATUS, Literal(0, STATUS)))
    if not (body and isinstance(body[-1], tree.Return)):
        body.append(tree.Return(success(context)))
    if context.may_warn and not exported:
        body = list(_negated(tuple(body)))
    return tree.Function(name, STATUS, params, tuple(body), span=context.sdfg.span)


def _inside(context: Context) -> tree.Body:
    """Return the body of a function, after the extents that have names in it."""
    if not context.module.device.names_extents:
        return (*start_owned(context), *lower_region(context, context.sdfg.body))
    with context.naming_extents() as extents:
        body = (*start_owned(context), *lower_region(context, context.sdfg.body))
    return (*extents.before(body), *body)


def _negated(body: tree.Body) -> tree.Body:
    """Return of ``warning`` become those of ``-warning``."""

    def change(statement: tree.Statement) -> tree.Statement:
        match statement:
            case tree.Return(value=Name(name="warning") as value):
                return replace(statement, value=_minus(value))
        return with_bodies(statement, _negated)

    return tuple(change(statement) for statement in body)


def _minus(value: LirExpr) -> LirExpr:
    return Prefix("-", value, STATUS)

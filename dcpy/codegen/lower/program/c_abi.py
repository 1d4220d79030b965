"""The C ABI around a program: NAME_entry and NAME_results for the runtime; NAME, NAME_init and NAME_exit for C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.base.errors import CodegenError
from dcpy.codegen.artifact import (
    ArrayArg,
    FreshArray,
    GeneratorArg,
    IntegerArg,
    OwnedArray,
    ScalarArg,
    ScalarResult,
    Signature,
    ViewResult,
)
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, Convert, Infix, Intrinsic, Item, LirExpr, Literal, Name, Prefix, integer, times
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.scalar import lower_value
from dcpy.codegen.lower.expressions.size_arithmetic import checked
from dcpy.codegen.lower.program.c_parameters import SHAPE, parameter_names
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.analysis.dataflow.entry_symbols import entry_assignment
from dcpy.ir.data import View, strides_of
from dcpy.ir.expressions.scalar import loads_of, symbols_of
from dcpy.ir.region import SymbolAssign
from dcpy.ir.symbolic import Expr, max_of

ARGS = Name("args", Pointer(Pointer(Basic.VOID), const=True))
SYMBOLS = Name("symbols", Pointer(INDEX, const=True))
RESULTS = Name("results", Pointer(Pointer(Basic.VOID), const=True))
NUMBERS = Name("numbers", Pointer(INDEX))
ZERO = Literal(0, STATUS)


def entry_functions(context: Context, program: tree.Function, signature: Signature) -> list[tree.Function]:
    """All of them, in order."""
    typed = _typed(context, program)
    found = [typed, _entry(context, program, signature), _results(context, signature), *_lifetime(context)]
    return [*found, *device_of(context).entry_functions(context)]


def _typed(context: Context, program: tree.Function) -> tree.Function:
    """The program under its own name, for C."""
    call = Call(program.name, tuple(param.ref for param in program.params), STATUS)
    return replace(program, name=context.module.name, body=_returned(context, call), exported=True, span=None)


def _returned(context: Context, call: Call) -> tree.Body:
    """The statements that call the program and return its status."""
    known = device_of(context).status_of(call)
    return (tree.Return(call),) if len(known) == 1 else (*known, tree.Return(Name("status", STATUS)))


def _entry(context: Context, program: tree.Function, signature: Signature) -> tree.Function:
    """Unpack the dispatcher's arrays of pointers and call the program."""
    sources = _sources(context, signature)
    args: list[LirExpr] = []
    for name, param in zip(parameter_names(context), program.params, strict=True):
        if name not in sources:
            raise CodegenError(f"the signature of {signature.name!r} has no value for {name!r}")
        pointer, desc = sources[name], context.sdfg.containers.get(name)
        if isinstance(param.type, Pointer):
            args.append(Convert(pointer, param.type))
        elif desc is not None:
            args.append(Item(Convert(pointer, Pointer(param.type, const=True)), integer(0), param.type))
        else:
            args.append(pointer)
    error = tree.Parameter("numbers", Pointer(INDEX))
    params = (_param(ARGS), _param(SYMBOLS), _param(RESULTS), error)
    call = Call(program.name, tuple(args), STATUS)
    body = _returned(context, call)
    if context.module.checks:
        status = Name("status", STATUS)
        copies = tuple(
            tree.Assign(Item(NUMBERS, integer(k), INDEX), Item(Name("error", Pointer(INDEX)), integer(k), INDEX))
            for k in range(4)
        )
        failed = Infix("!=", status, ZERO, TRUTH)
        body = (*device_of(context).status_of(call), tree.If(((failed, copies),)), tree.Return(status))
    if context.module.callbacks or context.module.interruptible:
        body = _calling_back(body, len(signature.args), len(device_of(context).status_of(call)))
    return tree.Function(f"{context.module.base}_entry", STATUS, params, body, exported=True)


def _calling_back(body: tree.Body, position: int, count: int) -> tree.Body:
    """`body`, whose first `count` statements run the program: its table of callbacks is set meanwhile."""
    before = Name("before", Pointer(Basic.VOID))
    enter = Intrinsic("call_through", (Item(ARGS, integer(position), Pointer(Basic.VOID)),), Pointer(Basic.VOID))
    leave = tree.Evaluate(Intrinsic("call_through", (before,), Pointer(Basic.VOID)))
    return (tree.Declare("before", Pointer(Basic.VOID), enter, constant=True), *body[:count], leave, *body[count:])


def _param(name: Name) -> tree.Parameter:
    return tree.Parameter(name.name, name.type)


def _sources(context: Context, signature: Signature) -> dict[str, LirExpr]:
    """Return the expressions from which the entry reads each container (a pointer) and each symbol (a value)."""
    found: dict[str, LirExpr] = {}
    for position, arg in enumerate(signature.args):
        if isinstance(arg, ArrayArg | ScalarArg | IntegerArg | GeneratorArg):
            found[arg.name] = Item(ARGS, integer(position), Pointer(Basic.VOID))
    for position, name in enumerate(signature.symbols):
        found[name] = Item(SYMBOLS, integer(position), INDEX)
    stored = 0
    for result, described in zip(context.sdfg.results, signature.results, strict=True):
        if isinstance(described, FreshArray | ScalarResult):
            found[result.container] = Item(RESULTS, integer(stored), Pointer(Basic.VOID))
            stored += 1
        elif isinstance(described, OwnedArray):
            for name in (result.container, result.container + SHAPE):
                found[name] = Item(RESULTS, integer(stored), Pointer(Basic.VOID))
                stored += 1
    return found


def _results(context: Context, signature: Signature) -> tree.Function:
    """Shapes of fresh arrays, and offsets, shapes and strides of views, as numbers."""
    with context.capture() as body:
        values = list(_result_numbers(context, signature))
        sources = _sources(context, signature)
        for name, value in _needed_symbols(context, values, sources):
            context.emit(tree.Declare(context.names.of(name), INDEX, value, constant=True))
        for position, (expr, itemsize) in enumerate(values):
            number = times(context.symbolic(expr), integer(itemsize)) if itemsize else checked(context, expr)
            context.emit(tree.Assign(Item(NUMBERS, integer(position), INDEX), number))
    params = (_param(ARGS), _param(SYMBOLS), _param(NUMBERS))
    return tree.Function(f"{context.module.base}_results", Basic.VOID, params, tuple(body), exported=True)


def _result_numbers(context: Context, signature: Signature) -> Iterator[tuple[Expr, int]]:
    """Expressions and what to multiply them with; 0: the size of a new array, which may not fit into 64 bits."""
    for result, described in zip(context.sdfg.results, signature.results, strict=True):
        if isinstance(described, FreshArray):
            yield from ((_at_least_0(context, size), 0) for size in context.sdfg.desc(result.container).shape)
        elif isinstance(described, ViewResult):
            view = context.sdfg.desc(result.container)
            if not isinstance(view, View):
                raise CodegenError(f"the result {result.container!r} is described as a view, but is none")
            yield view.offset, view.dtype.itemsize
            yield from ((_at_least_0(context, size), 1) for size in view.shape)
            yield from ((stride, view.dtype.itemsize) for stride in strides_of(view))


def _at_least_0(context: Context, size: Expr) -> Expr:
    """A size as Python sees it: a range inside out is empty."""
    return size if context.ranges.proves_nonneg(size) else max_of(size, 0)


def _needed_symbols(
    context: Context, values: list[tuple[Expr, int]], sources: dict[str, LirExpr]
) -> list[tuple[str, LirExpr]]:
    """The symbols that results depend on, each after those that it depends on itself."""
    ordered: dict[str, LirExpr] = {}
    declared: set[str] = set()  # containers that have pointers

    def need(name: str) -> None:
        if name in ordered:
            return
        if name in context.sdfg.symbols:
            ordered[name] = sources[name]
            return
        assign = _known_assignment(context, name)
        for other in symbols_of(assign.value):
            need(other)
        loads = {load.container: load for load in loads_of(assign.value)}
        for container in loads:
            for symbol in desc_symbols(context.sdfg.desc(container)):
                need(symbol)
        ordered[name] = convert(_with_loads(context, assign, sources, declared), assign.value.dtype, types.int64)

    for expr, _ in values:
        for name in expr.symbols:
            need(name)
    return list(ordered.items())


def _known_assignment(context: Context, name: str) -> SymbolAssign:
    """The one assignment of a symbol, which must be computable before the program runs."""
    found = entry_assignment(context.sdfg, context.uses, name)
    if found is None:
        raise CodegenError(
            f"the shape of a result depends on {name!r}, which is only known while the program runs",
            span=context.sdfg.span,
            help="pass an array for the result, or make the size an argument",
        )
    return found


def _with_loads(context: Context, assign: SymbolAssign, sources: dict[str, LirExpr], declared: set[str]) -> LirExpr:
    """The value, with arguments read from where the dispatcher put them."""
    outer = dict(context.locations)
    for load in loads_of(assign.value):
        place = outer[load.container]
        pointer = Name(context.names.of(load.container), Pointer(place.dtype, const=True))
        if load.container not in declared:
            context.emit(tree.Declare(pointer.name, pointer.type, Convert(sources[load.container], pointer.type)))
            declared.add(load.container)
        context.locations[load.container] = type(place)(pointer, place.dtype, place.strides, place.offset)
    try:
        return lower_value(context, assign.value)
    finally:
        context.locations = outer


def _lifetime(context: Context) -> list[tree.Function]:
    """Persistent buffers are taken when they are first needed; `exit` frees them."""
    slots = context.module.slots
    taken = (Intrinsic("take_kept", (_address(slot),), Pointer(Basic.BYTE)) for slot in slots)
    free = tuple(tree.Evaluate(Intrinsic("free", (block,), Basic.VOID)) for block in taken)
    name = context.module.base
    return [
        tree.Function(f"{name}_init", STATUS, (), (tree.Return(ZERO),), exported=True),
        tree.Function(f"{name}_exit", Basic.VOID, (), free, exported=True),
    ]


def _address(slot: str) -> LirExpr:
    return Prefix("&", Name(slot, Pointer(Basic.BYTE)), Pointer(Pointer(Basic.BYTE)))

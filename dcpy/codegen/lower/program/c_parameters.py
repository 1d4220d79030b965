"""The parameters of the C function of an SDFG: arguments, results, symbols, and strides where they are passed."""

from __future__ import annotations

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.types import INDEX, Pointer
from dcpy.codegen.lower.calls import CallShape, argument_names
from dcpy.codegen.lower.context import Context, OwnedResult
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.data import Array, Scalar, strides_of
from dcpy.ir.symbolic import sym

SHAPE = ".shape"  # what the sizes of a result of the program's own are called


def parameters(context: Context, shape: CallShape, *, exported: bool) -> tuple[tree.Parameter, ...]:
    """Arguments in the program's order, results, then the symbols that are no arguments."""
    sdfg = context.sdfg
    params: list[tree.Parameter] = []
    order = parameter_names(context) if exported else (*argument_names(sdfg), *sdfg.symbols)
    for name in order:
        if name in context.owned_results:
            params += _owned_parameters(context, name)
            continue
        if name.endswith(SHAPE):
            continue
        if name in sdfg.symbols:
            params.append(tree.Parameter(context.names.of(name), INDEX))
            continue
        params.append(_container_parameter(context, name, shape))
        if name in shape.strided:
            params += [tree.Parameter(stride.name or "", INDEX) for stride in context.strides[name]]
    return tuple(params)


def parameter_names(context: Context) -> tuple[str, ...]:
    """Containers and symbols in the order of the typed C function; a result of the program's own has two names."""
    sdfg = context.sdfg
    containers = argument_names(sdfg)
    passed = [name for name in sdfg.arguments if name in sdfg.symbols or name in sdfg.containers]
    fresh = [name for name in containers if name not in sdfg.arguments]
    results = [part for name in fresh for part in ((name, name + SHAPE) if name in context.owned_results else (name,))]
    return (*passed, *results, *(name for name in sdfg.symbols if name not in sdfg.arguments))


def _owned_parameters(context: Context, name: str) -> tuple[tree.Parameter, tree.Parameter]:
    """Return the parameters for the pointer to a result that the program owns, and for its sizes."""
    desc = context.sdfg.desc(name, context.sdfg.body)
    assert isinstance(desc, Array)  # `generate.default_signature` describes no others as owned
    pointer = Name(context.names.fresh(f"{name}_memory"), Pointer(Pointer(desc.dtype)))
    shape = Name(context.names.fresh(f"{name}_shape"), Pointer(INDEX))
    context.owned_results[name] = OwnedResult(pointer, shape)
    context.locations[name] = StorageLocation(
        Name(context.names.of(name), Pointer(desc.dtype)), desc.dtype, strides_of(desc)
    )
    return tree.Parameter(pointer.name, pointer.type), tree.Parameter(shape.name, shape.type)


def _container_parameter(context: Context, name: str, shape: CallShape) -> tree.Parameter:
    desc = context.sdfg.desc(name, context.sdfg.body)
    spelled = context.names.of(name)
    if isinstance(desc, Scalar):
        context.locations[name] = StorageLocation(Name(spelled, desc.dtype), desc.dtype, is_value=True)
        return tree.Parameter(spelled, desc.dtype)
    if not isinstance(desc, Array):
        raise CodegenError(
            f"the argument {name!r} is a {type(desc).__name__.lower()}: compiled programs take scalars and arrays",
            span=desc.span,
            help="pass its parts as arrays",
        )
    strides = strides_of(desc)
    if name in shape.strided:
        strides = tuple(sym(context.names.fresh(f"{spelled}_stride{axis}")) for axis in range(len(desc.shape)))
        for stride in strides:
            context.names.adopt(stride.name or "")
        context.strides[name] = strides
    written = any(context.uses.writers(other) for other in context.uses.overlapping(name))
    kind = Pointer(desc.dtype, const=not written, space=desc.space)
    context.locations[name] = StorageLocation(Name(spelled, kind), desc.dtype, strides)
    alone = not desc.alias and not shape.aliased
    if alone:
        context.unaliased.add(spelled)
    return tree.Parameter(spelled, kind, restrict=alone)

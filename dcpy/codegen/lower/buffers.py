"""Declaring containers: variables, arrays on the stack, buffers on the heap, and the places of views and arguments."""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir.expr import Name, times
from dcpy.codegen.lir.tree import Declare, Grow, StackBuffer, Table
from dcpy.codegen.lir.types import Pointer
from dcpy.codegen.lower.array_declarations import constant_size, declare_array
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.expressions.array_extents import buffer_size
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.codegen.lower.streams import declare_stream, stream_place
from dcpy.ir.data import Allocation, Array, Data, Scalar, Space, Stream, View, strides_of
from dcpy.ir.region import Resize
from dcpy.ir.symbolic import max_of, product_of


def register_places(context: Context) -> None:
    """Give every transient and view of the SDFG its place (arguments have theirs by now); refuse what has none."""
    descs: dict[str, Data] = {
        name: desc for region in context.sdfg.body.walk_regions() for name, desc in region.containers.items()
    }
    for name, desc in descs.items():
        if isinstance(desc, Stream):
            context.locations[name] = stream_place(context, name, desc)
        if isinstance(desc, Scalar | Array) and name not in context.locations:
            context.locations[name] = _own_place(context, name, desc)
    descs |= {name: replace(descs[name], strides=strides) for name, strides in context.strides.items()}  # type: ignore[arg-type]
    for name, desc in descs.items():
        if isinstance(desc, View):
            context.locations[name] = _view_place(context, name, descs)


def _own_place(context: Context, name: str, desc: Scalar | Array) -> StorageLocation:
    if name in context.sdfg.constants:
        return StorageLocation(_table(context, name, desc), desc.dtype, strides_of(desc))
    if desc.transient and desc.allocation is Allocation.UNDECIDED:
        raise context.refuse(
            f"{name!r} has no storage", desc.span, help="sdfg.lower() gives every container one"
        )
    if desc.allocation is Allocation.REGISTER and desc.space is Space.HOST:
        return StorageLocation(Name(context.names.of(name), desc.dtype), desc.dtype, strides_of(desc), is_value=True)
    pointer = Pointer(desc.dtype, space=desc.space)
    return StorageLocation(Name(context.names.of(name), pointer), desc.dtype, strides_of(desc))


def _table(context: Context, name: str, desc: Scalar | Array) -> Name:
    """The closure's array at file scope, under a name of its own."""
    title = context.file_name(f"{context.sdfg.name}_{name}")
    values = context.sdfg.constants[name]
    context.module.tables.append(Table(title, desc.dtype, tuple(values.reshape(-1).tolist())))
    return Name(title, Pointer(desc.dtype, const=True))


def _view_place(context: Context, name: str, descs: dict[str, Data]) -> StorageLocation:
    """A view is its base's pointer with other strides: no pointer of its own, so its symbols may change."""
    desc = _with_actual_strides(context, name, descs)
    place = context.locations[context.uses.root(name)]
    viewed = desc.dtype != place.dtype or place.is_value
    return StorageLocation(place.base, desc.dtype, strides_of(desc), desc.offset, place.is_value, viewed)


def _with_actual_strides(context: Context, name: str, descs: dict[str, Data]) -> View:
    """The view, derived again where its base is an argument whose strides only the caller knows."""
    desc = descs[name]
    if not isinstance(desc, View) or context.uses.root(name) not in context.strides:
        return desc  # type: ignore[return-value]
    base = _with_actual_strides(context, desc.of, descs) if isinstance(descs[desc.of], View) else descs[desc.of]
    if desc.window is None:
        raise context.refuse(
            f"{name!r} reshapes an argument that may have gaps between its elements",
            desc.span,
            help="inline the call (sdfg.simplify()), or copy the argument first",
        )
    return View.slice(desc.of, base, desc.window, axes=desc.axes, sizes=dict(enumerate(desc.shape)), span=desc.span)


def declare_buffer(context: Context, name: str) -> None:
    """Declare a transient; its sizes are known here."""
    desc = context.uses.desc(name)
    if isinstance(desc, Stream):
        with context.at(desc.span):
            declare_stream(context, name, desc)
    if name in context.sdfg.constants or not isinstance(desc, Scalar | Array):
        return
    place = context.locations[name]
    with context.at(desc.span):
        if desc.space is not Space.HOST or context.kernel is not None:
            device_of(context).declare(context, name, desc, place)
            return
        match desc.allocation:
            case Allocation.REGISTER:
                context.emit(Declare(place.base.name, desc.dtype))
            case Allocation.STACK:
                cut = device_of(context).array_partition(name, desc) if isinstance(desc, Array) else None
                context.emit(StackBuffer(place.base.name, desc.dtype, constant_size(context, name, desc), cut))
                context.unaliased.add(place.base.name)
            case _:
                declare_array(context, place.base.name, desc, container=name, grows=name in context.placement.growing)  # type: ignore[arg-type]


def resize_array(context: Context, block: Resize) -> None:
    """Move a growing array to memory of its new size, which the symbol has already."""
    desc, place = context.uses.desc(block.container), context.locations[block.container]
    assert isinstance(desc, Array)  # `verify` refuses others
    row = product_of(*desc.shape[1:])
    kept = times(context.symbolic(max_of(block.kept, 0)), context.symbolic(row))
    context.emit(Grow(place.base.name, desc.dtype, kept, buffer_size(context, desc)))
    context.fail_unless_memory(Name(place.base.name, Pointer(desc.dtype)), block.container)

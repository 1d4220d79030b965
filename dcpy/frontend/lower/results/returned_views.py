"""Returned views: results that show memory of arguments or of other results."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.lower.arrays import memory_order
from dcpy.ir.data import Array, View
from dcpy.ir.sdfg import Result
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.emitter import Emitter
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def shared_arrays(b: TypedEmitter, columns: Sequence[Sequence[Value]]) -> set[str]:
    """The local arrays of which several results show something: what is written to one of these is seen in others."""
    firsts = [column[0] for column in columns]
    roots = [b.root(value.container) for value in firsts if isinstance(value, ArrayValue)]
    return {root for root in roots if b.emit.descs[root].transient and roots.count(root) > 1}


def arrays_in_parts(b: TypedEmitter, columns: Sequence[Sequence[Value]]) -> set[str]:
    """The local arrays that are results because parts of them are: a packed copy of the part would differ from it."""
    parts = [column[0] for column in columns if all(value == column[0] for value in column)]
    roots = {b.root(value.container) for value in parts if isinstance(value, ArrayValue) and _has_gaps(b, value)}
    return {root for root in roots if b.emit.descs[root].transient}


def _has_gaps(b: TypedEmitter, value: ArrayValue) -> bool:
    is_whole_array = shows_all(b, value) and not isinstance(b.desc(value), View)
    return value.read_only or not (
        is_whole_array or memory_order.is_packed_in_numpy(b, value, memory_order.order_of_copy(b, value))
    )


def is_known_before(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether it is known before the program runs where in a local array the value lies, and how large that is.
    """
    window = [b.emit.defined(sym(name)) for name in value.window.symbols]
    container, desc = value.container, b.desc(value)
    while isinstance(desc, View):
        if not over(b.emit.sdfg.symbols, (*desc.shape, *desc.strides, desc.offset)):
            return False
        container, desc = desc.of, b.emit.descs[desc.of]
    sizes = map(b.emit.defined, desc.shape) if isinstance(desc, Array) else ()
    is_outermost = b.emit.regions[container] is b.emit.sdfg.body
    return is_outermost and over(b.emit.sdfg.symbols, (*window, *sizes))


def shows_all(b: TypedEmitter, value: ArrayValue) -> bool:
    """Return whether it is all of a container, with its axes in any order."""
    desc = b.desc(value)
    return value.window == Subset.whole(desc.shape) and sorted(value.axes) == list(range(len(desc.shape)))


def declared_view(b: TypedEmitter, value: ArrayValue) -> Result | None:
    """A view at the front of the program; None where what it shows is found out while that runs."""
    value = _before_running(b, value)
    known = all(name in b.emit.sdfg.symbols for name in value.window.symbols)
    if not known or not _in_front(b.emit, value.container):
        return None
    desc = b.desc(value)
    container = value.container
    if not isinstance(desc, View) or not value.is_all_of(desc):
        with b.emit.inside(b.emit.sdfg.body):
            container = b.emit.view(value.as_view(desc).subs(b.emit.definitions))
    return Result("readonly" if value.read_only else "view", container)


def over(names: Container[str], shape: Sequence[Expr]) -> bool:
    """Return whether sizes mention these symbols only."""
    return all(name in names for size in shape for name in size.symbols)


def _in_front(emit: Emitter, container: str) -> bool:
    """Declare a view that was made in a branch or loop, and those that it is of, at the front of the program."""
    desc = emit.descs[container]
    if not isinstance(desc, View) or emit.regions[container] is emit.sdfg.body:
        return True
    if not _in_front(emit, desc.of) or not over(emit.sdfg.symbols, (*desc.shape, *desc.strides, desc.offset)):
        return False
    with emit.inside(emit.sdfg.body):
        emit.hoist(container)
    return True


def _before_running(b: TypedEmitter, value: ArrayValue) -> ArrayValue:
    """The value over symbols that are known before the program runs."""
    known = b.emit.definitions
    dims = tuple(_clamped(b, dim.subs(known)) for dim in value.window.dims)
    shape = tuple(b.exact(size.subs(known)) for size in value.shape)
    return replace(value, shape=shape, window=Subset(dims))


def _clamped(b: TypedEmitter, dim: Expr | Range) -> Expr | Range:
    """A range that is never inside out: its size is what Python sees."""
    if isinstance(dim, Expr) or b.emit.ranges.proves_nonneg(dim.size):
        return dim
    return Range(dim.start, dim.start + dim.step * b.exact(dim.size), dim.step)

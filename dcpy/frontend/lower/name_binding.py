"""Name binding: what names stand for, assignment to names, and Python objects of the closure as values.

A number known at run time is copied into the name's slot when it is bound, so that nothing that happens later can
change it. Arrays are only bound: two names of one array share its container.
"""

from __future__ import annotations

import ast
import difflib
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.bit_generators import is_generator
from dcpy.base.errors import FrontendError, ProgramError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Maybe,
    Missing,
    RecordValue,
    Scalar,
    Static,
    SymInt,
    TupleValue,
    Value,
    integer,
    with_parts,
)
from dcpy.frontend.annotations import Symbol
from dcpy.frontend.desugar.bound_and_free_names import bound_names
from dcpy.frontend.lower.arrays import dynamic_sizes
from dcpy.frontend.lower.frame import ExtraArgument
from dcpy.frontend.lower.lowering_signals import BY_PATH, WillRaise
from dcpy.frontend.lower.objects.random_generators import global_generator
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.lower.sequences import iterator_uses, list_references
from dcpy.frontend.scipy.sparse_matrices import CLASSES
from dcpy.frontend.specialize.argument_types import ArrayType
from dcpy.frontend.specialize.record_arguments import SPARSE_FIELDS, is_sparse
from dcpy.frontend.specialize.types_from_call import laid_out
from dcpy.ir import data, types
from dcpy.ir.expressions.scalar import Const, Load, loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, as_expr

if TYPE_CHECKING:
    from dcpy.frontend.introspection.closure import NameRead
    from dcpy.frontend.lower.frame import Frame


class UnsetName(ProgramError):
    """A name is read where nothing has been assigned to it: at least not yet, as far as the types of a loop go."""


def read_name(frame: Frame, name: str) -> Value:
    """Return the value of a name: of this function, those around it, the module, the builtins."""
    place: Frame | None = frame
    while place is not None:
        if name in place.env:
            if place.forbidding(name) is not None:
                raise FrontendError(
                    f"iterations of a parallel map cannot read {name!r}, which they assign and share",
                    help=f"accumulate with `{name} += ...`, read it after the map, or use a plain for loop",
                )
            return list_references.shown(frame, usable(place, name))
        place = place.outer
    known, found = frame.closure.lookup(name)
    if known:
        return from_python(frame, found, frame.closure.dependences_of(name))
    if name in frame.locals:
        raise FrontendError(
            f"cannot access local variable {name!r} where it is not associated with a value",
            notes=("Python raises UnboundLocalError here",),
            help=f"assign {name!r} before",
        )
    visible = frame.closure.names()
    own = sorted({*frame.env, *frame.locals})
    near = difflib.get_close_matches(name, own, n=1) or difflib.get_close_matches(name, visible, n=1)
    raise FrontendError(
        f"name {name!r} is not defined",
        notes=("Python raises NameError here",),
        help=f"did you mean {near[0]!r}?" if near else "",
    )


def is_local(frame: Frame, name: str) -> bool:
    """Return whether a name is one of the function's, or of those that it is nested in."""
    place: Frame | None = frame
    while place is not None:
        if name in place.env or name in place.locals:
            return True
        place = place.outer
    return False


def usable(frame: Frame, name: str) -> Value:
    """Return the value of a name of this frame, as an expression uses it."""
    before = frame.env[name]
    value = as_usable(frame, name, before)
    known = frame.emit.region is frame.scope.region  # else this may not run: nothing is checked, no size has a symbol
    certain = before.value if isinstance(before, Maybe) else before
    if known or not (isinstance(before, Maybe) or dynamic_sizes.varies(certain)):
        frame.env[name] = value
    return value


def as_usable(frame: Frame, name: str, value: Value) -> Value:
    """A value that may depend on the path, as an expression sees it."""
    if isinstance(value, Maybe):  # Python finds out when it comes there
        message = f"cannot access local variable {name!r} where it is not associated with a value"
        frame.b.check(value.condition, "UnboundLocalError", message)
        value = value.value
    value = dynamic_sizes.materialized_sizes(frame, value)
    if isinstance(value, Missing):
        everywhere = "in a program a variable has one type on all paths"
        notes = (everywhere if value.span is None else f"the loop or branch is at line {value.span.line}",)
        if value.merge == BY_PATH:
            raise WillRaise("UnboundLocalError", value.reason, help=value.help, by="Python")
        if value.unset:
            raise UnsetName(value.reason, notes=(*notes, "Python raises UnboundLocalError here"), help=value.help)
        raise frame.b.by_path(value.merge, FrontendError(value.reason, notes=notes, help=value.help))
    return value


def from_python(frame: Frame, found: Any, dependence: Any = None) -> Value:
    """A Python object of the closure as a value."""
    if isinstance(found, np.ndarray):
        return global_array(frame, found, dependence)
    if is_generator(found):
        return global_generator(frame, found, dependence)
    if is_sparse(type(found)):
        return _global_matrix(frame, found)
    if isinstance(found, Symbol):
        return integer(symbolic(frame, found.expr))
    if isinstance(found, tuple | list):
        names = getattr(found, "_fields", ())
        token = list_references.Frozen("it is a global list, which a program only reads")
        items = tuple(from_python(frame, item) for item in found)
        if isinstance(found, list):
            return TupleValue(items, is_list=True, token=token)
        return TupleValue(items, names=names, cls=type(found) if names else None)
    if isinstance(found, dict):
        why = "the caller made it, and a program only reads lists, dictionaries and sets of its caller"
        token = list_references.Frozen(why)
        return DictValue(tuple((key, from_python(frame, item)) for key, item in found.items()), token)
    return Static(_plain_number(found))


def _global_matrix(frame: Frame, found: Any) -> Value:
    """A global sparse matrix: its arrays are global arrays, and its shape is a constant."""
    arrays = []
    for name in SPARSE_FIELDS[:-1]:
        frame.closure.attribute(found, name)
        arrays.append(global_array(frame, getattr(found, name), frame.closure.dependences_of(name, found)))
    frame.closure.attribute(found, "shape")
    shape = TupleValue(tuple(map(Static, found.shape)))
    return RecordValue(CLASSES[type(found).__name__], SPARSE_FIELDS, (*arrays, shape))


def symbolic(frame: Frame, expr: Expr) -> Expr:
    """An expression over symbols of the user's: those that no argument determines are arguments of their own."""
    known: dict[str, Expr] = {}
    place: Frame | None = frame
    while place is not None:
        known = place.sizes | known
        place = place.outer
    program, sdfg = frame.program, frame.emit.sdfg
    for name in expr.symbols:
        if name not in known and name not in sdfg.symbols:
            frame.emit.free_symbol(name, argument=not program.is_callee)
            program.free_symbols.append(name)
    program.objects.used_fields |= dict.fromkeys(expr.symbols, True)
    return expr.subs({name: size for name, size in known.items() if name in expr.symbols})


def _plain_number(found: Any) -> Any:
    """The number that an `IntEnum` member, or another subclass of Python's numbers, is."""
    kind = next((kind for kind in (int, float, complex) if isinstance(found, kind)), None)
    if kind is None or isinstance(found, bool | np.generic) or type(found) is kind:
        return found
    return kind(found)


def materialize(frame: Frame) -> None:
    """Compute what was read but not used yet: code that may write comes next."""
    for operands in frame.program.pending_operands:
        before = list(operands)
        operands[:] = [_materialized(frame, value) for value in before]
        if any(now is not was for now, was in zip(operands, before, strict=True)):
            frame.emit.on_undo(functools.partial(_put_back, operands, before))


def _put_back(operands: list[Value], before: list[Value]) -> None:
    """Forget what a dry run has computed, with the containers that it had."""
    operands[: len(before)] = before


def _materialized(frame: Frame, value: Value) -> Value:
    settled = frame.program.materialized
    if not isinstance(value, Scalar):
        return with_parts(value, lambda part: _materialized(frame, part))
    if all(load.container in settled for load in loads_of(value.expr)):
        return value
    kept = frame.b.keep(value)
    container = loads_of(kept.expr)[0].container
    settled.add(container)  # written once
    frame.emit.on_undo(lambda: settled.discard(container))
    return kept


def bind_name(frame: Frame, name: str, value: Value) -> Value:
    """``name = value``: a number known at run time goes into the name's slot; everything else is just bound."""
    if frame.forbidding(name) is not None:
        raise FrontendError(
            f"iterations of a parallel map cannot assign {name!r}, which they share",
            notes=("iterations may run at the same time, so no value is the last one",),
            help=f"use another name inside the map, accumulate with `{name} += ...`, or use a plain for loop",
        )
    match value:
        case Scalar(expr=Const()):
            bound: Value = value
        case Scalar(expr=Load(container=container)) if _never_written(frame, container):
            bound = value
        case Scalar():
            slot = frame.slot(name, value.dtype, value.weak, value.other_kinds)
            assert isinstance(slot.expr, Load)
            if slot.expr != value.expr:
                frame.emit.tasklet([(Memlet(slot.expr.container, Subset()), value.expr)])
            bound = slot
        case TupleValue(is_list=True, token=None) | ListValue(token=None):
            bound = iterator_uses.named(frame, bound_item(frame, replace(value, token=object())))
        case SymInt() | Static():
            bound = value
        case _:
            bound = iterator_uses.named(frame, bound_item(frame, value))
    frame.env[name] = bound if not list_references.is_on(frame) else list_references.kept(frame, bound)
    return list_references.shown(frame, frame.env[name])


def bound_item(frame: Frame, value: Value) -> Value:
    """A value that is kept, also as a part of another one: what happens later cannot change it."""
    if isinstance(value, ArrayValue):
        return replace(value, fresh=False)
    if isinstance(value, Scalar):
        return sequences.stable(frame.b, value)
    if isinstance(value, ListValue):
        return replace(value, array=replace(value.array, fresh=False))
    return with_parts(value, lambda part: bound_item(frame, part))


def _never_written(frame: Frame, container: str) -> bool:
    """Scalar arguments are passed by value and stay as they are."""
    desc = frame.emit.descs[container]
    return isinstance(desc, data.Scalar) and not desc.transient


def bind_plain(frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind the target of a comprehension: no container of its own."""
    if isinstance(target, ast.Name):
        frame.env[target.id] = value
        return
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    value = frame.program.evaluator.all_items(frame, value)
    items = _counted_items(frame, value, len(parts)) or sequences.items(frame.b, value)
    if len(parts) != len(items):
        raise FrontendError(f"cannot unpack {len(items)} values into {len(bound_names(target))}")
    for part, item in zip(parts, items, strict=True):
        bind_plain(frame, part, item)


def _counted_items(frame: Frame, value: Value, wanted: int) -> list[Value] | None:
    """The items of something whose length is known, and checked, at run time; None for others."""
    b = frame.b
    size = sequences.length(b, value) if isinstance(value, ArrayValue | ListValue) else None
    if size is None or size.constant is not None:
        return None
    few = f"not enough values to unpack (expected {wanted}, got {{0}})"
    b.emit.require(size - wanted, "ValueError", few, (size,))
    b.emit.require(wanted - size, "ValueError", f"too many values to unpack (expected {wanted})")
    return [sequences.at(b, value, as_expr(k)) for k in range(wanted)]


def global_array(frame: Frame, array: Any, dependence: NameRead | None) -> ArrayValue:
    """A global array: one more argument of the program."""
    extra = frame.program.extra_arguments
    if id(array) not in extra:
        stem = dependence.name if dependence is not None else "array"
        try:
            dtype = types.from_numpy(array.dtype)
        except KeyError:
            message = f"the global array {stem!r} has the dtype {array.dtype}, which dcpy does not support"
            raise FrontendError(message) from None
        name = frame.emit.fresh_for_good(stem)
        shape = tuple(as_expr(size) for size in array.shape)
        kind = laid_out(ArrayType(dtype, shape, alias=frame.program.aliases.get(id(array), "")), array)
        desc = kind.descriptor(name)
        frame.emit.sdfg.body.containers[name] = desc
        if kind.axes is not None and kind.layout == "strided":
            frame.emit.axis_orders[name] = kind.axes
        for stride in desc.strides:
            for symbol in stride.symbols:
                frame.emit.reserve(symbol)
                frame.emit.sdfg.add_symbol(symbol)
        frame.emit.descs[name], frame.emit.regions[name] = desc, frame.emit.sdfg.body
        extra[id(array)] = ExtraArgument(name, kind, array, dependence)
    name = extra[id(array)].name
    return ArrayValue.whole(name, frame.emit.descs[name])


def forget_global_array(frame: Frame, number: int) -> None:
    """Take back that the program uses a global array, by identity."""
    name = frame.program.extra_arguments.pop(number).name
    for table in (frame.emit.sdfg.body.containers, frame.emit.descs, frame.emit.regions):
        table.pop(name, None)

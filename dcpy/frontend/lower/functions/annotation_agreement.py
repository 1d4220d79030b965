"""Annotation agreement: arguments of called programs are checked against their annotations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING

from dcpy.base.assumptions import NOTHING, Assumption
from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.annotations import assumed_together, types_from_annotations
from dcpy.frontend.lower.name_binding import symbolic
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.value_ranges import assumed_bounds
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.symbolic import Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.op_builder import OpBuilder


def require_annotated(frame: Frame, function: FunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
    """Refuse arrays of another rank or dtype, and sizes that surely differ; others are checked at run time."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return  # which the call itself explains
    hints = types_from_annotations(function)
    pairs = [(name, hints.get(name), value) for name, value in bound.items()]
    sizes: list[tuple[str, int, Expr, Expr]] = []
    for name, hint, value in pairs:
        if isinstance(hint, ArrayType) and isinstance(value, ArrayValue):
            _require_kind(function.__name__, name, hint, value)
            exact = map(frame.b.exact, value.shape)
            sizes += [(name, axis, dim, size) for axis, (dim, size) in enumerate(zip(hint.dims, exact, strict=True))]
    known = solve_annotation_sizes(frame.b, sizes, {})
    for name, assumed in assumed_together(*(hint.assumed for hint in hints.values() if isinstance(hint, ArrayType))):
        if name in known:
            require_assumed(frame.b, name, known[name], assumed, f" of {function.__name__}()")


def require_assumed(b: OpBuilder, name: str, value: Expr, assumed: Assumption, where: str = "") -> None:
    """Require the assumption about the value of a symbol: proved, or checked at run time."""
    message = f"the symbol {name}{where} is {{0}}, but is assumed to be {assumed.in_words()}"
    low, high = assumed_bounds(assumed, size=False)
    for fact in (None if low is None else value - low, None if high is None else high - value):
        if fact is not None:
            b.emit.require(fact, "ValueError", message, (value,))
    if b.emit.ranges.remainder(value, assumed.multiple_of) != 0:
        divisor = Const(assumed.multiple_of, types.int64)
        divides = op("eq", op("mod", Index(value), divisor), Const(0, types.int64))
        b.check(divides, "ValueError", message, [Index(value)])


def _require_kind(function: str, name: str, hint: ArrayType, value: ArrayValue) -> None:
    wanted = f"{hint.dtype.numpy_name}[{', '.join(map(str, hint.dims))}]"
    if value.rank != len(hint.dims):
        found = f"{value.rank} dimension{'s' * (value.rank != 1)}"
    elif value.dtype != hint.dtype:
        found = f"the dtype {value.dtype.numpy_name}"
    else:
        return
    raise FrontendError(
        f"argument {name!r} of {function}() has {found}, but a {wanted} is needed",
        notes=(f"{function}() is a program, with this annotation",),
        help="convert it before the call, or leave the annotation out: types then come from the calls",
    )


def solve_annotation_sizes(
    b: OpBuilder, sizes: Sequence[tuple[str, int, Expr, Expr]], known: dict[str, Expr]
) -> dict[str, Expr]:
    """Return the values of annotations' symbols, solved from sizes; each size must be what its annotation says.

    Each entry is an argument, an axis, the annotation's expression and the size. A symbol that stands alone in some
    size is that; else one is solved for where it is linear, and the sizes must divide. What is `known` comes first.
    """
    order = sorted(sizes, key=lambda entry: entry[2].name is None)
    solved: list[tuple[str, int, Expr, Expr]] = []
    for _ in order:
        solved += [entry for entry in order if entry not in solved and _solve(b, entry, known)]
    for name, axis, wanted, size in order:
        if (name, axis, wanted, size) not in solved and all(symbol in known for symbol in wanted.symbols):
            says = wanted.subs(known)
            message = f"argument {name!r} has the size {{0}} along axis {axis}, but its annotation says {wanted}: {{1}}"
            b.same_size(size, says, message, (size, says))
    return known


def _solve(b: OpBuilder, entry: tuple[str, int, Expr, Expr], known: dict[str, Expr]) -> bool:
    """Return whether a size has given a symbol its value."""
    name, axis, wanted, size = entry
    unknown = [symbol for symbol in wanted.symbols if symbol not in known]
    form = wanted.linear_in(unknown[0]) if len(unknown) == 1 else None
    slope = None if form is None else form[0].subs(known).constant
    if form is None or not slope:
        return False
    rest = size - form[1].subs(known)
    if abs(slope) != 1:
        divides = op("eq", op("mod", Index(rest), Const(abs(slope), types.int64)), Const(0, types.int64))
        message = f"argument {name!r} has the size {{0}} along axis {axis}, which is {wanted} for no {unknown[0]}"
        if (rest % slope).constant != 0:
            b.check(divides, "ValueError", message, [Index(size)])
    known[unknown[0]] = rest // slope
    return True


def unify_annotation_sizes(frame: Frame, arg_types: Mapping[str, ArgType]) -> None:
    """Sizes that annotations ask to be expressions are these, where a function begins; their symbols get values."""
    b, emit = frame.b, frame.emit
    arrays = [(path, kind) for path, kind in arg_types.items() if isinstance(kind, ArrayType)]
    asked = [
        (path, axis, wanted, size)
        for path, kind in arrays
        for axis, (wanted, size) in enumerate(zip(kind.annotated_sizes, kind.dims, strict=False))
        if wanted is not None
    ]
    if not asked:
        return
    plain = dict.fromkeys(name for _, kind in arrays for dim in kind.dims for name in dim.symbols)
    known = {name: sym(name) for name in plain} | frame.sizes
    before = set(known)
    solve_annotation_sizes(b, asked, known)
    for name, value in known.items():
        if name not in before:
            frame.sizes[name] = emit.assign_symbol(name, Index(value), 0, None, definition=value)
            require_assumed(b, name, frame.sizes[name], emit.assumed.get(name, NOTHING))
    for path, axis, wanted, size in asked:
        unknown = [name for name in wanted.symbols if name not in known]
        says = symbolic(frame, wanted)
        if unknown:
            message = f"argument {path!r} has the size {{0}} along axis {axis}, but its annotation says {wanted}: {{1}}"
            b.same_size(size, says, message, (size, says))
        if size.name is not None:
            emit.ranges = emit.ranges.bind(size.name, says, says)

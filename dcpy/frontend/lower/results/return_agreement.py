"""Return agreement: the returns of a function that fill the same results.

An array that lives on (an argument, a view of one, one of two that change hands) is returned itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.values import ArrayValue, Value, dtype_of, is_number, is_weak
from dcpy.frontend.lower.lowering_signals import LOOP
from dcpy.ir import types
from dcpy.ir.data import View, packed_strides
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.emitter import Emitter
    from dcpy.frontend.lower.frame import ExitPoint, Frame


@dataclass(frozen=True)
class ReturnedValue:
    """Value of one ``return``, taken apart: numbers, arrays and constants in order, and their nesting.

    `parts`: what is returned, then what each changed field of the caller's objects is.
    """

    site: ExitPoint
    parts: tuple[Any, ...]
    leaves: list[Value]


def require_itself(frame: Frame, values: Sequence[Value]) -> None:
    """Arrays that were copied where paths met are not what Python returns: the paths are kept apart where possible.

    Not those of a loop that makes new arrays: its body would be written twice because it may run not at all.
    """
    for value in values:
        root = frame.b.root(value.container) if isinstance(value, ArrayValue) else ""
        if root in frame.b.invalidated_aliases:
            detached = frame.b.invalidated_aliases[root]
            if detached.renewed and isinstance(detached.merge, tuple) and detached.merge[0] == LOOP:
                continue
            found = frame.b.by_path(detached.merge, FrontendError(detached.reason))
            if not isinstance(found, FrontendError):
                raise found


def require_apart(frame: Frame, values: Sequence[Value], place: SrcSpan | None) -> None:
    """Refuse a ``yield`` where two names show parts of one array that is made here: the next step has two arrays."""
    arrays = [value for value in values if isinstance(value, ArrayValue) and is_local(frame, value)]
    for position, value in enumerate(arrays):
        for other in arrays[:position]:
            if value != other and frame.b.root(value.container) == frame.b.root(other.container):
                raise FrontendError(
                    "at this `yield`, two names show parts of one array that the generator has made",
                    span=place,
                    notes=("arrays that live across a `yield` are stored as separate arrays",),
                    help="yield a copy of the part, `x[1:].copy()`, or take the part anew behind the `yield`",
                )


def alike(frame: Frame, one: ReturnedValue, other: ReturnedValue) -> bool:
    """Return whether two returns give the same kind of thing, so that both fill the same results."""
    several = one.site.is_version and other.site.is_version
    pairs = zip(one.leaves, other.leaves, strict=True) if one.parts == other.parts else ()
    return one.parts == other.parts and all(_agree(frame, mine, theirs, several) for mine, theirs in pairs)


def _agree(frame: Frame, one: Value, other: Value, several: bool) -> bool:
    if one == other:
        return True
    if is_number(one) and is_number(other):
        dtypes = {dtype_of(one), dtype_of(other)}
        return len(dtypes) == 1 and (is_weak(one) is is_weak(other) or dtypes <= {types.float64, types.complex128})
    if not isinstance(one, ArrayValue) or not isinstance(other, ArrayValue):
        return False
    if one.dtype != other.dtype or one.rank != other.rank:
        return False
    if is_local(frame, one, other):
        return not (several and _live_on(frame, one, other))
    return one.shape == other.shape and not (_known_before(frame.emit, one) and _known_before(frame.emit, other))


def _known_before(emit: Emitter, value: ArrayValue) -> bool:
    """Return whether it is known before the program runs where the array lies, so that it can be returned itself."""
    window = [symbol for name in value.window.symbols for symbol in emit.defined(sym(name)).symbols]
    return all(name in emit.sdfg.symbols for name in window)


Step = ArrayValue | tuple[Expr, ...]  # a part, or a shape


def moves(emit: Emitter, value: ArrayValue) -> list[Step]:
    """The steps to a part of an argument that is found out while the program runs; none for anything else.

    What was reshaped in a branch might not be there on another path.
    """
    steps = _steps_to(emit, value)
    symbols = {name for step in steps or () for name in _symbols_of(step)}
    known = all(part in emit.sdfg.symbols for name in symbols for part in emit.defined(sym(name)).symbols)
    is_inside = isinstance(emit.descs.get(value.container), View) and (
        emit.regions[value.container] is not emit.sdfg.body)  # fmt: skip
    return [] if known and not is_inside else steps or []


def _steps_to(emit: Emitter, value: ArrayValue) -> list[Step] | None:
    """Return NumPy's steps from an argument to a view of it; None where slices and reshapes do not lead there."""
    desc = emit.descs.get(value.container)
    ranges = [axis for axis, dim in enumerate(value.window.dims) if isinstance(dim, Range)]
    new = [size for axis, size in zip(value.axes, value.shape, strict=True) if axis < 0]
    if desc is None or any(axis not in value.axes for axis in ranges) or any(size is not ONE for size in new):
        return None
    if not isinstance(desc, View):
        return None if desc.transient else [value]
    of = emit.descs[desc.of]
    if of.dtype != desc.dtype:
        return None
    own: list[Step] = [] if value.is_all_of(desc) else [value]
    if desc.window is None:
        if desc.strides != packed_strides(desc.shape) or desc.offset != (of.offset if isinstance(of, View) else ZERO):
            return None
        steps = _steps_to(emit, ArrayValue.whole(desc.of, of))
        return None if steps is None else [*steps, desc.shape, *own]
    steps = _steps_to(emit, ArrayValue(desc.of, desc.dtype, desc.shape, desc.window, desc.axes))
    return None if steps is None else [*steps, *own]


def _symbols_of(step: Step) -> Iterator[str]:
    if isinstance(step, ArrayValue):
        yield from step.window.symbols
    else:
        yield from (name for size in step for name in size.symbols)


def _live_on(frame: Frame, *values: ArrayValue) -> bool:
    """Return whether the arrays were there before the paths parted: the array itself is returned then, and no copy."""
    return all(frame.emit.regions.get(value.container) is frame.emit.sdfg.body for value in values)


def is_local(frame: Frame, *values: Value) -> bool:
    """Return whether it is memory of the program: in several places of the result, it is one array."""
    arrays = [value for value in values if isinstance(value, ArrayValue)]
    roots = [frame.emit.descs[frame.b.root(value.container)] for value in arrays]
    return len(arrays) == len(values) and all(root.transient for root in roots)

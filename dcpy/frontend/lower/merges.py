"""Where paths meet: what a name stands for after a branch, at the head of a loop, after it.

Numbers meet in the name's home, in the dtype that NumPy promotes to. Arrays that differ meet in a container of their
own, into which each path copies; from then on neither version may be written, unless only this name has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower import elementwise, resizing, stores
from dcpy.frontend.lower.promotion import common
from dcpy.frontend.values import (
    ArrayValue,
    Maybe,
    Missing,
    Resized,
    Scalar,
    Static,
    SymInt,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.ir.expr import Load, ScalarExpr, loads_of, symbols_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def join(
    frame: Frame, name: str, values: Sequence[Value], facts: Sequence[Ranges] = (), *, accumulating: bool = False
) -> Value:
    """What `name` stands for where paths with these values meet; `Missing` where there is no such value.

    `facts`: what is known at the end of each path; without them, shapes must agree. `accumulating`: at the head of a
    loop, where a number may take the dtype of what is added to it.
    The caller then moves each path's value into the result (`move`), at the end of the path.
    """
    unusable = [value for value in values if isinstance(value, Missing)]
    known = [value for value in values if not isinstance(value, Missing)]
    if not known or not all(value.unset for value in unusable):
        return next(value for value in unusable if not known or not value.unset)
    plain = [value.value if isinstance(value, Maybe) else value for value in known]
    facts = [ranges for value, ranges in zip(values, facts, strict=False) if not isinstance(value, Missing)]
    joined = _join_known(frame, name, plain, facts, accumulating)
    certain = not unusable and not any(isinstance(value, Maybe) for value in known)
    if certain or isinstance(joined, Missing):
        return joined
    return Maybe(joined, _joined_flag(frame, name, values))


def _join_known(frame: Frame, name: str, plain: Sequence[Value], facts: Sequence[Ranges], accumulating: bool) -> Value:
    first = plain[0]
    if all(value == first for value in plain) and is_visible(frame, first):
        return first
    meeting = common(plain, accumulating=accumulating) if all(map(is_number, plain)) else None
    if meeting is not None:
        return frame.home(name, *meeting)
    mixed = any(map(is_number, plain)) and all(_is_element(frame, name, value) for value in plain)
    if mixed and len(set(map(dtype_of, plain))) == 1:
        return frame.home(name, dtype_of(first), weak=False)  # a 0-d array of this name's own meets a scalar
    if all(isinstance(value, ArrayValue | Resized) for value in plain):
        return _join_arrays(frame, name, [value for value in plain if isinstance(value, ArrayValue | Resized)], facts)
    if all(isinstance(value, TupleValue) for value in plain):
        return _join_tuples(frame, name, [value for value in plain if isinstance(value, TupleValue)])
    kinds = list(dict.fromkeys(map(kind_of, plain)))
    return Missing(
        f"{name!r} is {' or '.join(kinds)} here, depending on the path taken",
        help="use different names, or give both paths the same type",
    )


def _joined_flag(frame: Frame, name: str, values: Sequence[Value]) -> ScalarExpr:
    """Whether the name has a value, known at run time."""
    conditions = [value.condition if isinstance(value, Maybe) else None for value in values]
    first = conditions[0]
    if first is not None and all(condition == first for condition in conditions) and _is_visible_expr(frame, first):
        return first
    return frame.flag(name)


def _is_visible_expr(frame: Frame, expr: ScalarExpr) -> bool:
    containers = all(frame.emit.is_visible(load.container) for load in loads_of(expr))
    return containers and all(_symbol_known(frame, name) for name in symbols_of(expr))


def _is_element(frame: Frame, name: str, value: Value) -> bool:
    return is_number(value) or (isinstance(value, ArrayValue) and not value.shape and is_own(frame, name, value))


def _join_arrays(frame: Frame, name: str, versions: list[resizing.Version], facts: Sequence[Ranges]) -> Value:
    values = [value.home if isinstance(value, Resized) else value for value in versions]
    first = values[0]
    help_text = "use different names, or convert both with .astype(...)"
    if any(value.dtype != first.dtype for value in values):
        dtypes = " or ".join(dict.fromkeys(str(value.dtype.numpy_name) for value in values))
        return Missing(f"the dtype of {name!r} depends on the path taken: {dtypes}", help=help_text)
    if any(value.rank != first.rank for value in values):
        ranks = " or ".join(dict.fromkeys(str(value.rank) for value in values))
        return Missing(f"the rank of {name!r} depends on the path taken: {ranks}", help="use different names")
    different = any(value.shape != first.shape for value in values) or not _known_outside(frame, first.shape)
    if different or any(isinstance(value, Resized) for value in versions):
        resized = resizing.meet(frame, name, versions, facts) if facts else None
        if resized is None:
            return Missing(
                f"the shape of {name!r} depends on the path taken",
                help="use different names, or fill a slice of an array made before",
            )
        _detach_shared(frame, name, resized.home, values)
        return resized
    if all(value == first for value in values) and _hoist(frame, first):
        return first
    home = frame.array_home(name, first.dtype, tuple(frame.b.exact(size) for size in first.shape))
    _detach_shared(frame, name, home, values)
    return home


def _detach_shared(frame: Frame, name: str, home: ArrayValue, values: Sequence[ArrayValue]) -> None:
    for value in values:
        if value.container != home.container and not is_own(frame, name, value):
            _detach(frame, name, home, value)


def _join_tuples(frame: Frame, name: str, values: list[TupleValue]) -> Value:
    first = values[0]
    if any(len(value.items) != len(first.items) or value.is_list != first.is_list for value in values):
        return Missing(f"the length of {name!r} depends on the path taken", help="use different names")
    columns = zip(*(value.items for value in values), strict=True)
    items = tuple(join(frame, f"{name}_{k}", column) for k, column in enumerate(columns))
    missing = next((item for item in items if isinstance(item, Missing)), None)
    return missing or TupleValue(items, first.is_list)


def is_visible(frame: Frame, value: Value) -> bool:
    """Whether the value means the same outside the region that made it."""
    match value:
        case SymInt(expr=expr):
            return _known_outside(frame, (expr,))
        case Scalar(expr=Load(container=container)):
            return frame.emit.is_visible(container)
        case ArrayValue(container=container, shape=shape, window=window):
            symbols = [name for size in shape for name in size.symbols] + list(window.symbols)
            return frame.emit.is_visible(container) and all(_symbol_known(frame, name) for name in symbols)
        case TupleValue(items=items):
            return all(is_visible(frame, item) for item in items)
        case Scalar():
            return False
    return True


def _known_outside(frame: Frame, exprs: Sequence[Expr]) -> bool:
    return all(_symbol_known(frame, name) for expr in exprs for name in expr.symbols)


def _symbol_known(frame: Frame, name: str) -> bool:
    return name in frame.emit.sdfg.symbols or name in frame.emit.ranges.names


def _hoist(frame: Frame, value: ArrayValue) -> bool:
    """Moves the container outwards where all that its declaration mentions is known there."""
    if any(not _symbol_known(frame, name) for name in value.window.symbols):
        return False
    emit = frame.emit
    if value.container not in emit.descs:
        return False
    if not emit.is_visible(value.container):
        shape = emit.descs[value.container].shape
        if not _known_outside(frame, shape):
            return False
        emit.hoist(value.container)
    return True


def is_own(frame: Frame, name: str, value: ArrayValue) -> bool:
    """Whether nobody else can see the memory: a local array that only this name has."""
    b = frame.b
    if value.fresh:
        return True
    if value.container not in frame.emit.descs:
        return True  # made in a dry run, inside the body
    root = b.root(value.container)
    if not frame.emit.descs[root].transient:
        return False
    return not any(other != name and root in roots(frame, found) for other, found in frame.env.items())


def roots(frame: Frame, value: Value) -> tuple[str, ...]:
    """The containers whose memory a value shows."""
    match value:
        case ArrayValue(container=container):
            return (frame.b.root(container),) if container in frame.emit.descs else (container,)
        case TupleValue(items=items):
            return tuple(root for item in items for root in roots(frame, item))
        case Maybe(value=inner) | Resized(home=inner):
            return roots(frame, inner)
    return ()


def _detach(frame: Frame, name: str, home: ArrayValue, value: ArrayValue) -> None:
    reason = f"{name!r} shows another array on another path through the program"
    for container in (home.container, frame.b.root(value.container)):
        if container not in frame.b.detached:
            frame.b.detached[container] = reason
            frame.emit.on_undo(lambda c=container: frame.b.detached.pop(c, None))  # type: ignore[misc]


def move(frame: Frame, pairs: Sequence[tuple[Value, Value]]) -> None:
    """Assigns all targets at once: sources are read before any target is written."""
    flat = [pair for target, source in pairs for pair in _flatten(target, source)]
    scalars: list[tuple[Memlet, ScalarExpr]] = []
    arrays: list[tuple[ArrayValue, ArrayValue]] = []
    for target, source in flat:
        match target, source:
            case Scalar(expr=Load(container=container, dtype=dtype)), ArrayValue():
                scalars.append((Memlet(container, Subset()), elementwise.convert(source.load(()), dtype)))
            case Scalar(expr=Load(container=container, dtype=dtype)), _:
                scalars.append((Memlet(container, Subset()), elementwise.convert(scalar_expr(source), dtype)))
            case ArrayValue(), ArrayValue():
                arrays.append((target, source))
            case Resized(), ArrayValue() | Resized():
                part = resizing.concrete(frame, source) if isinstance(source, Resized) else source
                scalars += resizing.new_sizes(frame, target, part)
                if not resizing.is_in_place(target, part):
                    arrays.append((resizing.front(target, [frame.b.exact(size) for size in part.shape]), part))
    if scalars:
        frame.emit.tasklet(scalars)
    _write(frame, arrays)


def _write(frame: Frame, arrays: Sequence[tuple[ArrayValue, ArrayValue]]) -> None:
    written = {target.container for target, _ in arrays}
    ready = []
    for target, source in arrays:
        if frame.b.root(source.container) in written - {target.container}:
            source = frame.b.copy(source)
        ready.append((target, source))
    for target, source in ready:
        stores.write(frame.b, target, source)


def _flatten(target: Value, source: Value) -> list[tuple[Value, Value]]:
    if isinstance(target, Maybe):
        condition: Value = Static(not isinstance(source, Missing))
        if isinstance(source, Maybe):
            condition, source = Scalar(source.condition, weak=True), source.value
        flag = _flatten(Scalar(target.condition, weak=True), condition) if _is_home(target.condition) else []
        return flag if isinstance(source, Missing) else _flatten(target.value, source) + flag
    if isinstance(source, Maybe):
        source = source.value
    if target == source or isinstance(target, Missing | Static | SymInt):
        return []
    if isinstance(target, TupleValue) and isinstance(source, TupleValue):
        pairs = zip(target.items, source.items, strict=True)
        return [pair for part in pairs for pair in _flatten(*part)]
    return [(target, source)]


def _is_home(condition: ScalarExpr) -> bool:
    return isinstance(condition, Load)


def require_usable(value: Value) -> None:
    """Refuses a value that the paths do not agree on."""
    if isinstance(value, Missing):
        raise FrontendError(value.reason, help=value.help)

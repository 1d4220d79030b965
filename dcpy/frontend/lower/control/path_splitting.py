"""Path splitting: statements that use a name which stands for something else on each path are written once per path.

``u, v = v, u`` in a time loop makes two versions of its body: in one of them `u` is the first array, in the other it is
the second. Each is analysed as if it had been written by hand; a scalar says which of them runs.

Where paths meet with different versions, these are copied into one place as a rule (`joins`). Where
that is not what Python means (the array is written later) or not possible (a dtype by path), lowering begins anew
and keeps the paths apart there (`PathsMatter`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import Resized, SlidingWindow
from dcpy.frontend.abstract_values.list_values import LazyGenerator, ListRef, ListValue
from dcpy.frontend.abstract_values.number_kinds import types_of
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Missing,
    RecordValue,
    Scalar,
    TupleValue,
    Value,
    VariantValue,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.control import joins
from dcpy.frontend.lower.control.path_selectors import chosen
from dcpy.frontend.lower.frame import is_field
from dcpy.frontend.lower.lowering_signals import PathsMatter
from dcpy.frontend.lower.sequences import list_references

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

MAX_COPIES = 64  # of one statement


def selector_of(frame: Frame, statement: core.Statement) -> VariantValue | None:
    """Return a value used by a statement that depends on the path taken."""
    if not frame.b.selector_origins:
        return None
    return next(
        (value for name in _used(frame, statement) if isinstance(value := frame.env.get(name), VariantValue)), None
    )


def extent(frame: Frame, body: core.Body, start: int, which: str) -> int:
    """Return the end of the statements from `start` on that depend on a selector, directly or indirectly."""
    tainted = {name for name, value in frame.env.items() if isinstance(value, VariantValue) and value.which == which}
    end, bound = start + 1, set(body[start].bound)
    tainted |= bound
    for position in range(start + 1, len(body)):
        statement = body[position]
        bound |= statement.bound
        if not tainted.isdisjoint(_used(frame, statement)):
            end = position + 1
            tainted |= bound
    return end


def resolved(frame: Frame, which: str, number: int) -> None:
    """Bind the names of a frame to what they stand for where the selector has this number."""
    numbers = {which: number}
    frame.env = {name: chosen(value, numbers) for name, value in frame.env.items()}


def possible(frame: Frame, statement: core.Statement, test: Callable[[], object]) -> tuple[str, list[int]] | None:
    """Return the selector that a test depends on, and the numbers with which it may hold; None where it has none."""
    selector = selector_of(frame, statement)
    if selector is None:
        return None
    numbers = []
    env = frame.env
    for number, _ in selector.options:
        resolved(frame, selector.which, number)
        try:
            with frame.emit.dry_run():
                holds = test()
        except (DcpyError, PathsMatter):
            holds = None
        finally:
            frame.env = env
        if holds is not False:
            numbers.append(number)
    return selector.which, numbers


def narrowed(env: dict[str, Value], which: str, numbers: Sequence[int]) -> dict[str, Value]:
    """An environment in which a selector has one of these numbers."""
    return {name: _with_numbers(value, which, numbers) for name, value in env.items()}


def _with_numbers(value: Value, which: str, numbers: Sequence[int]) -> Value:
    if not isinstance(value, VariantValue) or value.which != which:
        return value
    options = tuple((number, option) for number, option in value.options if number in numbers)
    if not options:
        return value
    return options[0][1] if len(options) == 1 else VariantValue(which, options)


def _used(frame: Frame, statement: core.Statement) -> list[str]:
    """Names whose value a statement may need, in order."""
    names = sorted(statement.uses)
    names += list_references.reachable(frame.env, [frame.env[name] for name in names if name in frame.env])
    if statement.calls:  # of functions that see names of this one, and of methods
        names += sorted(frame.liveness.captured)
    if statement.calls or isinstance(statement, core.Return):
        names += [name for name in frame.env if is_field(name)]
    return names


def require_few(frame: Frame, selector: VariantValue) -> None:
    """Stop before code is written too many times: lowering begins anew, and copies where these paths meet."""
    if frame.scope.copies * len(selector.options) <= MAX_COPIES:
        return
    error = FrontendError(
        f"the values of names depend on the path taken here in more than {MAX_COPIES} ways",
        notes=("the statement is compiled once for each of them",),
        help="use a name for each array, or copy: `x = x.copy()`",
    )
    merge = frame.program.selector_origins.get(selector.which)
    if merge is None or not is_split(frame, merge):
        raise error
    raise PathsMatter(merge, error, keep_apart=False)


def is_split(frame: Frame, merge: object) -> bool:
    """Return whether the paths that meet there may be kept apart."""
    return merge is not None and frame.b.split_joins.get(merge, True)


def is_marked(frame: Frame, merge: object) -> bool:
    """Return whether the paths that meet there are kept apart, because lowering has found that it matters."""
    return frame.b.split_joins.get(merge, False)


def differ(values: Sequence[Value]) -> bool:
    """Return whether arrays among the values are not the same on all paths, so that copies would have to be made."""
    return any(value != values[0] for value in values[1:]) and any(map(_has_array, values))


def _has_array(value: Value) -> bool:
    match value:
        case ArrayValue() | Resized() | SlidingWindow():
            return True
        case TupleValue(items=items) | RecordValue(items=items):
            return any(map(_has_array, items))
        case DictValue(items=pairs):
            return any(_has_array(item) for _, item in pairs)
        case VariantValue(options=options):
            return any(_has_array(option) for _, option in options)
    return False


def _have_the_same_places(values: Sequence[Value]) -> bool:
    """Return whether the values are no lists or dictionaries, or have items at the same positions, or for the same
    keys.
    """
    held = [
        option for value in values for option in (options_of(value) if isinstance(value, VariantValue) else [value])
    ]
    if not any(isinstance(value, DictValue) or list_references.is_list(value) for value in held):
        return True
    return len({places_of(value) for value in held}) == 1


def _differ_in_kind(values: Sequence[Value], joined: Value) -> bool:
    """Return whether numbers, or numbers in tuples, have another kind on each path."""
    if isinstance(joined, Scalar):
        return bool(joined.other_kinds) and len(set(map(types_of, values))) > 1
    tuples = [value for value in values if isinstance(value, TupleValue) and not value.is_list]
    if not isinstance(joined, TupleValue) or len(tuples) < len(values):
        return False
    columns = zip(*(value.items for value in tuples), strict=True)
    return any(_differ_in_kind(column, part) for column, part in zip(columns, joined.items, strict=True))


def options_of(value: VariantValue) -> list[Value]:
    """Return the values that a name may have."""
    return [option for _, option in value.options]


def places_of(value: Value) -> object:
    """Return the positions of the items of a list or dictionary; the type of anything else."""
    match value:
        case TupleValue(items=items, is_list=is_list):
            return is_list, len(items)
        case DictValue(items=pairs):
            return tuple(key for key, _ in pairs)
    return type(value)


def disagree(frame: Frame, values: Sequence[Value], joined: Value) -> bool:
    """Return whether paths on which a name has these values are kept apart: their versions would be copied, or do not
    meet.
    """
    if all(value == values[0] for value in values) and joins.is_visible(frame, values[0]):
        return False
    lists = any(isinstance(value, ListRef | ListValue | LazyGenerator) for value in values)
    if lists or not _have_the_same_places(values):
        return False  # where lists meet: `list_joins`
    if isinstance(joined, SlidingWindow):
        return False  # nothing is copied
    if any(isinstance(value, VariantValue) for value in values) or differ(values):
        return True
    if _differ_in_kind(values, joined):
        return True
    unusable = any(isinstance(value, Missing) and not value.unset for value in values)
    return isinstance(joined, Missing) and not joined.unset and not unusable

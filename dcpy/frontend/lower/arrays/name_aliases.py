"""Aliasing: which names show the same memory, and which of them may write it.

Where paths meet, versions of an array move into a container of the name's own. That must not be one that another name
still shows; and where another name showed a version that moved, one object of Python's has become two: neither is
written from then on.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.dynamic_arrays import Resized, SlidingWindow
from dcpy.frontend.abstract_values.list_values import GrownText, JoinedList, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Maybe,
    RecordValue,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
)
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.frame import Names, shown
from dcpy.frontend.lower.sequences import list_references
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame, LoweringState

Env = Mapping[str, Value]


def roots(frame: Frame, value: Value) -> tuple[str, ...]:
    """The containers whose memory a value shows."""
    match value:
        case ArrayValue(container=container):
            return (frame.b.root(container),)
        case TupleValue(items=items) | RecordValue(items=items):
            return tuple(root for item in items for root in roots(frame, item))
        case DictValue(items=pairs):
            return tuple(root for _, item in pairs for root in roots(frame, item))
        case ListValue(array=inner) | GrownText(items=inner) | JoinedList(items=inner):
            return roots(frame, inner)
        case TextValue(parts=parts):
            return tuple(root for part in parts if not isinstance(part, str) for root in roots(frame, part[0]))
        case Maybe(value=inner) | Resized(slot=inner) | SlidingWindow(like=inner):
            return roots(frame, inner)
        case VariantValue(options=options):
            return tuple(root for _, option in options for root in roots(frame, option))
    return ()


def shown_by_others(frame: Frame, name: str, envs: Sequence[Env]) -> Names:
    """The containers that names other than `name` show."""
    values = [value for env in envs for other, value in env.items() if other != name]
    return frozenset(root for value in values for root in roots(frame, value))


def live_values(env: Env, names: Names) -> Env:
    """Return the values of the names of an environment that are live, that is, may be read later.

    Names that are not the program's (fields of objects) live on.
    """
    return {name: value for name, value in env.items() if name in names or not name.isidentifier()}


def separate_aliases(frame: Frame, envs: Sequence[Env], after: Env, merge: object) -> None:
    """Detache what names stand for after a loop where they were one array inside of it, and are two from now on."""
    for env in envs:
        found = {name: set(roots(frame, env[name])) for name in after if name in env}
        for name, others in ((name, [other for other in found if other < name]) for name in found):
            for other in others:
                now, then = (set(roots(frame, after[key])) for key in (name, other))
                if found[name] & found[other] and now and then and not now & then:
                    forbid(frame, name, sorted(now | then), merge)


def is_own(frame: Frame, name: str, value: ArrayValue, env: Env) -> bool:
    """Return whether only `name` can see the memory, where names stand for what `env` says."""
    if value.fresh:
        return True
    root = frame.b.root(value.container)
    if frame.b.live_copies(root):
        return False
    desc = frame.emit.descs.get(root)  # None: made in a dry run, inside the body of a loop
    return (desc is None or desc.transient) and root not in shown_by_others(frame, name, [env])


def invalidate_alias(
    frame: Frame, name: str, slot: ArrayValue, value: ArrayValue, merge: object, *, renewed: bool
) -> None:
    """Refuse writes, from now on, to what `name` stands for, and to the version that moved there."""
    forbid(frame, name, (slot.container, frame.b.root(value.container)), merge, renewed=renewed)


def inherit_invalidation(frame: Frame, slot: ArrayValue, value: ArrayValue) -> None:
    """A version that may not be written moves: nor may what it is a part of from then on."""
    found = frame.b.invalidated_aliases.get(frame.b.root(value.container))
    if found is not None:
        frame.b.invalidate_alias(slot.container, found.reason, found.merge, renewed=found.renewed)


def forbid(frame: Frame, name: str, containers: Sequence[str], merge: object, *, renewed: bool = False) -> None:
    """Writes to these containers are refused, because of what `name` stands for where paths meet at `merge`."""
    reason = f"{shown(name)!r} shows another array on another path through the program"
    for container in containers:
        frame.b.invalidate_alias(container, reason, merge, renewed=renewed)


# -- copies in lists ---------------------------------------------------------------------------------------------------


def held(
    frame: Frame, owner: str, value: Value, holder: str, merge: object = None, *, array: bool = False
) -> None:
    """A list, or what is taken out of one, holds a copy of arrays that the program may see elsewhere.

    `holder` is the key of the list, or the container of the copy; `owner` the name whose arrays are moved there;
    `array`: the copy is of one array in the list, which may lose it.
    """
    match value:
        case TupleValue(items=items, token=str(key)) if list_references.shown_elsewhere(frame.env, key, owner):
            _list_copied(frame, key, holder, merge, array=array)
            for item in items:
                held(frame, owner, item, holder, merge, array=array)
        case (ListValue(token=str(key)) | DictValue(token=str(key))) if (
            list_references.shown_elsewhere(frame.env, key, owner)
        ):
            _list_copied(frame, key, holder, merge, array=array)
        case TupleValue(items=items):
            for item in items:
                held(frame, owner, item, holder, merge, array=array)
        case ArrayValue(container=container, shape=shape) if shape and not is_own(frame, owner, value, frame.env):
            root = frame.b.root(container)
            frame.b.split_alias(root, holder, merge)
            if any(_stored_before(program_frame, one) for program_frame, _ in frame.program.activations
                   for one in (root, *roots(frame, frame.env.get(holder + list_references.ITEMS, value)))):  # fmt: skip
                raise stores.has_copy(frame.b, holder, merge)


def _changed_before(frame: Frame, key: str) -> bool:
    """Return whether a loop that is being written has changed a list from before it, and does so again."""
    changed = frame.b.stored.get(key, -1)
    made = frame.b.stored.get(list_references.made(key), -1)
    loops = [sites for program_frame, _ in frame.program.activations for sites in program_frame.loops]
    return any(sites.kind == "loop" and made <= sites.start < changed for sites in loops)


def _list_copied(frame: Frame, key: str, holder: str, merge: object, *, array: bool) -> None:
    if not array:
        frame.b.copied_lists |= {key, holder}
    frame.b.split_alias(key, holder, merge)
    if not frame.emit.dry_run_depth and _changed_before(frame, key):  # a dry run may not know yet that it is another
        raise stores.has_copy(frame.b, holder, merge)


def _stored_before(frame: Frame, container: str) -> bool:
    """Return whether a loop that is being written has stored there, and does so again behind this place."""
    emit, stored = frame.emit, frame.b.stored.get(container, -1)
    around = [sites for sites in frame.loops if sites.kind == "loop" and sites.start < stored]
    if not around or container not in emit.regions or len(frame.scopes) <= around[0].depth:
        return False
    body = frame.scopes[around[0].depth].region
    return any(
        region is emit.regions[container] for region in itertools.takewhile(lambda r: r is not body, emit.open_regions)
    )


def require_no_late_copies(frame: Frame, start: int) -> None:
    """Refuse a loop that writes to an array before it puts it into a list: so it does again in the next iteration."""
    frame.program.activations.append((frame, None))  # in the body, all names may be read
    try:
        for container in list(frame.b.aliased_copies):
            known = frame.b.stored.get(container, -1) > start and container in frame.emit.descs
            if known and frame.emit.is_visible(container):
                for copy in seen_copies(frame.program, container):
                    raise stores.has_copy(frame.b, *copy)
    finally:
        frame.program.activations.pop()


def seen_copies(program: LoweringState, container: str) -> list[tuple[str, object]]:
    """The `copies` that the program can still see."""
    return [(other, merge) for other, merge in copies(program, container) if is_seen(program, other)]


def copies(program: LoweringState, container: str) -> list[tuple[str, object]]:
    """Return the copies of a container or list (by key) that are one array in Python, and where the paths met."""
    twins = program.b.aliased_copies
    if not twins:
        return []
    keys = {
        name.removesuffix(list_references.ITEMS): None
        for frame, _ in program.activations for name, value in frame.env.items()
        if name.endswith(list_references.ITEMS) and container in roots(frame, value)
    }  # fmt: skip
    found = {other: merge for one in (container, *keys) for other, merge in twins.get(one, {}).items()}
    return [(other, merge) for other, merge in found.items() if other != container]


def is_seen(program: LoweringState, holder: str) -> bool:
    """Return whether the caller, or a name that may be read later, shows a container or list."""
    desc = program.b.emit.descs.get(holder)
    if desc is not None and not desc.transient:
        return True
    frames = {id(frame): (frame, statement) for frame, statement in program.activations}
    if any(
        _shows(frame, value, holder)
        for frame, _ in frames.values()
        for part in program.pending_operands
        for value in part
    ):
        return True
    for frame, statement in frames.values():
        names = None if statement is None else frame.liveness.after.get(statement)
        living_ = [value for name, value in frame.env.items() if _lives(name, names)]
        reached = list_references.reachable(frame.env, living_)
        if holder + list_references.ITEMS in reached:
            return True
        if any(_shows(frame, value, holder) for value in (*living_, *(frame.env[name] for name in reached))):
            return True
    return False


def is_in_list(frame: Frame, value: ArrayValue) -> bool:
    """Return whether an array is an item that a list of run-time length shows, in the array that such a list is."""
    root = frame.b.root(value.container)
    return any(
        isinstance(content, ListValue) and name.endswith(list_references.ITEMS) and root in roots(frame, content)
        for program_frame, _ in frame.program.activations for name, content in program_frame.env.items()
    )  # fmt: skip


def views_of_list(program: LoweringState, key: str, container: str, index: Expr | None = None) -> bool:
    """Return whether names or operands that may be read later show items in the array of a list: the one at `index`.
    """
    found = [value for operands in program.pending_operands for value in operands]
    for frame, statement in program.activations:
        names = None if statement is None else frame.liveness.after.get(statement)
        found += [value for name, value in frame.env.items()
                  if name != key + list_references.ITEMS and _lives(name, names)]  # fmt: skip
    frame = program.activations[-1][0]
    return any(
        container in roots(frame, value) and not _is_beside(frame, value, index)
        for value in found if not (isinstance(value, ListValue) and value.token == key)
    )  # fmt: skip


def _is_beside(frame: Frame, value: Value, index: Expr | None) -> bool:
    """Return whether an array is known not to show the row at an index."""
    if index is None or not isinstance(value, ArrayValue):
        return False
    rows, ranges = value.window.dims[0], frame.emit.ranges
    start, stop = (rows.start, rows.stop) if isinstance(rows, Range) else (rows, rows + 1)
    return ranges.proves_lt(index, start) or ranges.proves_le(stop, index)


def _lives(name: str, names: Names | None) -> bool:
    """Return whether a name may be read later; what is in a list only if something shows the list."""
    return names is None or name in names or not (name.isidentifier() or name.endswith(list_references.ITEMS))


def _shows(frame: Frame, value: Value, holder: str) -> bool:
    of_list = isinstance(value, TupleValue | ListValue | DictValue) and value.token == holder
    return of_list or holder in roots(frame, value) or list_references.shown_in(value, holder)

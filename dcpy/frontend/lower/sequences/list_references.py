"""List references: two names of one list show what either changes.

What is in a list is kept among the names of a frame, as ``list#1.items``, beside the fields of objects: branches merge
it, loops carry it, functions that are evaluated in place are handed it and hand it back. A name stands for the
reference; an expression sees a snapshot of the list, whose `token` says which list it is. Programs in which no list is
ever changed do without: a list is then a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import GrownText, ListCopy, ListRef, ListRow, ListValue
from dcpy.frontend.abstract_values.values import (
    DictValue,
    IteratorValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
    with_parts,
)
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.frame import IdentityMatters, is_field
from dcpy.frontend.lower.sequences import amortized_append, growing_texts
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Env = Mapping[str, Value]
Changeable = TupleValue | ListValue | DictValue
ITEMS = ".items*"  # no field has that name
MAX_ITEMS = 256  # of a list that grows while an unrolled loop goes over it
ITEM = "an item is assigned"  # what `changing` calls a change that leaves the length as it is


@dataclass(frozen=True)
class Frozen:
    """The token of a list that a program must not change, and why."""

    reason: str


def is_on(frame: Frame) -> bool:
    """Return whether some list of the program is changed."""
    return list in frame.program.objects.identity.changing


def is_list(value: Value | None) -> bool:
    """Return whether a value is a list of Python's, however its items are known."""
    if isinstance(value, TupleValue):
        return value.is_list
    return isinstance(value, ListValue) and bool(value.levels[0])


# -- names to lists --------------------------------------------------------------------------------------------------


def kept(frame: Frame, value: Value) -> Value:
    """A value as a name, or another list, stands for it: lists by reference. A new list becomes one of its own."""
    if not is_on(frame):
        return value
    match value:
        case TupleValue() | ListValue() | DictValue() if is_list(value) or isinstance(value, DictValue):
            token = value.token
            if isinstance(token, Frozen | ListRow | ListCopy):
                return value
            if isinstance(token, str) and token + ITEMS in frame.env:
                return ListRef(token)
            return _new(frame, value)
        case Maybe(value=inner, condition=condition):
            return Maybe(kept(frame, inner), condition)
    return with_parts(value, lambda part: kept(frame, part))


def _new(frame: Frame, value: Changeable) -> ListRef:
    program, maps = frame.program, frame.map_scopes()
    shared = program.lists.shared_keys.get(value.token) if value.token is not None else None
    if shared is not None and shared + ITEMS in frame.env:
        return ListRef(shared)
    program.objects.count += 1
    key = f"list#{program.objects.count}"
    if value.token is not None and not isinstance(value.token, str):
        program.lists.shared_keys[value.token] = key
    program.lists.scopes[key] = frame.scope
    _timed(frame, made(key))
    if maps:
        program.objects.creating_maps[key] = maps[-1]
    if isinstance(value, TupleValue):
        frame.env[key + ITEMS] = replace(value, items=tuple(kept(frame, item) for item in value.items), token=None)
    elif isinstance(value, DictValue):
        frame.env[key + ITEMS] = DictValue(
            tuple((name, kept(frame, item)) for name, item in value.items), site=value.site
        )
    else:
        frame.env[key + ITEMS] = replace(value, array=replace(value.array, fresh=False), token=None)
    return ListRef(key)


def shown(frame: Frame, value: Value, around: tuple[str, ...] = ()) -> Value:
    """A value as an expression sees it: what is in its lists now. `around`: the lists that it is in."""
    match value:
        case ListRef(key=key):
            inside = _inside(key, around)
            content = frame.env.get(key + ITEMS)
            if content is None:
                raise FrontendError(
                    "this list was made in a loop or branch that has ended",
                    help="make it before the loop or branch",
                )
            if isinstance(content, Missing):
                raise FrontendError(content.reason, help=content.help)
            if isinstance(content, ListValue):
                return amortized_append.shown(frame, content, key)
            if isinstance(content, DictValue):
                items = tuple((name, shown(frame, item, inside)) for name, item in content.items)
                return DictValue(items, key, content.site)
            assert isinstance(content, TupleValue)
            return replace(content, items=tuple(shown(frame, item, inside) for item in content.items), token=key)
        case ListValue():
            return amortized_append.shown(frame, value, value.token)
        case GrownText():
            return growing_texts.concrete(frame, value)
    return with_parts(value, lambda part: shown(frame, part, around))


def _inside(key: str, around: tuple[str, ...]) -> tuple[str, ...]:
    """The lists around the items of a list; refused where it is one of them."""
    if key in around:
        raise _holds_itself()
    return (*around, key)


def _holds_itself() -> FrontendError:
    return FrontendError(
        "a list that holds itself is not supported",
        notes=("the items of a list are known when the program is compiled, and these have no end",),
        help="append a copy of the list: x.append(x[:])",
    )


# -- where paths meet ------------------------------------------------------------------------------------------------


def content_of(env: Env, value: Value) -> Value:
    """Return the contents of a list in the environment `env`; any other value as it is."""
    return env.get(value.key + ITEMS, value) if isinstance(value, ListRef) else value


def as_source(env: Env, target: Value, source: Value) -> Value:
    """A value of a path as it moves to `target`: the items, where the name has a list of its own from now on."""
    if isinstance(target, Maybe):
        if isinstance(source, Maybe):
            return Maybe(as_source(env, target.value, source.value), source.condition)
        return source if isinstance(source, Missing) else as_source(env, target.value, source)
    if isinstance(source, Maybe):
        return as_source(env, target, source.value)
    if isinstance(target, ListRef):
        return source
    source = content_of(env, source)
    if isinstance(target, ListValue) and isinstance(source, TupleValue):
        return resolved(env, source)
    if isinstance(target, DictValue) and isinstance(source, DictValue):
        pairs_ = zip(target.items, source.items, strict=True)
        return replace(source, items=tuple((key, as_source(env, mine, other)) for (_, mine), (key, other) in pairs_))
    if not isinstance(target, TupleValue | RecordValue) or not isinstance(source, TupleValue | RecordValue):
        return source
    if len(target.items) != len(source.items):
        return source
    pairs = zip(target.items, source.items, strict=True)
    return replace(source, items=tuple(as_source(env, mine, other) for mine, other in pairs))


def resolved(env: Env, value: Value, around: tuple[str, ...] = ()) -> Value:
    """The items of a list and of all lists in it; `around`: the lists that it is in."""
    inside = _inside(value.key, around) if isinstance(value, ListRef) else around
    return with_parts(content_of(env, value), lambda part: resolved(env, part, inside))


def shown_elsewhere(env: Env, key: str, owner: str) -> bool:
    """Return whether another name than `owner`, or another list, shows the list."""
    others = (value for name, value in env.items() if name != owner and not name.startswith(owner + "."))
    return any(shown_in(value, key) for value in others)


def shown_in(value: Value, key: str) -> bool:
    """Return whether a value is, or holds, the list."""
    match value:
        case ListRef(key=other):
            return other == key
        case TupleValue(items=items) | RecordValue(items=items) | IteratorValue(parts=items):
            return any(shown_in(item, key) for item in items)
        case DictValue(items=pairs):
            return any(shown_in(item, key) for _, item in pairs)
        case Maybe(value=inner):
            return shown_in(inner, key)
        case VariantValue(options=options):
            return any(shown_in(option, key) for _, option in options)
    return False


def freeze(frame: Frame, key: str, reason: str) -> None:
    """Changes of this list are refused from now on."""
    frame.program.lists.frozen_reasons.setdefault(key, reason)


def reachable(env: Env, roots: list[Value]) -> dict[str, bool]:
    """The names of what is in lists that can be reached from some values."""
    found: dict[str, bool] = {}
    pending = list(roots)
    while pending:
        match pending.pop():
            case ListRef(key=key) if key + ITEMS not in found and key + ITEMS in env:
                found[key + ITEMS] = True
                pending.append(env[key + ITEMS])
            case TupleValue(items=items) | RecordValue(items=items) | IteratorValue(parts=items):
                pending += items
            case DictValue(items=pairs):
                pending += [item for _, item in pairs]
            case Maybe(value=inner):
                pending.append(inner)
            case VariantValue(options=options):
                pending += [option for _, option in options]
            case ObjectValue(key=key):
                pending += [value for name, value in env.items() if name.startswith(f"{key}.")]
    return found


# -- changes ---------------------------------------------------------------------------------------------------------


def changing(frame: Frame, value: Changeable, what: str) -> str:
    """The key of a list that is about to change; "" for one that no other name shows."""
    if not is_on(frame):
        frame.program.objects.identity.changing.add(list)
        raise IdentityMatters(list)
    token = value.token
    if isinstance(token, Frozen):
        raise _frozen(value, what, token.reason)
    if isinstance(token, ListCopy):
        raise frame.b.by_path(token.merge, _copy_changes(what))
    if isinstance(token, ListRow):
        raise FrontendError(
            f"an item of a list of lists of run-time length does not change its length ({what})",
            notes=("its rows are those of one array, all of one length",),
            help="make a new list and store it there",
        )
    if not isinstance(token, str) or token + ITEMS not in frame.env:
        return ""
    reason = frame.program.lists.frozen_reasons.get(token)
    if reason is not None:
        raise _frozen(value, what, reason)
    maps = frame.map_scopes()
    if maps and frame.program.objects.creating_maps.get(token) is not maps[-1]:
        raise FrontendError(
            "iterations of a parallel map cannot change a list that they share",
            help="store into an array, or use a plain for loop",
        )
    if token in frame.b.copied_lists:  # others hold copies of arrays at most, which a change of the list leaves alone
        for copy in frame.b.live_copies(token):
            raise stores.has_copy(frame.b, *copy)
    _note_change(frame, token, what)
    return token


def _timed(frame: Frame, what: str) -> None:
    """Note that something happens to a list now, after all before."""
    frame.b.clock += 1
    frame.b.stored[what] = frame.b.clock


def made(key: str) -> str:
    """The note that a list is made."""
    return f"{key} made"


def _note_change(frame: Frame, key: str, what: str) -> None:
    if what not in (ITEM, "append", "extend"):
        forget_rows(frame, key)
    changes = frame.program.lists.change_counts
    changes[key] = changes.get(key, 0) + 1
    _timed(frame, key)
    if what != ITEM:
        changes[key + " length"] = changes.get(key + " length", 0) + 1


def require_own(value: Value, key: str) -> None:
    """Refuse to store a row of a list in another place of it: both would be one list."""
    if isinstance(value, ListValue) and isinstance(value.token, ListRow) and value.token.key == key:
        raise FrontendError(
            "two items of a list would be one list",
            notes=("its items are the rows of one array inside",),
            help="copy the row, `rows[i] = list(rows[j])`, or exchange both: `rows[i], rows[j] = rows[j], rows[i]`",
        )


def forget_rows(frame: Frame, key: str, index: Expr | None = None) -> None:
    """Items of a list move, or one is replaced: names of rows that were lists in it show another one now.

    A name of the row that is replaced keeps what the row has been. Other rows stay where they are.
    """
    ranges = frame.emit.ranges
    for name, value in list(frame.env.items()):
        if not isinstance(value, ListValue) or not isinstance(value.token, ListRow) or value.token.key != key:
            continue
        place = value.token.indices[0]
        if index is not None and ranges.proves_ne(place, index):
            continue
        if index is not None and ranges.simplify(place - index).constant == 0:
            frame.env[name] = kept(frame, value.of(frame.b.copy(value.array)))
            continue
        frame.env[name] = Missing(
            f"{name!r} is an item of a list whose items have moved, or were replaced, since",
            help="index the list again, or take a copy before: `row = list(rows[k])`",
        )


def _copy_changes(what: str) -> FrontendError:
    return FrontendError(
        f"a list that is taken out of others at a position known at run time only cannot be changed ({what})",
        notes=("it is a copy here: the lists have names of their own, or differ in length or kind",),
        help="make one list of rows of equal length, `[[0] * m for _ in range(n)]`, and change its items",
    )


def _frozen(value: Changeable, what: str, reason: str) -> FrontendError:
    kind, make = ("dictionary", "dict") if isinstance(value, DictValue) else ("list", "list")
    message = f"this {kind} cannot be changed ({what})"
    copying = f"copy it inside the program (`mine = {make}(given)`), change the copy, and return it"
    return FrontendError(message, notes=(reason,), help=copying)


def set_content(frame: Frame, key: str, content: TupleValue | ListValue) -> None:
    """The list has other items from now on."""
    if isinstance(content, TupleValue) and key + ITEMS in reachable(frame.env, list(content.items)):
        raise _holds_itself()
    frame.env[key + ITEMS] = replace(content, token=None)


def tokens(value: Value, *, inside: bool = True) -> list[str]:
    """The lists that a loop goes over, and those inside of them."""
    match value:
        case TupleValue(items=items, token=token):
            own = [token] if isinstance(token, str) else []
            return own + [key for item in items if inside for key in tokens(item)]
        case ListValue(token=token):
            return [token] if isinstance(token, str) else []
        case DictValue() if not inside:
            return []
    parts: list[Value] = []

    def note(part: Value) -> Value:
        parts.append(part)
        return part

    with_parts(value, note)
    return [key for part in parts for key in tokens(part, inside=inside)]


def changes_of(frame: Frame, keys: list[str]) -> list[int]:
    """Return how often lists have changed so far, and how often their lengths have."""
    return [frame.program.lists.change_counts.get(name, 0) for key in keys for name in (key, key + " length")]


def require_unchanged(frame: Frame, iterable: Value, keys: list[str], before: list[int]) -> None:
    """Refuse a loop whose body changes the list that it goes over, where the next items would be others."""
    after = changes_of(frame, keys)
    if not keys or after == before:
        return
    content = frame.env.get(keys[0] + ITEMS)
    same_array = isinstance(iterable, ListValue) and isinstance(content, ListValue) and (
        content.array.container == iterable.array.container)  # fmt: skip
    if same_array and after[1::2] == before[1::2]:
        return
    raise FrontendError(
        "a loop changes the list that it iterates over",
        notes=("Python's loop would continue with the changed list",),
        help="loop over a copy, `for x in list(items)`, or over positions: `while k < len(items)`",
    )


def leaving(inner: Env, outer: Env, returned: Value) -> dict[str, Value]:
    """The fields that a function hands back: those that it was handed, and what can be reached from its result."""
    found = {name: value for name, value in inner.items() if is_field(name)}
    own = [name for name in found if name.endswith(ITEMS) and name not in outer]
    if not own:
        return found
    roots = [returned, *(value for name, value in found.items() if name not in own)]
    needed = reachable(inner, roots)
    return {name: value for name, value in found.items() if name in needed or name not in own}


def as_own(frame: Frame, name: str, value: Value) -> Value:
    """Return the value of a name after a join of paths: lists that were moved are lists of its own."""
    if not is_on(frame):
        return value
    if not name.endswith(ITEMS):
        return kept(frame, value)
    return with_parts(value, lambda part: kept(frame, part))


def items_now(frame: Frame, key: str, items: list[Value]) -> Iterator[Value]:
    """The items of a list that may change while a loop goes over it, as Python finds them."""
    position, now = 0, items
    while position < len(now):
        if position > MAX_ITEMS:
            raise FrontendError("a loop extends the list that it iterates over, without end")
        yield now[position]
        content = shown(frame, ListRef(key))
        if not isinstance(content, TupleValue):
            require_unchanged(frame, content, [key], [-1, -1])
        assert isinstance(content, TupleValue)
        now, position = list(content.items), position + 1

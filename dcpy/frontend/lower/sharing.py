"""Which names show the same memory, and who may therefore write it.

Where paths meet, versions of an array move into a container of the name's own. That must not be one that another name
still shows; and where another name showed a version that moved, one object of Python's has become two: neither is
written from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.lists import ListValue
from dcpy.frontend.lower.frame import Names, shown
from dcpy.frontend.values import ArrayValue, Maybe, RecordValue, Resized, TupleValue, Value, Versions

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Env = Mapping[str, Value]


def roots(frame: Frame, value: Value) -> tuple[str, ...]:
    """The containers whose memory a value shows."""
    match value:
        case ArrayValue(container=container):
            return (frame.b.root(container),)
        case TupleValue(items=items) | RecordValue(items=items):
            return tuple(root for item in items for root in roots(frame, item))
        case ListValue(array=inner):
            return roots(frame, inner)
        case Maybe(value=inner) | Resized(home=inner):
            return roots(frame, inner)
        case Versions(options=options):
            return tuple(root for _, option in options for root in roots(frame, option))
    return ()


def shown_by_others(frame: Frame, name: str, envs: Sequence[Env]) -> Names:
    """The containers that names other than `name` show."""
    values = [value for env in envs for other, value in env.items() if other != name]
    return frozenset(root for value in values for root in roots(frame, value))


def living(env: Env, names: Names) -> Env:
    """What those of the names of an environment stand for that somebody may read later; others show nothing.

    Names that are not the program's (fields of objects) live on.
    """
    return {name: value for name, value in env.items() if name in names or not name.isidentifier()}


def separate(frame: Frame, envs: Sequence[Env], after: Env, merge: object) -> None:
    """Detaches what names stand for after a loop where they were one array inside of it, and are two from now on."""
    for env in envs:
        found = {name: set(roots(frame, env[name])) for name in after if name in env}
        for name, others in ((name, [other for other in found if other < name]) for name in found):
            for other in others:
                now, then = (set(roots(frame, after[key])) for key in (name, other))
                if found[name] & found[other] and now and then and not now & then:
                    forbid(frame, name, sorted(now | then), merge)


def is_own(frame: Frame, name: str, value: ArrayValue, env: Env) -> bool:
    """Whether nobody but `name` can see the memory, where names stand for what `env` says."""
    if value.fresh:
        return True
    root = frame.b.root(value.container)
    desc = frame.emit.descs.get(root)  # None: made in a dry run, inside the body of a loop
    return (desc is None or desc.transient) and root not in shown_by_others(frame, name, [env])


def detach(frame: Frame, name: str, home: ArrayValue, value: ArrayValue, merge: object) -> None:
    """From now on, writes to what `name` stands for, and to the version that moved there, are refused."""
    forbid(frame, name, (home.container, frame.b.root(value.container)), merge)


def forbid(frame: Frame, name: str, containers: Sequence[str], merge: object) -> None:
    """Writes to these containers are refused, because of what `name` stands for where paths meet at `merge`."""
    reason = f"{shown(name)!r} shows another array on another path through the program"
    for container in containers:
        frame.b.detach(container, reason, merge)

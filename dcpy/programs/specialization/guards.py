"""Guards: names that must stay unchanged, and global arrays, on which a compiled program depends.

`specializer` hands both to the native dispatcher, which looks at them in each call. Arrays may be rebound:
each call passes the one that it finds. Everything else that the program has seen is part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from dcpy.base.library_modules import is_library
from dcpy.base.notebooks import shell

if TYPE_CHECKING:
    from dcpy.frontend.introspection.closure import NameRead
    from dcpy.frontend.introspection.fingerprint import Fingerprint
    from dcpy.frontend.lower.frame import ExtraArgument
    from dcpy.frontend.lower.lowering_result import Lowered

#: Where the dispatcher finds a value: ("dict", namespace, name), ("cell", cell), ("attribute", object, name).
Source = tuple[object, ...]
Guards = tuple[tuple[Source, object], ...]  # sources, and the values they must have


def guards_of(lowered: Lowered) -> Guards:
    """The names whose values are part of the program."""
    guards = tuple(_guards(lowered.dependences, lowered.extra_arguments))
    return guards + _of_code(dependence.value for dependence in lowered.dependences)


def guards_on(known: Fingerprint) -> Guards:
    """The same, of a program that was found by its fingerprint."""
    guards = tuple((read.source, snapshot(read.value)) for read in known.reads)
    return guards + _of_code(read.value for read in known.reads)


def _of_code(values: Iterable[object]) -> Guards:
    """The guards of code, in IPython of the user's functions too: ``%autoreload`` gives functions other code."""
    if shell() is None:
        return ()
    functions = {id(value): value for value in values if isinstance(value, FunctionType)}
    return tuple(
        (("attribute", function, "__code__"), function.__code__)
        for function in functions.values()
        if not is_library(function.__module__ or "")
    )


def _guards(dependences: Sequence[NameRead], arrays: Sequence[ExtraArgument]) -> Iterator[tuple[Source, object]]:
    names = Counter(id(dependence.value) for dependence in dependences)
    passed = [extra.dependence for extra in arrays if names[id(extra.array)] == 1]
    for dependence in dependences:
        source = _source(dependence)
        if source is not None and dependence not in passed:
            yield source, snapshot(dependence.value)


def _source(dependence: NameRead) -> Source | None:
    """Return the source from which the dispatcher reads a name; None where its value does not change."""
    owner, name = dependence.owner, dependence.name
    match dependence.kind:
        case "cell":
            return "cell", owner
        case "global" if name in owner:
            return "dict", owner, name
        case "attribute":
            return None if _is_steady(owner) and name != "_bit_generator" else _attribute(owner, name)
    return None


def _is_steady(owner: Any) -> bool:
    """Return whether attributes stay as they are: those of libraries, and of numbers, dtypes and the like."""
    match owner:
        case ModuleType():
            return is_library(owner.__name__)
        case type():
            return is_library(owner.__module__)
    return isinstance(owner, str | int | float | complex | tuple) or type(owner).__module__.startswith("numpy")


def _attribute(owner: Any, name: str) -> Source:
    """A namespace that can be looked into without running anything, where the name is in there."""
    namespace = getattr(owner, "__dict__", None)
    is_plain = type(namespace) is dict and name in namespace
    return ("dict", namespace, name) if is_plain else ("attribute", owner, name)


def snapshot(value: Any) -> Any:
    """A value as it is now: lists and dicts are compared by what is in them."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return type(value)(map(snapshot, value))
    return {key: snapshot(item) for key, item in value.items()} if type(value) is dict else value


def source_of_array(extra: ExtraArgument) -> Source:
    """Return the source of a global array for each call. One without a name, as in a tuple, is always the same."""
    known = None if extra.dependence is None else _source(extra.dependence)
    return known or ("dict", {extra.name: extra.array}, extra.name)


def alias_groups_with(bound: Mapping[str, Any], arrays: Sequence[ExtraArgument]) -> dict[str, str]:
    """Alias groups of arguments and global arrays by name, where global arrays share memory with anything."""
    from dcpy.frontend.specialize.types_from_call import alias_groups

    groups = alias_groups({**bound, **{extra.name: extra.array for extra in arrays}})
    return groups if any(extra.name in groups for extra in arrays) else {}

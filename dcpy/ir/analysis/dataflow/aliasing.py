"""Aliasing: which memory a name refers to.

A view shows the memory of its base; arguments of one group may share theirs; all other containers have memory of their
own. `desc_of` finds the descriptor of a name: that of an index of uses, of a place, of a scope of the verifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dcpy.ir.data import Array, Data, View
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset

DescOf = Callable[[str], Data | None]


def shown_by(name: str, desc_of: DescOf) -> Iterator[str]:
    """Yield the container that a view shows, what that shows, and so on; a circle, which is an error, ends."""
    passed = [name]
    while isinstance(desc := desc_of(name), View) and desc.of not in passed:
        name = desc.of
        passed.append(name)
        yield name


def base_of(name: str, desc_of: DescOf) -> str:
    """The container whose elements a name shows: itself, unless it is a view."""
    while isinstance(desc := desc_of(name), View):
        name = desc.of
    return name


def memory_of(name: str, desc_of: DescOf) -> str:
    """A text that is equal for names that may show the same memory, and for no others."""
    base = base_of(name, desc_of)
    desc = desc_of(base)
    return f"alias {desc.alias}" if isinstance(desc, Array) and desc.alias else base


def in_base(memlet: Memlet, desc_of: DescOf) -> tuple[str, Subset | None]:
    """The container whose elements (or queues) a memlet names, and which; None where they have no box there."""
    container = memlet.container
    part: Subset | None = memlet.subset
    while isinstance(desc := desc_of(container), View):
        part = None if part is None else desc.base_subset(part)
        container = desc.of
    return container, part

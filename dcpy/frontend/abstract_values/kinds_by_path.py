"""Kinds of a number by path: types of Python's own, and of NumPy's scalars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dcpy.ir.expressions.scalar import ScalarExpr


class Kinds(tuple[type, ...]):
    """The kinds that a number has on other paths. Equal to a tuple of them, also if the paths are known differently.

    `merges`: the places where those paths meet. `tells`: where the kind is seen, the paths are worth being kept apart
    there, as those around a loop that may run not at all. `entering`: the number may still be what a loop has begun
    with, in the kind that the loop gives it: where no inner loop `runs`, it is what it was `since` the outer one began.
    """

    merges: tuple[object, ...]
    tells: bool
    entering: bool
    runs: ScalarExpr | None
    since: Kinds | None
    of_items: bool  # it is an item of a list that holds several kinds, or made of such: no path tells which it is

    def __new__(
        cls, kinds: Iterable[type] = (), merges: Iterable[object] = (), *, tells: bool = False, entering: bool = False,
        runs: ScalarExpr | None = None, since: Kinds | None = None, of_items: bool = False,
    ) -> Kinds:  # fmt: skip
        """The kinds, each once."""
        found = super().__new__(cls, dict.fromkeys(kinds))
        found.merges = tuple(dict.fromkeys(merge for merge in merges if merge is not None))
        found.tells, found.entering, found.runs, found.since = tells, entering, runs, since
        found.of_items = of_items
        return found


NONE = Kinds()


def all_of(groups: Sequence[Kinds], merge: object = None, *, tells: bool = True) -> Kinds:
    """The kinds in several groups, of paths that meet at `merge`."""
    return Kinds(
        (kind for group in groups for kind in group), [merge, *(place for group in groups for place in group.merges)],
        tells=tells and all(group.tells for group in groups if group), entering=any(group.entering for group in groups),
        of_items=any(group.of_items for group in groups),
    )  # fmt: skip


def of_items(kinds: Kinds) -> Kinds:
    """The kinds of the items of a list."""
    return Kinds(kinds, kinds.merges, tells=kinds.tells, of_items=True) if kinds else kinds


def is_numpy(kind: type) -> bool:
    """Return whether it is a type of NumPy's."""
    return issubclass(kind, np.generic)


def name_of(kind: type) -> str:
    """A kind, as messages call it."""
    return f"np.{kind.__name__}" if is_numpy(kind) else kind.__name__

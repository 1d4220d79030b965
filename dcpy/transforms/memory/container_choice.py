"""Container choice: the container that was named, or the first that a transformation can be applied to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from dcpy.ir.refusal import Refusal

Plan = TypeVar("Plan")


def first_that_allows(
    named: str, names: Iterable[str], plan_of: Callable[[str], Plan | Refusal], what: str
) -> Plan | Refusal:
    """The plan for the container `named`, or without a name for the first that has one; else why the last has none.

    `what` is done with a container, in words: ``"read"``, for where there is none at all.
    """
    refusal = Refusal(f"it does not {what} {named!r}" if named else f"it {what}s no array")
    for name in dict.fromkeys(names):
        if named in ("", name):
            found = plan_of(name)
            if not isinstance(found, Refusal):
                return found
            refusal = found
    return refusal

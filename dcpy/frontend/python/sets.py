"""Sets of what is known when the program is compiled; others are refused, and arrays of booleans take their place."""

from __future__ import annotations

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, TupleValue, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences

EMPTY = TupleValue(())


def different_values() -> FrontendError:
    """The error where a set would have items that are known at run time only."""
    return FrontendError(
        "what is in this set is known at run time only",
        notes=("a set is a constant of a program: how many different items there are is part of its type",),
        help="np.unique(x) has the different values, sorted, and len(np.unique(x)) says how many there are",
    )


@implements(set, frozenset)
def set_(b: OpBuilder, iterable: Value = EMPTY) -> Value:
    """A set of items that are known when the program is compiled."""
    if iterable == EMPTY:
        raise b.error(
            "a set that is empty at first would grow",
            notes=("the items of a set must be known when the program is compiled",),
            help="mark what has been seen in an array of booleans: `seen = np.zeros(n, bool)`, `seen[k] = True`",
        )
    items = sequences.items(b, iterable) if sequences.is_known(iterable) else None
    if items is None or not all(isinstance(item, Static) for item in items):
        raise different_values()
    return Static(frozenset(b.static(item, "an item of a set") for item in items))

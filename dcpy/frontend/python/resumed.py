"""What steps of generators ask of the loops that they go on with."""

from __future__ import annotations

from dcpy.frontend.implements import operation
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.values import DictValue, IteratorValue, RangeValue, Static, Value, integer, kind_of


@operation
def count_items(b: Builder, items: Value) -> Value:
    """How many items there are, of something that has positions: the step that goes on knows one of them."""
    keyed = isinstance(items, Static) and isinstance(items.value, dict | set | frozenset)
    if keyed or isinstance(items, IteratorValue | DictValue | RangeValue) or not sequences.has_length(items):
        raise b.error(
            f"a generator yields inside of a loop over {kind_of(items)}",
            notes=("the loop goes on when the next item is asked for, and has to know its position",),
            help="loop over a range or an array (`np.array(list(...))`), or yield behind the loop",
        )
    return integer(sequences.length(b, items))

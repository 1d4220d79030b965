"""Resumed loops: the functions that steps of generators call to go on with a loop."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import DictValue, IteratorValue, RangeValue, Static, Value, integer, kind_of
from dcpy.frontend.implements import operation
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences


@operation
def count_items(b: OpBuilder, items: Value) -> Value:
    """Return the number of items of a sequence with positions: the next step knows one of them."""
    keyed = isinstance(items, Static) and isinstance(items.value, dict | set | frozenset)
    if keyed or isinstance(items, IteratorValue | DictValue | RangeValue) or not sequences.has_length(items):
        raise b.error(
            f"a generator yields inside of a loop over {kind_of(items)}",
            notes=("the loop resumes at the next item, so its position must be stored",),
            help="loop over a range or an array (`np.array(list(...))`), or yield behind the loop",
        )
    return integer(sequences.length(b, items))

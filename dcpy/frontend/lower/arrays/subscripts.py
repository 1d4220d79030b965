"""``value[keys]``: a view or an element where the keys are slices and integers, a copy where there are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.arrays import gather
from dcpy.frontend.lower.arrays.indexing import basic, expand_keys
from dcpy.frontend.values import ArrayValue, Scalar, Value, kind_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def subscript(b: TypedEmitter, value: Value, keys: Sequence[Value]) -> Value:
    """``value[keys]`` as a value."""
    if not isinstance(value, ArrayValue):
        raise FrontendError(f"{kind_of(value)} cannot be indexed")
    if not keys and not value.shape:
        return Scalar(value.load(()))  # a[()], not a[...]
    expanded = expand_keys(b, value, keys)
    if expanded.advanced:
        return gather.read(b, value, expanded)
    found = basic(b, value, expanded.items, view=expanded.dots)
    return b.copy(found) if expanded.copied and isinstance(found, ArrayValue) else found

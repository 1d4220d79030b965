"""``value[keys]``: a view or an element where the keys are slices and integers, a copy where there are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value, kind_of
from dcpy.frontend.lower.arrays import advanced_indexing
from dcpy.frontend.lower.arrays.basic_indexing import basic
from dcpy.frontend.lower.arrays.subscript_keys import IndexingMode, written_out

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def subscript(b: TypedEmitter, value: Value, keys: Sequence[Value]) -> Value:
    """``value[keys]`` as a value."""
    if not isinstance(value, ArrayValue):
        raise FrontendError(f"{kind_of(value)} cannot be indexed")
    written = written_out(b, value, keys)
    if written.mode is IndexingMode.CHOICE:
        return advanced_indexing.read(b, value, written)
    found = basic(b, value, written.items)
    if written.mode is IndexingMode.ELEMENT:
        return Scalar(found.load(()))
    return b.copy(found) if written.mode is IndexingMode.COPY else found

"""``value[keys]``: a view or an element where the keys are slices and integers, a copy where there are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.arrays import gather
from dcpy.frontend.lower.arrays.indexing import basic
from dcpy.frontend.lower.arrays.keys import Names, written_out
from dcpy.frontend.values import ArrayValue, Scalar, Value, kind_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def subscript(b: TypedEmitter, value: Value, keys: Sequence[Value]) -> Value:
    """``value[keys]`` as a value."""
    if not isinstance(value, ArrayValue):
        raise FrontendError(f"{kind_of(value)} cannot be indexed")
    written = written_out(b, value, keys)
    if written.names is Names.CHOICE:
        return gather.read(b, value, written)
    found = basic(b, value, written.items)
    if written.names is Names.ELEMENT:
        return Scalar(found.load(()))
    return b.copy(found) if written.names is Names.COPY else found

"""Sizes in the types of arguments: their values in a call, and other symbols for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.specialize.types import ArgType, ArrayType, ScalarType
from dcpy.ir import types
from dcpy.ir.symbolic import Expr


def sample_of(kinds: Mapping[str, ArgType], examples: Mapping[str, Any]) -> dict[str, int]:
    """The values of sizes and integer arguments in a call."""
    found: dict[str, int] = {}
    integers = integers_of(kinds)
    for path, kind in kinds.items():
        value: Any = examples.get(path)
        if isinstance(kind, ArrayType) and isinstance(value, np.ndarray) and value.ndim == len(kind.dims):
            for dim, size in zip(kind.dims, value.shape, strict=True):
                name = next(iter(dim.symbols), "")
                form = dim.linear_in(name) if len(dim.symbols) == 1 else None
                if form is not None and form[0].constant == 1 and form[1].constant is not None:
                    found[name] = size - form[1].constant
        elif path in integers:
            found[path] = int(value)
    return found


def integers_of(kinds: Mapping[str, ArgType]) -> set[str]:
    """The arguments that are symbols."""
    return {path for path, kind in kinds.items()
            if isinstance(kind, ScalarType) and kind.dtype == types.int64 and path.isidentifier()}  # fmt: skip


def sizes_of(kinds: Mapping[str, ArgType]) -> set[str]:
    """The symbols that sizes of arguments mention."""
    arrays = (kind for kind in kinds.values() if isinstance(kind, ArrayType))
    return {name for kind in arrays for dim in kind.dims for name in dim.symbols}


def with_sizes(kind: ArgType, values: Mapping[str, Expr]) -> ArgType:
    """A type with other expressions for some sizes."""
    if not isinstance(kind, ArrayType):
        return kind
    dims = tuple(dim.subs(values) for dim in kind.dims)
    named = (new for name in kind.not_one for new in (values[name].symbols if name in values else (name,)))
    return replace(kind, dims=dims, not_one=tuple(dict.fromkeys(named)))

"""Argument sizes: their values in a call, and other symbols for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, ScalarType
from dcpy.frontend.specialize.record_arguments import container_stem
from dcpy.ir import types
from dcpy.ir.symbolic import ONE, Expr, sym


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


def told_by_arguments(
    symbol: str, kinds: Mapping[str, ArgType], bound: Mapping[str, Any]
) -> Iterator[tuple[int, str, str]]:
    """The values of a symbol in the shapes of arguments, each with its origin: in words, and by name."""
    if isinstance(bound.get(symbol), int | np.integer):
        yield int(bound[symbol]), f"argument {symbol!r} is {bound[symbol]}", symbol
    for path, kind in kinds.items():
        value: Any = bound.get(path)
        if isinstance(kind, ArrayType) and isinstance(value, np.ndarray) and value.ndim == len(kind.dims):
            for axis, (dim, size) in enumerate(zip(kind.dims, value.shape, strict=True)):
                form = dim.linear_in(symbol) if dim.symbols == (symbol,) else None
                if form is not None and form[0] is ONE and form[1].constant is not None:
                    number = size - form[1].constant
                    said = "" if dim.name else f", which is {dim} with {symbol} = {number}"
                    yield number, f"argument {path!r} has the size {size} along axis {axis}{said}", path


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
    asked = tuple(None if dim is None else dim.subs(values) for dim in kind.annotated_sizes)
    named = (new for name in kind.not_one for new in (values[name].symbols if name in values else (name,)))
    return replace(kind, dims=dims, not_one=tuple(dict.fromkeys(named)), annotated_sizes=asked)


def with_own_sizes(path: str, kind: ArgType) -> ArgType:
    """The type of an annotated argument in which each size is a number, or a symbol plus a number.

    Others get symbols of their own; what they have to be is settled where the function begins.
    """
    if not isinstance(kind, ArrayType) or all(map(_is_plain, kind.dims)):
        return kind
    stem = container_stem(path)
    own = tuple(dim if _is_plain(dim) else sym(f"{stem}_size_{axis}") for axis, dim in enumerate(kind.dims))
    return replace(kind, dims=own, annotated_sizes=tuple(None if _is_plain(dim) else dim for dim in kind.dims))


def _is_plain(dim: Expr) -> bool:
    if dim.constant is not None:
        return True
    name = dim.symbols[0]
    form = dim.linear_in(name) if len(dim.symbols) == 1 else None
    return form is not None and form[0] is ONE and form[1].constant is not None

"""Prints descriptors: ``f64[N, M] strides (1, N) transient @global @heap``. What follows from the rest is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, assert_never

import numpy as np

from dcpy.base.errors import InvalidSdfg
from dcpy.ir import types
from dcpy.ir.data import (
    Allocation,
    Array,
    Data,
    Lifetime,
    Scalar,
    Space,
    Stream,
    View,
    packed_strides,
)
from dcpy.ir.distribution import Section
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.text.expr_printer import print_literal
from dcpy.ir.text.lexer import quote

#: The word before the name of a container, where it is declared in a region.
KEYWORDS: dict[type, str] = {
    Scalar: "data",
    Array: "data",
    View: "view",
    Stream: "stream",
}
Lookup = Callable[[str], Data]


def print_declaration(name: str, desc: Data, lookup: Lookup) -> str:
    """A line of a region. `lookup` finds the containers of views."""
    return f"{KEYWORDS[type(desc)]} {name}: {print_descriptor(desc, lookup)}"


def print_argument(name: str, desc: Data, lookup: Lookup) -> str:
    """An entry of the list of arguments."""
    keyword = KEYWORDS[type(desc)]
    return f"{name}: {'' if keyword == 'data' else keyword + ' '}{print_descriptor(desc, lookup)}"


def print_descriptor(desc: Data, lookup: Lookup) -> str:
    """A descriptor without its keyword and name."""
    match desc:
        case Scalar():
            return _words(str(desc.dtype), *_flags(desc))
        case Array():
            return _words(_typed(desc), _strides(desc.strides, packed_strides(desc.shape)), *_flags(desc))
        case View():
            return _view(desc, lookup)
        case Stream():
            base = f"{desc.dtype}{_list(desc.shape)}" if desc.shape else str(desc.dtype)
            capacity = "" if desc.capacity is ZERO else f"capacity {desc.capacity}"
            token = f"token ({', '.join(map(str, desc.token))})" if desc.token else ""
            return _words(base, token, capacity, "transient" if desc.transient else "")
        case _:
            assert_never(desc)


def print_constant(name: str, value: np.ndarray[Any, Any]) -> str:
    """``constant w: f64[2] = {0.5, 0.25}``, elements in C order."""
    dtype = types.from_numpy(value.dtype)
    shape = f"[{', '.join(map(str, value.shape))}]" if value.ndim else ""
    elements = [print_literal(element, dtype) for element in value.ravel().tolist()]
    if dtype.kind == "c":
        elements = [f"({element})" for element in elements]
    return f"constant {name}: {dtype}{shape} = {{{', '.join(elements)}}}"


def print_value(value: object) -> str:
    """A plain value: a property of a library node, a constant result."""
    match value:
        case None:
            return "none"
        case bool() | np.bool_():
            return "true" if value else "false"
        case str():
            return json.dumps(value)
        case types.DType():
            return str(value)
        case Section() | Expr():
            return str(value)
        case tuple() | list():
            items = ", ".join(map(print_value, value))
            return f"({items},)" if len(value) == 1 else f"({items})"
        case int() | np.integer():
            return str(int(value))
        case float() | np.floating():
            return repr(float(value))
        case complex() | np.complexfloating():
            return f"complex({value.real!r}, {value.imag!r})" if type(value) is complex else print_value(complex(value))
    raise InvalidSdfg(f"a value of type {type(value).__name__} has no text: {value!r}")


def derived_view(desc: View, base: Data) -> View:
    """The view that follows from what is always printed of `desc`: base, dtype, shape, window and axes."""
    if desc.window is None:
        return View.reshape(desc.of, base, desc.shape)
    sizes = {position: desc.shape[position] for position, axis in enumerate(desc.axes) if axis < 0}
    return View.slice(desc.of, base, desc.window, axes=desc.axes, sizes=sizes)


def _view(desc: View, lookup: Lookup) -> str:
    window = "" if desc.window is None else f"[{desc.window}]"
    axes = ""
    if desc.window is not None and desc.axes != View.slice(desc.of, lookup(desc.of), desc.window).axes:
        axes = f"axes ({', '.join(map(str, desc.axes))})"
    derived = derived_view(desc, lookup(desc.of))
    strides = _strides(desc.strides, derived.strides)
    offset = "" if desc.offset is derived.offset else f"offset {desc.offset}"
    return _words(_typed(desc), f"of {desc.of}{window}", axes, strides, offset)


def _typed(desc: Array | View) -> str:
    return f"{desc.dtype}{_list(desc.shape)}"


def _list(values: Iterable[Expr]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _strides(strides: tuple[Expr, ...], default: tuple[Expr, ...]) -> str:
    return "" if strides == default else f"strides ({', '.join(map(str, strides))})"


def _flags(desc: Scalar | Array) -> list[str]:
    flags = ["transient" if desc.transient else ""]
    flags.append("" if desc.space is Space.HOST else f"@{desc.space.value}")
    flags.append("" if desc.allocation is Allocation.UNDECIDED else f"@{desc.allocation.value}")
    if isinstance(desc, Array):
        flags.append("" if desc.lifetime is Lifetime.SCOPE else f"lifetime {desc.lifetime.value}")
        flags.append(f"alias {quote(desc.alias)}" if desc.alias else "")
        flags.append("" if desc.bank is None else f"bank {desc.bank}")
        flags += [f"partition {part}" for part in desc.partition]
        flags.append("" if desc.distribution is None else f"on {desc.distribution}")
    return flags


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)

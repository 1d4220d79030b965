"""Member lookup: methods and fields of lists, tuples and dictionaries, and refusals of unknown ones."""

from __future__ import annotations

import difflib

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    DictValue,
    Method,
    RangeValue,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    integer,
    kind_of,
)
from dcpy.frontend.implements import method_names
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import list_references
from dcpy.frontend.numpy.unsupported_functions import refusal

_REMOVED = ("int", "float", "complex", "object", "str")  # of NumPy 1
#: attributes of lists, of JAX's and PyTorch's arrays and of pandas' tables, and what does the same with an array
_OF_OTHERS = {
    "at": "arrays change in place: write `x[i] = v`, or `x[i] += v`",
    "append": "write `np.append(x, v)`; or collect values in a list, and make an array of it at the end",
    "extend": "write `np.concatenate((x, y))`; or collect values in a list, and make an array of it at the end",
    "insert": "write `np.insert(x, i, v)`",
    "remove": "write `x[x != v]`",
    "pop": "write `x[-1]` and `x[:-1]`",
    "iloc": "arrays are indexed by number: `x[i]`",
    "loc": "arrays are indexed by number, or by a mask: `x[labels == label]`",
    "values": "arrays are their own values: leave `.values` out",
    "numpy": "it is NumPy's array already: leave `.numpy()` out",
    "detach": "arrays keep no gradients: leave `.detach()` out",
    "cpu": "programs move arrays to their device: leave `.cpu()` out, and choose it by device=",
    "cuda": "programs move arrays to their device: leave `.cuda()` out, and write device=dcpy.DeviceType.GPU",
    "abs": "write `np.abs(x)`",
    "sqrt": "write `np.sqrt(x)`",
    "exp": "write `np.exp(x)`",
    "log": "write `np.log(x)`",
    "median": "write `np.median(x)`",
    "diff": "write `np.diff(x)`",
}


def unknown_attribute(owner: Value, name: str) -> FrontendError:
    """The error where an array or number has no such attribute, or one that is not compiled."""
    refused = refusal(getattr(np.ndarray, name, None))
    if refused is not None:
        called = "()" if callable(getattr(np.ndarray, name)) else ""
        return FrontendError(f".{name}{called} is not supported", notes=(refused.reason,), help=refused.help)
    near = [] if name in _OF_OTHERS else difflib.get_close_matches(name, method_names(), n=1)
    instead = _OF_OTHERS.get(name, "compute it outside of the program and pass the result")
    return FrontendError(
        f"{kind_of(owner)} has no attribute {name!r} that dcpy compiles",
        notes=() if hasattr(np.ndarray, name) else ("Python raises AttributeError here",),
        help=f"did you mean .{near[0]}?" if near else instead,
    )


def field_or_method(owner: Value, name: str) -> Value:
    """A field of NumPy's named results (``np.linalg.eigh(a).eigenvalues``), else a method."""
    if isinstance(owner, TupleValue) and name in owner.names:
        return owner.items[owner.names.index(name)]
    kinds = {DictValue: dict, TextValue: str}
    kind = kinds.get(type(owner), list if list_references.is_list(owner) else tuple)
    if isinstance(owner, TupleValue | ListValue | DictValue | TextValue) and not hasattr(kind, name):
        has = f"arrays have .{name}: pass np.array(...)" if hasattr(np.ndarray, name) else ""
        message = f"{kind.__name__!r} object has no attribute {name!r}"
        raise WillRaise("AttributeError", message, by="Python", help=has)
    return Method(owner, name)


def bound_of(owner: Value, name: str) -> Value:
    """``.start``, ``.stop`` or ``.step`` of a slice or range; `FrontendError` for all other attributes."""
    if not isinstance(owner, SliceValue | RangeValue) or name not in ("start", "stop", "step"):
        raise FrontendError(f"{kind_of(owner)} has no attribute {name!r}")
    bound = getattr(owner, name)
    return bound if isinstance(owner, SliceValue) else integer(bound)


def instead_of_member(owner: object, name: str) -> str:
    """Return what to write instead of an attribute that an object does not have."""
    if owner is np and name in _REMOVED:
        return f"np.{name} was another name of Python's {name}: write {name}"
    near = difflib.get_close_matches(name, dir(owner), n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    made = "sorted(...)" if isinstance(owner, set | frozenset) else "..."  # NumPy makes an object of a set
    return f"arrays have .{name}: pass np.array({made})" if hasattr(np.ndarray, name) else ""


def called(owner: Static) -> str:
    """Return the name of an object in messages."""
    name = getattr(owner.value, "__name__", "")
    return f"{type(owner.value).__name__} {name!r}" if name else kind_of(owner)

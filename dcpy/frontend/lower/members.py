"""Members of lists, tuples and dictionaries by name, and refusals of what a value does not have."""

from __future__ import annotations

import difflib

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import method_names
from dcpy.frontend.lists import ListValue
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.lower.sequences import references
from dcpy.frontend.numpy.refused import refusal
from dcpy.frontend.values import DictValue, Method, Static, TupleValue, Value, kind_of


def unknown_attribute(owner: Value, name: str) -> FrontendError:
    """The error where an array or number has no such attribute, or one that is not compiled."""
    refused = refusal(getattr(np.ndarray, name, None))
    if refused is not None:
        return FrontendError(f".{name}() is not supported", notes=(refused.reason,), help=refused.help)
    near = difflib.get_close_matches(name, method_names(), n=1)
    return FrontendError(
        f"{kind_of(owner)} has no attribute {name!r} that dcpy compiles",
        notes=() if hasattr(np.ndarray, name) else ("Python raises AttributeError here",),
        help=f"did you mean .{near[0]}?" if near else "compute it outside of the program and pass the result",
    )


def field_or_method(owner: Value, name: str) -> Value:
    """A field of NumPy's named results (``np.linalg.eigh(a).eigenvalues``), else a method."""
    if isinstance(owner, TupleValue) and name in owner.names:
        return owner.items[owner.names.index(name)]
    kind = dict if isinstance(owner, DictValue) else list if references.is_list(owner) else tuple
    if isinstance(owner, TupleValue | ListValue | DictValue) and not hasattr(kind, name):
        has = f"arrays have .{name}: make it one, np.array(...)" if hasattr(np.ndarray, name) else ""
        message = f"{kind.__name__!r} object has no attribute {name!r}"
        raise WillRaise("AttributeError", message, by="Python", help=has)
    return Method(owner, name)


def called(owner: Static) -> str:
    """What an object is called in messages."""
    name = getattr(owner.value, "__name__", "")
    return f"{type(owner.value).__name__} {name!r}" if name else kind_of(owner)

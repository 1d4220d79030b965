"""Calls of Python functions by programs: what a call looks like, as data, and how it is made.

The IR's `Callback` node, compiled code and the interpreter share this: a `CallbackSite` names the function and spells
its arguments and results as Python would, over names of operands. Functions are looked up by name in a table that the
program's owner provides; nothing here imports, evaluates or finds them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dcpy.base.errors import CallbackError, DcpyError
from dcpy.base.source import SrcSpan
from dcpy.base.string_formatting import ArgumentMaker, formatted

PYTHON = "item"  #: ``item(n)`` in a call or in its results: a number of Python's own, not one of NumPy's


@dataclass(frozen=True, slots=True)
class CallbackOperand:
    """One array or scalar that a callback is passed, or that takes a result of it.

    `dtype` is NumPy's name. A `result` is stored into, and not passed. The function may write into what is `writable`.
    """

    name: str
    dtype: str
    rank: int
    scalar: bool = False
    result: bool = False
    writable: bool = False


@dataclass(frozen=True, slots=True)
class CallbackSite:
    """A call: ``call`` has the arguments (``x, item(n), 'name', key=y``), ``returns`` the results (``(r, item(s))``).

    Names are operands, or objects of the table; ``point(x, y)`` is a named tuple of a class in the table. Without
    `returns` the result is dropped.
    """

    function: str
    call: str
    returns: str
    operands: tuple[CallbackOperand, ...]
    span: SrcSpan | None = None


def perform(site: CallbackSite, table: Mapping[str, Any], operands: Mapping[str, Any]) -> None:
    """Call the function and store its results into their operands; exceptions pass through.

    `CallbackError` where a result does not have the declared type: nothing is converted, because NumPy would go on
    with what was returned.
    """
    call = _parsed_call(site.call)
    values = {o.name: operands[o.name] if not o.scalar or o.result else operands[o.name][()] for o in site.operands}
    names = {**table, **values}
    args = [_value(arg, names) for arg in call.args]
    keywords = {str(keyword.arg): _value(keyword.value, names) for keyword in call.keywords}
    result = table[site.function](*args, **keywords)
    if site.returns:
        passed = [operands[o.name] for o in site.operands if not o.result and not o.scalar]
        _CallResults(site, operands, passed).store(_parsed(site.returns), result)


def names_of(text: str) -> tuple[str, ...]:
    """Return the distinct names in a callback's arguments or results; `CallbackError` if the text cannot be parsed."""
    call = _parsed_call(text)
    found = (node.id for node in ast.walk(call) if isinstance(node, ast.Name) and node is not call.func)
    return tuple(dict.fromkeys(name for name in found if name != PYTHON))


def require_bound(sites: tuple[CallbackSite, ...], table: Mapping[str, Any]) -> None:
    """`DcpyError` where the table lacks what a site needs: the function, or an object that is passed."""
    for site in sites:
        operands = {operand.name for operand in site.operands}
        needed = (site.function, *(name for name in names_of(site.call) if name not in operands))
        missing = [name for name in needed if name not in table]
        if missing:
            raise DcpyError(
                f"this program calls the Python function {missing[0]!r}, which is not bound to one",
                span=site.span,
                notes=("an SDFG file contains the names of callbacks, never their code",),
                help=f"pass it: dcpy.load(path, callbacks={{{missing[0]!r}: function}})",
            )


def is_literal(value: Any) -> bool:
    """Return whether the text of a Python object describes it fully, and can stand in a call."""
    if type(value) in (tuple, list):
        return all(map(is_literal, value))
    if type(value) is float and (value != value or value in (float("inf"), float("-inf"))):
        return False
    return value is None or type(value) in (bool, int, float, str, bytes)


@lru_cache(maxsize=256)
def _parsed_call(text: str) -> ast.Call:
    """The tree of ``f(text)``; `CallbackError` where it is no call."""
    tree = _parsed(f"f({text})")
    if not isinstance(tree, ast.Call):
        raise CallbackError(f"{text!r} are no arguments of a call")
    return tree


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise CallbackError(f"{text!r} cannot be read as part of a callback") from None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:  # noqa: C901  (one case per kind)
    """Return the value of an argument: a literal, a name, or a tuple, list or dictionary of them."""
    match node:
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=operand)]) if name == PYTHON and operand in names:
            return names[operand].item()
        case ast.Call(func=ast.Name(id=name), args=parts) if _is_tuple_class(names.get(name)):
            return tuple.__new__(names[name], [_value(part, names) for part in parts])
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=operand)]) if isinstance(
            names.get(name), ArgumentMaker
        ):
            return names[name](names[operand])
        case ast.Tuple(elts=parts):
            return tuple(_value(part, names) for part in parts)
        case ast.List(elts=parts):
            return [_value(part, names) for part in parts]
        case ast.Dict(keys=keys, values=values):
            return {ast.literal_eval(k): _value(v, names) for k, v in zip(keys, values, strict=True) if k is not None}
        case ast.Constant() | ast.UnaryOp():
            return ast.literal_eval(node)
        case ast.JoinedStr(values=parts):
            return "".join(_value(part, names) for part in parts)
        case ast.FormattedValue(value=part, conversion=conversion, format_spec=spec):
            return formatted(_value(part, names), conversion, "" if spec is None else _value(spec, names))
    raise CallbackError(f"{ast.unparse(node)!r} is no argument of a callback")


def _is_tuple_class(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, tuple)


class _CallResults:
    """Destinations of the results of one call, and the errors found in them."""

    def __init__(self, site: CallbackSite, operands: Mapping[str, Any], passed: list[Any]) -> None:
        self.site, self.operands, self.passed = site, operands, passed

    def store(self, declared: ast.expr, value: Any) -> None:
        """Check a value against what is declared, then write it where it belongs."""
        match declared:
            case ast.Tuple(elts=parts):
                if type(value) is not tuple or len(value) != len(parts):
                    raise self._differs(value, declared)
                for part, item in zip(parts, value, strict=True):
                    self.store(part, item)
            case ast.Name(id=name) if name in self.operands:
                self._store(name, value, declared)
            case ast.Call(args=[ast.Name(id=name)]) if name in self.operands:
                target = self.operands[name]
                if type(value) is not type(target.item()):
                    raise self._differs(value, declared)
                self._fill(target, value, declared)
            case ast.Constant(value=None):
                if value is not None:
                    raise self._differs(value, declared)

    def _store(self, name: str, value: Any, declared: ast.expr) -> None:
        target = self.operands[name]
        scalar = any(operand.scalar for operand in self.site.operands if operand.name == name)
        fits = isinstance(value, np.generic) if scalar else type(value) is np.ndarray
        if not fits or value.dtype != target.dtype or value.shape != target.shape:
            raise self._differs(value, declared)
        if not scalar and any(np.may_share_memory(value, other) for other in self.passed):
            raise CallbackError(
                f"the callback {self._function} returned memory of its arguments",
                span=self.site.span,
                notes=("a program takes results of callbacks by value",),
                help="return a copy: `return x.copy()`",
            )
        self._fill(target, value, declared)

    def _fill(self, target: Any, value: Any, declared: ast.expr) -> None:
        try:
            target[...] = value
        except OverflowError:  # an int beyond 64 bits
            raise self._differs(value, declared) from None

    @property
    def _function(self) -> str:
        return self.site.function.rpartition(":")[2]

    def _differs(self, value: Any, declared: ast.expr) -> CallbackError:
        wanted = self._described(declared)
        return CallbackError(
            f"the callback {self._function} returned {described(value)}, but {wanted} is declared",
            span=self.site.span,
            notes=("results of callbacks are not converted, as NumPy converts none",),
            help="declare the type of its result: @dcpy.callback(returns=...), or return the declared type",
        )

    def _described(self, declared: ast.expr) -> str:
        match declared:
            case ast.Tuple(elts=parts):
                return f"({', '.join(map(self._described, parts))}{',' * (len(parts) == 1)})"
            case ast.Name(id=name):
                target = self.operands[name]
                return f"{target.dtype}{list(target.shape)}" if target.ndim else f"numpy.{target.dtype}"
            case ast.Call(args=[ast.Name(id=name)]):
                return type(self.operands[name].item()).__name__
        return "None"


def described(value: Any) -> str:
    """A returned value in words."""
    match value:
        case None:
            return "None"
        case tuple():
            return f"({', '.join(map(described, value))}{',' * (len(value) == 1)})"
        case np.ndarray() if type(value) is np.ndarray:
            return f"{value.dtype}{list(value.shape)}"
        case np.generic():
            return f"numpy.{value.dtype} {value}"
        case bool() | int() | float() | complex() | str():
            return f"{type(value).__name__} {value!r:.40}"
    return f"an object of type {type(value).__qualname__}"

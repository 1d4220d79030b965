"""Scalar callbacks: the fast path to Python functions that take numbers and return one; no arrays are made.

ctypes reads numbers of Python's own types in memory; all others take the general path (`callback_invocation`).
"""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dcpy.base.callback_sites import PYTHON, CallbackOperand, CallbackSite, described
from dcpy.base.errors import CallbackError

_TYPES: dict[str, tuple[Any, type]] = {
    "float64": (ctypes.c_double, float),
    "int64": (ctypes.c_int64, int),
    "bool": (ctypes.c_bool, bool),
}
_LARGEST = 2**63
Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ScalarCall:
    """A call with numbers of Python's own, by their places among what compiled code wrote."""

    function: Callable[..., Any]
    pointers: Any  # an array type of ctypes
    reads: tuple[Read, ...]
    result: int  # the place of the result's pointer
    kind: tuple[Any, type]

    def __call__(self, address: int) -> None:
        """Calls, and stores the result; `CallbackError` where it is not what is declared."""
        numbers = self.pointers.from_address(address)
        found = self.function(*[read(numbers) for read in self.reads])
        memory, expected = self.kind
        if type(found) is not expected or (isinstance(found, int) and not -_LARGEST <= found < _LARGEST):
            raise CallbackError(f"a callback returned {described(found)} instead of {expected.__name__}")
        memory.from_address(numbers[self.result]).value = found


def scalar_call(site: CallbackSite, table: Mapping[str, Any]) -> ScalarCall | None:
    """The fast path of a site; None where it needs the general one.

    Functions with the attribute ``returns_a_number`` take numbers only.
    """
    function = table[site.function]
    if not getattr(function, "returns_a_number", False):
        return None
    places, count = {}, 0
    for operand in site.operands:
        places[operand.name] = count, operand
        count += 1 + 2 * operand.rank
    call = ast.parse(f"f({site.call})", mode="eval").body
    assert isinstance(call, ast.Call)
    reads = [_read(argument, places) for argument in call.args]
    result = _result(ast.parse(site.returns, mode="eval").body, places)
    if call.keywords or result is None or any(read is None for read in reads):
        return None
    place, kind = result
    return ScalarCall(function, ctypes.c_uint64 * count, tuple(read for read in reads if read is not None), place, kind)


Places = Mapping[str, tuple[int, CallbackOperand]]


def _read(node: ast.expr, places: Places) -> Read | None:
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=name) if name in places and places[name][1].rank:  # only keeps calls in order
            return lambda _: None
        case ast.Call(func=ast.Name(id=word), args=[ast.Name(id=name)]) if word == PYTHON and name in places:
            place, operand = places[name]
            if operand.dtype in _TYPES:
                memory = _TYPES[operand.dtype][0]
                return lambda numbers: memory.from_address(numbers[place]).value
    return None


def _result(node: ast.expr, places: Places) -> tuple[int, tuple[Any, type]] | None:
    match node:
        case ast.Call(args=[ast.Name(id=name)]) if name in places and places[name][1].dtype in _TYPES:
            place, operand = places[name]
            return place, _TYPES[operand.dtype]
    return None

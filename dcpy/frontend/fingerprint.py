"""What a function's meaning depends on, as one hash: the key under which a warm start finds the compiled program.

Follows the names in the code (not the values of one run): its own bytecode and constants, and what its global and free
names stand for, through functions called and modules of the user's. Over-approximates: a change that does not matter
costs one more compile, a change that does matter is never missed among functions, numbers, strings, tuples, dtypes and
array types. Anything else makes the function unfit for warm starts.
"""

from __future__ import annotations

import builtins
import hashlib
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class _Unknown(Exception):
    """A value that has no stable description."""


def fingerprint(function: FunctionType) -> str:
    """A hash that changes whenever the meaning of `function` may; ``""`` where that cannot be told."""
    try:
        parts: list[str] = []
        _describe_function(function, parts, set())
    except _Unknown:
        return ""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _describe_function(function: FunctionType, parts: list[str], seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    names = _describe_code(function.__code__, parts)
    parts.append(f"{function.__module__}:{function.__qualname__}")
    for default in function.__defaults__ or ():
        _describe(default, names, parts, seen)
    for name, default in sorted((function.__kwdefaults__ or {}).items()):
        parts.append(name)
        _describe(default, names, parts, seen)
    for annotation in function.__annotations__.values():
        parts.append(str(annotation))
    for name in sorted(names):
        if name in function.__globals__:
            parts.append(f"global {name}")
            _describe(function.__globals__[name], names, parts, seen)
        elif hasattr(builtins, name):
            parts.append(f"builtin {name}")
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        parts.append(f"free {name}")
        _describe(cell.cell_contents, names, parts, seen)


def _describe_code(code: CodeType, parts: list[str]) -> set[str]:
    """Adds bytecode, constants and line (for messages); returns all names, those of inner functions included."""
    parts += [code.co_code.hex(), repr(code.co_varnames), repr(code.co_names), code.co_filename]
    parts.append(str(code.co_firstlineno))
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _describe_code(constant, parts)
        else:
            parts.append(repr(constant))
    return names


def _describe(value: Any, names: set[str], parts: list[str], seen: set[int]) -> None:
    function = getattr(value, "function", value)  # a Program stands for its function
    match function:
        case FunctionType():
            _describe_function(function, parts, seen)
        case ModuleType():
            _describe_module(function, names, parts, seen)
        case np.ndarray():
            parts.append(f"array {function.dtype} {function.ndim}")
        case np.generic() | np.dtype():
            parts.append(f"{type(function).__name__} {function!r}")
        case tuple() | list():
            parts.append(type(function).__name__)
            for item in function:
                _describe(item, names, parts, seen)
        case np.ufunc() | BuiltinFunctionType() | type():
            parts.append(f"{getattr(function, '__module__', '')}.{function.__name__}")
        case _ if isinstance(function, _PLAIN):
            parts.append(f"{type(function).__name__} {function!r}")
        case _ if type(function).__module__.startswith(("dcpy.", "numpy")):
            parts.append(f"{type(function).__name__} {function}")
        case _:
            raise _Unknown


def _describe_module(module: ModuleType, names: set[str], parts: list[str], seen: set[int]) -> None:
    """A library counts by name and version; a module of the user's by those of its names that the code uses."""
    top = sys.modules.get(module.__name__.split(".")[0], module)
    version = getattr(top, "__version__", None)
    parts.append(f"module {module.__name__} {version}")
    if version is not None or module.__name__.split(".")[0] in sys.stdlib_module_names or id(module) in seen:
        return
    seen.add(id(module))
    for name in sorted(names):
        if name in vars(module):
            parts.append(f"{module.__name__}.{name}")
            _describe(vars(module)[name], names, parts, seen)

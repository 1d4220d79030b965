"""Fingerprint of a function: a hash of all that its meaning depends on, the key of warm starts.

With it go the `Read`s: which name in which namespace stood for which object, so that a later call can check them; and
the code objects that were visited, in order. Files and their lines are no part of the hash: the same function elsewhere
has the same key, and messages find their places from the code objects of the one that is called
(runtime/storage/records.py). The layout of a function is, because of that: which of its lines, counted from its own
first one, says what.

Follows the names in the code (not the values of one run): its own bytecode and constants, and what its global and free
names stand for, through functions called and modules of the user's. Over-approximates: a change that does not matter
costs one more compile, a change that does matter is never missed among functions, numbers, strings, tuples, dtypes and
ufuncs. Anything else, global arrays included, makes the function unfit for warm starts.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import sys
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dcpy.base.bit_generators import is_generator
from dcpy.base.library_modules import is_library
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.introspection.function_source import attach_source_file
from dcpy.ir.sdfg import Sdfg

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@dataclass(frozen=True, eq=False)
class Read:
    """A name that the function sees: ``("dict", namespace, name)`` or ``("cell", cell)``, and what it stood for."""

    source: tuple[Any, ...]
    value: Any


@dataclass(frozen=True)
class Fingerprint:
    """The hash (``""`` where there is none), the names that the function depends on, and the code that it runs."""

    key: str = ""
    reads: tuple[Read, ...] = ()
    codes: tuple[CodeType, ...] = ()


_IMPORT = dis.opmap["IMPORT_NAME"]


class _NoDescription(Exception):
    """A value that has no stable description."""


def fingerprint(function: FunctionType) -> Fingerprint:
    """A hash that changes whenever the meaning of `function` may.

    There is none where that cannot be told: the function sees an object without a stable description.
    """
    description = _FingerprintInput()
    try:
        description.add_function(function)
    except _NoDescription:
        return Fingerprint()
    key = hashlib.sha256("\0".join(description.parts).encode()).hexdigest()
    return Fingerprint(key, tuple(description.reads), tuple(description.codes))


class _FingerprintInput:
    """The texts that are hashed, and the names that were read on the way."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.reads: list[Read] = []
        self.codes: list[CodeType] = []
        self._seen: set[int] = set()

    def add_function(self, function: FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        attach_source_file(function)
        self.codes.append(function.__code__)
        names = self._add_code(function.__code__, function.__code__.co_firstlineno)
        self.parts.append(function.__name__)
        for default in function.__defaults__ or ():
            self._add(default, names)
        for name, default in sorted((function.__kwdefaults__ or {}).items()):
            self.parts.append(name)
            self._add(default, names)
        self.parts += [str(annotation) for annotation in function.__annotations__.values()]
        self._add_names(function.__globals__, names)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.parts.append(f"free {name}")
            self._read(("cell", cell), cell.cell_contents, names)

    def _add_code(self, code: CodeType, first: int) -> set[str]:
        """Add bytecode, constants and layout; return all names, those of inner functions included.

        `first` is the line that the layout is counted from; ``co_linetable`` itself counts from that of its code.
        """
        self.parts += [code.co_code.hex(), repr(code.co_varnames), repr(code.co_names), repr(code.co_cellvars)]
        self.parts += [f"{code.co_name} {code.co_posonlyargcount} {code.co_argcount} {code.co_kwonlyargcount}"]
        self.parts += [str(code.co_firstlineno - first), code.co_linetable.hex()]
        names = set(code.co_names)
        self._add_imports(code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                names |= self._add_code(constant, first)
            else:
                self.parts.append(repr(constant))
        return names

    def _add_imports(self, code: CodeType) -> None:
        """A module that the code imports itself: that of a library is in the key by its version alone."""
        if _IMPORT not in code.co_code[::2]:
            return
        for instruction in dis.get_instructions(code):
            if instruction.opcode == _IMPORT:
                if not is_library(str(instruction.argval)):  # relative ones included: they may be the empty text
                    raise _NoDescription
                module = sys.modules.get(str(instruction.argval).partition(".")[0])
                self.parts.append(f"import {instruction.argval} {getattr(module, '__version__', None)}")

    def _add_names(self, namespace: dict[str, Any], names: set[str]) -> None:
        for name in sorted(names):
            if name in namespace:
                self.parts.append(f"name {name}")
                self._read(("dict", namespace, name), namespace[name], names)
            elif hasattr(builtins, name):
                self.parts.append(f"builtin {name}")

    def _read(self, source: tuple[Any, ...], value: Any, names: set[str]) -> None:
        if not isinstance(value, ModuleType):  # modules stay
            self.reads.append(Read(source, value))
        self._add(value, names)

    def _add(self, value: Any, names: set[str]) -> None:
        if isinstance(value, Callback | Sdfg):  # what a callback does is not compiled; graphs are changed in place
            raise _NoDescription
        known = getattr(value, "function", value)  # a Program stands for its function
        match known:
            case FunctionType():
                self.add_function(known)
            case ModuleType():
                self._add_module(known, names)
            case tuple() | list():
                self.parts.append(f"{type(known).__name__} of {len(known)}")
                for item in known:
                    self._add(item, names)
            case np.ufunc() | BuiltinFunctionType():
                self.parts.append(f"{getattr(known, '__module__', '')}.{known.__name__}")
            case type() if is_library(known.__module__):  # other classes may have attributes that change
                self.parts.append(f"{getattr(known, '__module__', '')}.{known.__name__}")
            case _ if isinstance(known, np.ndarray) or is_generator(known):
                raise _NoDescription
            case _ if isinstance(known, _PLAIN) or type(known).__module__.startswith(("dcpy.", "numpy")):
                self.parts.append(f"{type(known).__name__} {known!r}")
            case _:
                raise _NoDescription

    def _add_module(self, module: ModuleType, names: set[str]) -> None:
        """A library counts by name and version; any other module by those of its names that the code uses."""
        version = getattr(sys.modules.get(module.__name__.split(".")[0], module), "__version__", None)
        self.parts.append(f"module {module.__name__} {version}")
        if not is_library(module.__name__) and id(module) not in self._seen:
            self._seen.add(id(module))
            self._add_names(vars(module), names)

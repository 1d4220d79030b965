"""SDFGs as JSON, for machines: versioned, complete (places in the source and history included), safe to load.

A document is ``{"dcpy": VERSION, "sdfgs": [...]}``, the main SDFG first, callees after it. A value that is no plain
one is an object with one entry, ``{kind: content}``; the content of a dataclass is its fields without those that have
their default. Kinds are listed in `ir.files.json_kinds`. Loading builds these classes and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from dcpy.base.errors import InvalidSdfg, ParseError
from dcpy.base.printable_text import printable
from dcpy.base.source import Calls, SrcSpan
from dcpy.ir import types
from dcpy.ir.files.json_kinds import class_of, fits, hints_of, kind_of
from dcpy.ir.files.limits import DEEPEST_DOCUMENT
from dcpy.ir.region import Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr, parse_expr
from dcpy.ir.types import BY_NAME, DType
from dcpy.ir.verify import verify_readable

VERSION = 1
#: Functions that turn a document of one version into one of the next.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}

_SDFG_FIELDS = (
    "name", "span", "arguments", "symbols", "sizes", "assumptions", "assumed", "assigned_symbols", "constants",
    "grids", "results", "structure", "body", "history",
)  # fmt: skip
#: left out where there is nothing
_SDFG_OPTIONAL: dict[str, Any] = {"assumptions": (), "assumed": {"dict": {}}, "grids": {"dict": {}}}
_SDFG_LISTS = ("arguments", "sizes", "assumptions", "history")


def to_json(sdfg: Sdfg) -> dict[str, Any]:
    """The document of an SDFG, ready for ``json.dumps``."""
    encoder = _Encoder()
    encoder.index_of(sdfg)
    contents = [encoder.sdfg(met) for met in encoder.sdfgs]  # grows while callees are met
    return {"dcpy": VERSION, "sdfgs": contents}


def from_json(document: object) -> Sdfg:
    """The SDFG of a document; `ParseError` where it is not one, or of a version that is not known."""
    migrated = _migrated(document)
    contents = migrated.get("sdfgs")
    if not isinstance(contents, list) or not contents:
        raise ParseError("this document holds no SDFG")
    if _is_deeper(contents, DEEPEST_DOCUMENT):
        raise ParseError(f"this document nests its parts more than {DEEPEST_DOCUMENT} deep")
    try:
        sdfg = _Decoder(contents).main()
    except ParseError:
        raise
    except Exception as error:  # whatever a class raises for invalid values
        raise ParseError(f"this document is damaged: {printable(str(getattr(error, 'message', error)))}") from error
    verify_readable(sdfg)
    return sdfg


def save(sdfg: Sdfg, path: str | Path) -> None:
    """Write a file, whole or not at all: a reader never sees half of it."""
    target = Path(path)
    text = json.dumps(to_json(sdfg), indent=1, allow_nan=False) + "\n"
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def load(path: str | Path) -> Sdfg:
    """Read a file that `save` wrote, of this version or an older one. `ParseError` where it is broken or newer."""
    try:
        content = Path(path).read_bytes()
    except ValueError as error:  # a NUL in it
        raise ParseError(f"{printable(str(path))!r} is no name of a file: {error}") from error
    try:
        document = json.loads(content, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"{printable(Path(path).name)} is not a complete JSON file: {error}",
            help="the textual form is read by dcpy.parse",
        ) from error
    return from_json(document)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; `ValueError` where a name occurs twice: readers would differ in which value they take."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an object has two entries of one name")
    return table


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _is_deeper(value: object, most: int) -> bool:
    """Return whether lists and objects are nested in each other more than so many deep."""
    level = [value]
    for _ in range(most):
        nested = [part for part in level if isinstance(part, list | dict)]
        level = [inner for part in nested for inner in (part.values() if isinstance(part, dict) else part)]
    return bool(level)


def _migrated(document: object) -> dict[str, Any]:
    version = document.get("dcpy") if isinstance(document, dict) else None
    if not isinstance(document, dict) or type(version) is not int or version < 1:
        raise ParseError('this is no document of dcpy: it has no version under "dcpy"')
    if version > VERSION:
        raise ParseError(
            f"this document has version {version}, and this dcpy reads up to {VERSION}", help="update dcpy"
        )
    for step in range(version, VERSION):
        document = MIGRATIONS[step](document)
    return document


def _is_default(field: Field[Any], value: object) -> bool:
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return field.default is not MISSING and type(value) is type(field.default) and repr(value) == repr(field.default)


# -- writing ---------------------------------------------------------------------------------------------------------


class _Encoder:
    def __init__(self) -> None:
        self.sdfgs: list[Sdfg] = []
        self._indices: dict[Sdfg, int] = {}

    def index_of(self, sdfg: Sdfg) -> int:
        if sdfg not in self._indices:
            self._indices[sdfg] = len(self.sdfgs)
            self.sdfgs.append(sdfg)
        return self._indices[sdfg]

    def sdfg(self, sdfg: Sdfg) -> dict[str, Any]:
        fields = {name: self.value(getattr(sdfg, name)) for name in _SDFG_FIELDS}
        return {name: value for name, value in fields.items() if getattr(sdfg, name) or name not in _SDFG_OPTIONAL}

    def value(self, value: Any) -> Any:
        match value:
            case None | bool() | str():
                return value
            case Enum():
                return {kind_of(type(value)): value.value}
            case int() | np.integer() | np.bool_():
                return value.item() if isinstance(value, np.generic) else value
            case float() | np.floating():
                return float(value) if math.isfinite(value) else {"float": repr(float(value))}
            case complex() | np.complexfloating():
                return {"complex": [self.value(value.real), self.value(value.imag)]}
            case tuple() | list():
                return [self.value(item) for item in value]
            case dict():
                return {"dict": {name: self.value(item) for name, item in value.items()}}
        return self.object(value)

    def object(self, value: Any) -> Any:
        match value:
            case Expr():
                return {"expr": str(value)}
            case DType():
                return {"dtype": value.name}
            case Sdfg():
                return {"sdfg": self.index_of(value)}
            case SrcSpan():
                place: list[Any] = [value.file, value.line, value.column, value.end_line, value.end_column]
                return {"span": [*place, self.value(value.calls)] if value.calls else place}
            case Region():
                return {"region": [self.value(value.containers), self.value(value.blocks)]}
            case np.ndarray():
                elements = self.value(value.ravel().tolist())
                return {"ndarray": [types.from_numpy(value.dtype).name, list(value.shape), elements]}
        if not is_dataclass(value):
            raise InvalidSdfg(f"a value of type {type(value).__name__} has no JSON: {value!r}")
        kept = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        defaults = {field.name: field for field in fields(value)}
        content = {name: self.value(item) for name, item in kept.items() if not _is_default(defaults[name], item)}
        return {kind_of(type(value)): content}


# -- reading ---------------------------------------------------------------------------------------------------------


class _Decoder:
    def __init__(self, contents: list[Any]) -> None:
        self.contents = contents
        self.sdfgs = [Sdfg("") for _ in contents]

    def main(self) -> Sdfg:
        for sdfg, content in zip(self.sdfgs, self.contents, strict=True):
            self.fill(sdfg, content)
        return self.sdfgs[0]

    def fill(self, sdfg: Sdfg, content: object) -> None:
        if isinstance(content, dict):
            content = {**_SDFG_OPTIONAL, **content}
        if not isinstance(content, dict) or sorted(content) != sorted(_SDFG_FIELDS):
            raise ParseError("an SDFG in this document has other fields than it should")
        for name in _SDFG_FIELDS:
            value = self.value(content[name])
            value = list(value) if name in _SDFG_LISTS and isinstance(value, tuple) else value
            self.check(value, hints_of(Sdfg)[name], f"sdfg.{name}")
            setattr(sdfg, name, value)
        sdfg.body.owner = sdfg
        sdfg.forget_names()

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self.value(item) for item in value)
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise ParseError(f"expected one kind of value, found the fields {', '.join(value) or '(none)'}")
        ((kind, content),) = value.items()
        reader = _READERS.get(kind)
        return reader(self, content) if reader else self.object(kind, content)

    def object(self, kind: str, content: object) -> Any:
        """A member of an enumeration, or a dataclass."""
        cls = class_of(kind)
        if issubclass(cls, Enum):
            return cls(content)
        if not isinstance(content, dict):
            raise ParseError(f"a {kind} has no fields here")
        known = {field.name for field in fields(cls) if field.init}
        unknown = [name for name in content if name not in known]
        if unknown:
            raise ParseError(f"a {kind} has no field {unknown[0]!r}")
        hints = hints_of(cls)  # type: ignore[arg-type]  # mypy: type[Any] is not seen to be hashable
        values = {name: self._field(self.value(item), hints[name], f"{kind}.{name}") for name, item in content.items()}
        return cls(**values)

    def _field(self, value: Any, hint: Any, where: str) -> Any:
        """JSON has one kind of list; the field says whether it is a tuple."""
        if getattr(hint, "__origin__", None) is list and isinstance(value, tuple):
            value = list(value)
        self.check(value, hint, where)
        return value

    def check(self, value: Any, hint: Any, where: str) -> None:
        if not fits(value, hint):
            raise ParseError(f"{where} cannot be {type(value).__name__} {printable(repr(value), longest=60)}")

    def dictionary(self, content: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(item) for name, item in content.items()}

    def region(self, content: list[Any]) -> Region:
        containers, blocks = (self.value(part) for part in content)
        hints = hints_of(Region)
        self.check(containers, hints["containers"], "region.containers")
        self.check(list(blocks), hints["blocks"], "region.blocks")
        return Region(blocks, containers)

    def ndarray(self, content: list[Any]) -> np.ndarray[Any, Any]:
        dtype, shape, elements = content
        try:
            with np.errstate(over="raise"):
                return np.array(self.value(elements), dtype=BY_NAME[dtype].numpy).reshape(shape)
        except FloatingPointError:
            raise ParseError(f"a constant array of {dtype} has an element that is too large") from None

    def span(self, content: list[Any]) -> SrcSpan:
        file, *numbers = content[:5]
        if not isinstance(file, str) or not all(type(number) is int for number in numbers):
            raise ParseError("a place in the source is a file and numbers")
        (calls,) = map(self.value, content[5:] or [[]])
        self.check(calls, Calls, "span.calls")
        return SrcSpan(file, *numbers).with_calls(calls)

    def callee(self, content: int) -> Sdfg:
        if content not in range(len(self.sdfgs)):
            raise ParseError(f"this document has no SDFG number {content}")
        return self.sdfgs[content]

    def complex(self, content: list[Any]) -> complex:
        real, imag = (self.value(part) for part in content)
        return complex(real, imag)


_READERS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "dict": _Decoder.dictionary,
    "region": _Decoder.region,
    "ndarray": _Decoder.ndarray,
    "span": _Decoder.span,
    "complex": _Decoder.complex,
    "expr": lambda _, content: parse_expr(content),
    "dtype": lambda _, content: BY_NAME[content],
    "float": lambda _, content: float(content),
    "sdfg": _Decoder.callee,
}

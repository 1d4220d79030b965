"""Prototypes of C functions as data: what an emitter spells, and what calls are checked against."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcpy.base.errors import DcpyError

_PROTOTYPE = re.compile(r"\s*(?P<result>[\w\s*]*?)\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*;?\s*")
_TYPE = re.compile(r"(?P<const>const\s+)?(?P<name>\w+)\s*(?P<pointers>[*\s]*)")
TYPES = (
    "void", "bool", "char", "int", "float", "double", "size_t",
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CType:
    """A type of C: ``const double *`` is ``CType("double", const=True, pointers=1)``."""

    name: str
    const: bool = False
    pointers: int = 0

    def __str__(self) -> str:
        stars = f" {'*' * self.pointers}" if self.pointers else ""
        return f"{'const ' if self.const else ''}{self.name}{stars}"


@dataclass(frozen=True, slots=True)
class Prototype:
    """A function of C: its name, the type of its result, and those of its parameters."""

    name: str
    result: CType
    parameters: tuple[CType, ...]

    def __str__(self) -> str:
        """``double f(const double *, int);``"""
        result = str(self.result)
        space = "" if result.endswith("*") else " "
        return f"{result}{space}{self.name}({', '.join(map(str, self.parameters))});"


def prototype(text: str) -> Prototype:
    """Reads ``double f(const double *, int);``. `DcpyError` where it is none, or has a type that is not in `TYPES`."""
    found = _PROTOTYPE.fullmatch(text)
    if found is None:
        raise DcpyError(f"{text!r} is no prototype", help="as in C, without names: double f(const double *, int);")
    listed = found["parameters"].strip()
    parameters = () if listed in ("", "void") else tuple(_type(part, text) for part in listed.split(","))
    return Prototype(found["name"], _type(found["result"], text), parameters)


def _type(text: str, whole: str) -> CType:
    found = _TYPE.fullmatch(text.strip())
    if found is None or found["name"] not in TYPES:
        raise DcpyError(f"{text.strip()!r} in {whole!r} is no type here", help=f"there are {', '.join(TYPES)}")
    return CType(found["name"], bool(found["const"]), found["pointers"].count("*"))

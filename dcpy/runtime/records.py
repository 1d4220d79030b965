"""What the cache remembers of a whole program: the key of its library, its signature, and the driver's own notes.

Written as JSON. A signature whose constants have no faithful JSON form (a function, an array) is not remembered.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from dcpy.base.source import SrcSpan
from dcpy.codegen import artifact
from dcpy.codegen.artifact import Signature
from dcpy.runtime.cache import read_sealed, write_sealed

CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        SrcSpan, Signature, artifact.Check, artifact.Dim,
        artifact.ArrayArg, artifact.ScalarArg, artifact.IntegerArg, artifact.GeneratorArg, artifact.ConstantArg,
        artifact.FreshArray, artifact.OwnedArray, artifact.ScalarResult, artifact.ArgumentResult,
        artifact.ViewResult, artifact.ConstantResult,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered program."""

    key: str
    signature: Signature
    extra: Mapping[str, Any]


class Unfaithful(Exception):
    """A value that JSON would change."""


def write_record(path: Path, key: str, signature: Signature, extra: Mapping[str, Any]) -> None:
    """Remember; where that is not possible (a read-only cache, a constant without a JSON form), do not."""
    with contextlib.suppress(OSError, Unfaithful):
        write_sealed(path, json.dumps({"key": key, "signature": as_json(signature), "extra": extra}))


def read_record(path: Path) -> Record | None:
    """What `write_record` wrote, or None."""
    text = read_sealed(path)
    if text is None:
        return None
    try:
        found = json.loads(text)
        return Record(found["key"], from_json(found["signature"]), found["extra"])
    except (ValueError, KeyError, TypeError):
        return None  # written by another version of dcpy


def as_json(value: object) -> object:
    """JSON for a signature and all that it holds. Raises `Unfaithful`."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is complex:
        return {"is": "complex", "of": [value.real, value.imag]}
    if type(value) is tuple:
        return [as_json(item) for item in value]
    if is_dataclass(value) and CLASSES.get(type(value).__name__) is type(value):
        return {"is": type(value).__name__, **{f.name: as_json(getattr(value, f.name)) for f in fields(value)}}
    raise Unfaithful(repr(value))


def from_json(value: Any) -> Any:
    """The inverse of `as_json`."""
    if isinstance(value, list):
        return tuple(from_json(item) for item in value)
    if not isinstance(value, dict):
        return value
    if value["is"] == "complex":
        return complex(*value["of"])
    return CLASSES[value["is"]](**{name: from_json(item) for name, item in value.items() if name != "is"})

"""Cache records: the key of a program's library, its signature, and the driver's notes.

Written as JSON. A signature whose constants have no faithful JSON form (a function, an array) is not remembered. Places
are kept relative to the functions that the program is made of (relative_places.py): a record serves all its copies.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base.assumptions import Assumption
from dcpy.base.source import SrcSpan
from dcpy.codegen import artifact
from dcpy.codegen.artifact import Signature
from dcpy.runtime.storage.cache import read_sealed, write_sealed
from dcpy.runtime.storage.relative_spans import placed, relative_to

CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        Signature, Assumption, artifact.Check, artifact.Dim, artifact.Linear,
        artifact.ArrayArg, artifact.ScalarArg, artifact.IntegerArg, artifact.GeneratorArg, artifact.ConstantArg,
        artifact.FreshArray, artifact.OwnedArray, artifact.ScalarResult, artifact.ArgumentResult,
        artifact.ViewResult, artifact.ConstantResult, artifact.Chosen,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RememberedProgram:
    """One remembered program."""

    key: str
    signature: Signature
    extra: Mapping[str, Any]


KEY = re.compile(r"[0-9a-f]{32}")  # of a program: nothing else is looked for in the cache


class NoFaithfulJson(Exception):
    """A value that JSON would change."""


def write_record(
    path: Path, key: str, signature: Signature, extra: Mapping[str, Any], codes: Sequence[CodeType] = ()
) -> None:
    """Remember; where that is not possible (a read-only cache, a constant without a JSON form), do not.

    `codes` are the functions that the program is made of: places outside of these make no record.
    """
    with contextlib.suppress(OSError, NoFaithfulJson):
        described = as_json(signature, codes)
        write_sealed(path, json.dumps({"key": key, "signature": described, "extra": extra}))


def read_record(path: Path, codes: Sequence[CodeType] = ()) -> RememberedProgram | None:
    """Return the record of `write_record`, or None. Places are in `codes`, the same functions as they stand now."""
    text = read_sealed(path)
    if text is None:
        return None
    try:
        found = json.loads(text)
        key, signature, extra = found["key"], from_json(found["signature"], codes), found["extra"]
        is_key = isinstance(key, str) and KEY.fullmatch(key)
        return RememberedProgram(key, signature, extra) if is_key and isinstance(signature, Signature) else None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None  # written by another version of dcpy, or by hand


def as_json(value: object, codes: Sequence[CodeType] = ()) -> object:
    """JSON for a signature and all that it holds. Raises `NoFaithfulJson`."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is complex:
        return {"is": "complex", "of": [value.real, value.imag]}
    if type(value) is tuple:
        return [as_json(item, codes) for item in value]
    if isinstance(value, SrcSpan):
        place = relative_to(codes, value)
        if place is None:
            raise NoFaithfulJson(repr(value))
        calls = {"calls": as_json(value.calls, codes)} if value.calls else {}
        return {"is": "SrcSpan", "of": place, **calls}
    if is_dataclass(value) and CLASSES.get(type(value).__name__) is type(value):
        return {"is": type(value).__name__, **{f.name: as_json(getattr(value, f.name), codes) for f in fields(value)}}
    raise NoFaithfulJson(repr(value))


def from_json(value: Any, codes: Sequence[CodeType] = ()) -> Any:
    """The inverse of `as_json`."""
    if isinstance(value, list):
        return tuple(from_json(item, codes) for item in value)
    if not isinstance(value, dict):
        return value
    match value["is"]:
        case "complex":
            return complex(*value["of"])
        case "SrcSpan":
            return placed(codes, value["of"]).with_calls(from_json(value.get("calls", []), codes))
    return CLASSES[value["is"]](**{name: from_json(item, codes) for name, item in value.items() if name != "is"})

"""Data descriptors as argument types: ``dcpy.data.Array``, ``Scalar``, ``Structure``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.annotations import ANNOTATIONS, ArrayAnnotation, ScalarAnnotation
from dcpy.frontend.dataflow.storage_and_schedules import StorageType, require_host
from dcpy.ir import types


def Array(dtype: Any, shape: Sequence[Any], storage: StorageType = StorageType.Default) -> ArrayAnnotation:
    """``dcpy.data.Array(dcpy.float64, (N, M))`` is ``dcpy.float64[N, M]``."""
    require_host(storage)
    return _element(dtype)[tuple(shape)]


def Scalar(dtype: Any, storage: StorageType = StorageType.Default) -> ScalarAnnotation:
    """``dcpy.data.Scalar(dcpy.int32)`` is ``dcpy.int32``."""
    require_host(storage)
    return _element(dtype)


def _element(dtype: Any) -> ScalarAnnotation:
    if isinstance(dtype, ScalarAnnotation):
        return dtype
    found = types.from_numpy(np.dtype(dtype))
    return next(annotation for annotation in ANNOTATIONS.values() if annotation.element == found)


class Structure:
    """An argument with named parts: ``dcpy.data.Structure({"row": dcpy.int64[N], "val": dcpy.float64[M]}, "CSR")``.

    It is a dataclass: ``CSR(row=..., val=...)`` makes an object to pass, `record_class` is the class. A dataclass of
    the user's is the same in fewer words.
    """

    def __init__(self, members: Mapping[str, Any] | Sequence[tuple[str, Any]], name: str = "Structure") -> None:
        parts = dict(members)
        wrong = [part for part in (name, *parts) if not part.isidentifier()]
        if wrong:
            raise FrontendError(f"{wrong[0]!r} is no name for a part of a structure", help="use a Python identifier")
        fields = [(part, getattr(kind, "record_class", kind)) for part, kind in parts.items()]
        self.record_class: type = dataclasses.make_dataclass(name, fields)
        self.members = parts

    @classmethod
    def from_dataclass(cls, found: type) -> Structure:
        """The structure that a dataclass is."""
        if not dataclasses.is_dataclass(found):
            raise FrontendError(f"{found!r} is no dataclass", help="decorate it with @dataclasses.dataclass")
        made = cls({field.name: field.type for field in dataclasses.fields(found)}, found.__name__)
        made.record_class = found
        return made

    def __call__(self, *args: Any, **parts: Any) -> Any:
        """An object with these parts."""
        return self.record_class(*args, **parts)

    def __repr__(self) -> str:
        return f"dcpy.data.Structure({self.record_class.__name__})"

"""Parses declarations of containers: the inverse of `declaration_printer`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from dcpy.base.errors import DcpyError
from dcpy.ir.data import (
    Allocation,
    Array,
    Data,
    Lifetime,
    Scalar,
    Space,
    Stream,
    View,
    packed_strides,
)
from dcpy.ir.fpga.memory import BANKS, PARTITIONS, Bank, Partition
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.text.declaration_printer import derived_view
from dcpy.ir.text.distribution_parser import DistributionParser
from dcpy.ir.text.lexer import Token
from dcpy.ir.types import BY_NAME, DType

DECLARATIONS = ("data", "view", "stream")
E = TypeVar("E", bound=Enum)
W = TypeVar("W", bound=str)
_PENDING = Scalar(BY_NAME["bool"])  # keeps the place of a view whose base is not known yet


class DeclarationParser(DistributionParser):
    """A cursor that reads descriptors."""

    def declarations(self, scope: dict[str, Data]) -> None:
        """All declarations at the start of a region, into `scope`. A view may stand before the container it shows."""
        views: dict[str, tuple[Token, Callable[[Data], View], str]] = {}
        while self.at(*DECLARATIONS) and self.peek(2).text == ":":
            keyword = self.advance().text
            at = self.token
            name = self.identifier("the name of a container")
            if name in scope:
                self.fail(f"{name!r} is declared twice", at=at)
            self.expect(":")
            if keyword == "view":
                of, build = self.view()
                views[name] = at, build, of
                scope[name] = _PENDING
            else:
                scope[name] = self.descriptor(keyword)
        for name in list(views):
            self._resolve(name, views, scope)

    def _resolve(self, name: str, views: dict[str, tuple[Token, Any, str]], scope: dict[str, Data]) -> None:
        if name not in views:
            return
        at, build, of = views.pop(name)
        self._resolve(of, views, scope)
        base = self.find(of)
        if base is None or base is _PENDING:
            self.fail(f"{name!r} shows {of!r}, which is no container here", at=at)
        try:
            scope[name] = build(base)
        except (DcpyError, ValueError, IndexError):
            self.fail(f"{name!r} does not fit the shape of {of!r}", at=at)

    def descriptor(self, keyword: str = "data") -> Data:
        """Parse what follows ``name:``, a view excepted."""
        dtype, shape = self._type()
        if keyword == "stream":
            token = self.list_of(lambda: self.integer("a size")) if self.accept("token") else ()
            capacity = self.symbolic() if self.accept("capacity") else Expr(())
            return Stream(dtype, shape or (), capacity, self.accept("transient"), token)
        return Scalar(dtype, **self._flags(array=False)) if shape is None else self._array(dtype, shape)

    def view(self) -> tuple[str, Callable[[Data], View]]:
        """The name of the container that is shown, and what makes the view once its descriptor is known."""
        dtype, shape = self._type()
        self.expect("of")
        of = self.identifier("the name of a container")
        window = self.subset() if self.at("[") else None
        axes = self.list_of(lambda: self.integer("an axis")) if self.accept("axes") else _kept(window)
        strides = self._strides()
        offset = self.symbolic() if self.accept("offset") else None

        def build(base: Data) -> View:
            rough = View(of, dtype, shape or (), (), window=window, axes=axes)
            derived = derived_view(rough, base)
            return replace(
                rough,
                strides=derived.strides if strides is None else strides,
                offset=derived.offset if offset is None else offset,
            )

        return of, build

    def constant(self) -> tuple[str, np.ndarray[Any, Any]]:
        """``constant w: f64[2] = {0.5, 0.25}``, after its keyword."""
        at = self.token
        name = self.identifier("the name of a constant")
        self.expect(":")
        dtype = self.dtype()
        shape = self.list_of(lambda: self.integer("a size"), "[", "]") if self.at("[") else ()
        self.expect("=")
        elements = self.list_of(lambda: self._element(dtype), "{", "}")
        if len(elements) != int(np.prod(shape, dtype=np.int64)):
            self.fail(f"{name!r} has {len(elements)} elements, which do not fill its shape", at=at)
        return name, np.array(elements, dtype=dtype.numpy).reshape(shape)

    def _element(self, dtype: DType) -> bool | complex:
        if dtype.kind == "c":
            real, imag = self.list_of(lambda: self._element(BY_NAME["f64"]))
            return complex(real, imag)
        value = self.value()
        if not isinstance(value, bool | int | float):
            self.fail("expected a number")
        return value

    def value(self) -> Any:
        """A plain value: number, string, dtype, none, or a tuple of such."""
        token = self.token
        if token.kind == "string":
            return self.string("a value")
        if self.at("("):
            return self.list_of(self.value)
        if self.at("["):
            return self.section()
        negative = self.accept("-")
        word = self.advance()
        match word:
            case Token(kind="number", text=text):
                number: int | float = int(text) if text.isdigit() else float(text)
                return -number if negative else number
            case Token(kind="name", text="inf" | "nan" as text):
                return -float(text) if negative else float(text)
            case Token(kind="name", text="complex"):
                return complex(*self.list_of(self.value))
            case Token(kind="name", text=text) if text.lower() in ("none", "true", "false"):
                return {"none": None, "true": True, "false": False}[text.lower()]
            case Token(kind="name", text=text) if text in BY_NAME:
                return BY_NAME[text]
        return self.fail("expected a number, a string, a dtype, none, true, false, or a tuple of these", at=token)

    # -- parts -------------------------------------------------------------------------------------------------

    def _type(self) -> tuple[DType, tuple[Expr, ...] | None]:
        """``f64``, ``f64[N, M]``."""
        dtype = self.dtype()
        return dtype, self.list_of(lambda: self.symbolic(size=True), "[", "]") if self.at("[") else None

    def _array(self, dtype: DType, shape: tuple[Expr, ...]) -> Array:
        strides = self._strides()
        return Array(dtype, shape, packed_strides(shape) if strides is None else strides, **self._flags(array=True))

    def _strides(self) -> tuple[Expr, ...] | None:
        return self.list_of(self.symbolic) if self.accept("strides") else None

    def _flags(self, *, array: bool) -> dict[str, Any]:
        """``transient @global @heap lifetime call alias g``, in any order."""
        flags: dict[str, Any] = {}
        while True:
            if self.accept("transient"):
                flags["transient"] = True
            elif self.accept("@"):
                self._place(flags)
            elif array and self.accept("lifetime"):
                flags["lifetime"] = self.member(Lifetime, "lifetime")
            elif array and self.accept("alias"):
                flags["alias"] = self.identifier("the name of a group of arguments")
            elif array and self.accept("bank"):
                flags["bank"] = self._bank()
            elif array and self.accept("partition"):
                flags["partition"] = (*flags.get("partition", ()), self._partition())
            elif array and self.accept("on"):
                flags["distribution"] = self.distribution()
            else:
                return flags

    def _bank(self) -> Bank:
        """``hbm 2``, ``hbm 0:4 axis 1``."""
        kind = self.word(BANKS, "kind of bank")
        first = self.integer("the number of a bank")
        if not self.accept(":"):
            return Bank(kind, first)
        behind = self.integer("the number behind the last bank")
        return Bank(kind, first, behind - first, self.integer("an axis") if self.accept("axis") else 0)

    def _partition(self) -> Partition:
        """``complete 0``, ``cyclic 1 by 4``."""
        style = self.word(PARTITIONS, "way to cut memory")
        axis = self.integer("an axis")
        return Partition(axis, style, self.integer("a number of pieces") if self.accept("by") else 0)

    def _place(self, flags: dict[str, Any]) -> None:
        """A memory space, or how the memory is allocated there; what is the default is not written."""
        token = self.token
        name = self.identifier("a memory space or an allocation")
        places: list[Space | Allocation] = [*list(Space)[1:], *list(Allocation)[1:]]
        found = next((place for place in places if place.value == name), None)
        if found is None:
            known = ", ".join(f"@{place.value}" for place in places)
            self.fail(f"no memory space and no allocation is called {name!r}", at=token, help=f"there are {known}")
        flags["space" if isinstance(found, Space) else "allocation"] = found

    def member(self, kind: type[E], what: str) -> E:
        """A member of an enumeration, by its value."""
        values = {item.value: item for item in kind}
        return values[self.word(tuple(values), what)]

    def word(self, known: tuple[W, ...], what: str) -> W:
        """One of these words."""
        token = self.token
        name = self.identifier(f"a {what}")
        if name not in known:
            self.fail(f"no {what} is called {name!r}", at=token, help=f"there are {', '.join(known)}")
        return known[known.index(name)]

def _kept(window: Subset | None) -> tuple[int, ...]:
    return () if window is None else tuple(axis for axis, dim in enumerate(window.dims) if isinstance(dim, Range))

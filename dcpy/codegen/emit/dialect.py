"""A dialect: how a language spells LIR, as one value made of tables.

Types, words, operations, intrinsics, expressions, statements and marks of loops each have a table: from a class or a
name of LIR to a text, or to a function that makes one. `Dialect.but` makes a dialect that differs in some entries from
another; an entry of None is one that it has no words for, and programs that need it are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lir.tree import Function, Kernel, Loop, Module
from dcpy.codegen.lir.types import Basic
from dcpy.codegen.prelude import Prelude
from dcpy.ir.data import Space
from dcpy.ir.types import DType

Printing = Any  #: the `Printer` that prints by the dialect: it knows the dialect, not the other way round
Text = tuple[str, int]  #: of an expression, and its precedence
Table = Mapping[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """A language, or what one compiler makes of it.

    `numbers` are the types of dtypes by their names, and `typedefs` what those are short for. `spaces` has the words
    that a pointer into a memory needs, `words` single words and short forms by what they mean (`emit.cpp` lists them).
    `operations` has a table for each kind of dtype; `generic` spells a function of the prelude for one dtype. An
    intrinsic is the name of a function, or a form with ``{0}`` for its arguments. `loops` and `module` print what
    stands before a loop, and before all functions of a file; `around` what stands at the beginning of a body and behind
    its function; `last_line` what stands behind all.
    """

    name: str
    language: str  # whose compiler takes its files, e.g. "C++"
    suffix: str  # of its files
    prelude: Prelude
    numbers: Mapping[str, str | None]
    typedefs: Mapping[str, str | None]
    basic: Mapping[Basic, str | None]
    spaces: Mapping[Space, str | None]
    words: Mapping[str, str | None]
    operations: Mapping[str, Mapping[str, str | None]]
    generic: Callable[[str, DType], str]
    intrinsics: Mapping[str, str | None]
    expressions: Mapping[type, Callable[[Printing, Any], Text] | None]
    statements: Mapping[type, Callable[[Printing, Any], None] | None]
    loops: Callable[[Printing, Loop], list[str]]
    module: Callable[[Printing, Module], list[str]]
    conversion: Callable[[LirExpr, DType, DType], LirExpr]
    around: Callable[[Printing, Function | Kernel], tuple[list[str], list[str]]] | None = None
    last_line: Callable[[Printing, Module], str] | None = None
    flags: tuple[str, ...] = ()  # what its compiler needs to know, e.g. "-std=c++17"

    def but(self, name: str, **changes: Any) -> Dialect:
        """A dialect of another name: tables are laid over those of this one, what is no table takes its place."""
        laid = {
            field.name: _over(getattr(self, field.name), changes[field.name])
            for field in fields(self)
            if field.name in changes
        }
        return replace(self, name=name, **laid)

    def entry(self, table: Table, key: Any, what: str) -> Any:
        """An entry of one of the tables; `CodegenError` where there is none."""
        found = table.get(key)
        if found is None:
            raise CodegenError(f"{self.name} has no words for {what}")
        return found

    def word(self, meaning: str) -> str:
        """One of `words`."""
        word: str = self.entry(self.words, meaning, meaning)
        return word


def _over(below: Any, above: Any) -> Any:
    """A table over a table, and so on inside; anything else as it is."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{key: _over(below.get(key), value) for key, value in above.items()}}

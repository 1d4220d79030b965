"""Vector loops: what g++ needs to make vectors of a loop, in this order.

Complex numbers by parts (`complex_parts`, `complex_exponentials`); then, where the C library has vectors of functions,
cosines apart from sines (`cosines_apart`), strides that are hidden (`hidden_strides`), and ends of rows (`row_ends`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name, integer
from dcpy.codegen.lir.traversal import bodies, operations_in, parts_of, statements, with_bodies
from dcpy.codegen.lower.cpu.complex_exponentials import by_tiles, exponentials
from dcpy.codegen.lower.cpu.complex_parts import ComplexParts, NotInParts, needs_parts
from dcpy.codegen.lower.cpu.cosines_apart import with_cosines_apart
from dcpy.codegen.lower.cpu.hidden_strides import SLOW, VECTORS, declared_strides, strides_of, with_hidden_strides
from dcpy.codegen.lower.cpu.row_ends import has_costly_ends, with_row_ends

FUNCTIONS = frozenset(("exp", "sin", "cos"))


def with_vector_loops(function: tree.Function) -> tree.Function:
    """A function of a CPU, whose loops of vectors are so."""
    if not any(map(_may_change, _vector_loops(function.body))):
        return function
    loops = _VectorLoops(function)
    body = loops.body(function.body)
    return replace(function, body=(*declared_strides(loops.hidden), *body))


def _apart(function: tree.Function) -> Iterator[str]:
    """Arrays that no other name means."""
    yield from (param.name for param in function.params if param.restrict)
    for statement in statements(function.body):
        match statement:
            case tree.StackBuffer(name=name) | tree.HeapBuffer(name=name) | tree.Declare(name=name, restrict=True):
                yield name


def names_taken(function: tree.Function) -> set[str]:
    """Names that mean something already: variables, arrays, labels."""
    found = {part.name for part in parts_of(function.body) if isinstance(part, Name)}
    found.update([param.name for param in function.params])
    for statement in statements(function.body):
        name = statement.var if isinstance(statement, tree.Loop) else getattr(statement, "name", "")
        if name:
            found.add(name)
    return found


def _vector_loops(body: tree.Body) -> list[tree.Loop]:
    found, waiting = list[tree.Loop](), [*body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, tree.Loop) and _is_vector_loop(statement):
            found.append(statement)
        elif not isinstance(statement, tree.Declare | tree.Assign | tree.CheckFail):
            for inner in bodies(statement):
                waiting += inner
    return found


def _is_vector_loop(loop: tree.Loop) -> bool:
    return any(isinstance(mark, tree.Simd) for mark in loop.marks)


def _may_change(loop: tree.Loop) -> bool:
    """Return whether a loop has complex numbers, functions, or roots of records: most loops have not."""
    found, is_complex = operations_in(loop.body)
    if is_complex or not VECTORS.isdisjoint(found):
        return True
    return not SLOW.isdisjoint(found) and bool(strides_of(loop))


def _has_rows(statement: tree.Statement) -> bool:
    """Return whether what is inside runs again and again, and is not a tile of a row."""
    return isinstance(statement, tree.While) or (
        isinstance(statement, tree.Loop) and not _is_vector_loop(statement) and statement.step == integer(1)
    )


@dataclass
class _VectorLoops:
    """The loops of one function."""

    function: tree.Function
    hidden: dict[int, Name] = field(default_factory=dict)

    @cached_property
    def names(self) -> Names:
        return Names(names_taken(self.function))

    def body(self, body: tree.Body, *, is_row: bool = False) -> tree.Body:
        return tuple(self._statement(statement, is_row) for statement in body)

    def _statement(self, statement: tree.Statement, is_row: bool) -> tree.Statement:
        is_row = is_row or _has_rows(statement)
        if not isinstance(statement, tree.Loop) or not _is_vector_loop(statement):
            return with_bodies(statement, lambda body: self.body(body, is_row=is_row))
        loop = self._by_parts(statement)
        return self._for_functions(loop, is_row) if VECTORS >= FUNCTIONS else loop

    def _by_parts(self, loop: tree.Loop) -> tree.Loop:
        if not operations_in(loop.body)[1]:
            return loop
        with suppress(NotInParts):
            if any(exponentials(loop.body)) and VECTORS >= FUNCTIONS:
                return by_tiles(loop, self.names)
        with suppress(NotInParts):
            if needs_parts(loop.body):
                return replace(loop, body=ComplexParts(self.names).body(loop.body))
        return loop

    def _for_functions(self, statement: tree.Statement, is_row: bool) -> tree.Statement:
        """Loops of vectors inside a statement, or itself, as they need to be for functions that have vectors."""
        if not isinstance(statement, tree.Loop) or not _is_vector_loop(statement):
            return with_bodies(statement, lambda body: tuple(self._for_functions(each, is_row) for each in body))
        loop = with_cosines_apart(statement) if operations_in(statement.body)[0] >= {"sin", "cos"} else statement
        if strides_of(loop):
            loop = with_hidden_strides(loop, self.names, self.hidden)
        if is_row and has_costly_ends(loop):
            return with_row_ends(loop, self.names, frozenset(_apart(self.function)))
        return loop

"""Vector loops: what g++ needs to make vectors of a loop, in this order.

Complex numbers by parts (`complex_parts`, `complex_exponentials`); then, where the C library has vectors of functions,
cosines apart from sines (`cosines_apart`), strides that are hidden (`hidden_strides`), and ends of rows (`row_ends`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from dcpy.base.vector_math import vector_functions
from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name, integer
from dcpy.codegen.lir.traversal import bodies, expressions, operations_in, parts, statements, with_bodies
from dcpy.codegen.lower.cpu.complex_exponentials import by_tiles, exponentials
from dcpy.codegen.lower.cpu.complex_parts import ComplexParts, NotInParts, needs_parts
from dcpy.codegen.lower.cpu.cosines_apart import with_cosines_apart
from dcpy.codegen.lower.cpu.hidden_strides import SLOW, declared_strides, strides_of, with_hidden_strides
from dcpy.codegen.lower.cpu.row_ends import with_row_ends

FUNCTIONS = frozenset(("exp", "sin", "cos"))


def with_vector_loops(function: tree.Function) -> tree.Function:
    """A function of a CPU, whose loops of vectors are so."""
    if not any(map(_may_change, _vector_loops(function.body))):
        return function
    names = Names((*_taken(function.body), *(param.name for param in function.params)))
    hidden: dict[int, Name] = {}
    body = _body(function.body, names, hidden)
    return replace(function, body=(*declared_strides(hidden), *body))


def _taken(body: tree.Body) -> Iterator[str]:
    """Names that mean something already: variables, arrays, labels."""
    for statement in statements(body):
        if isinstance(statement, tree.Loop):
            yield statement.var
        name = getattr(statement, "name", "")
        if name:
            yield name
        for expr in expressions(statement):
            yield from (part.name for part in parts(expr) if isinstance(part, Name))


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
    if is_complex or not vector_functions().isdisjoint(found):
        return True
    return not SLOW.isdisjoint(found) and bool(strides_of(loop))


def _body(body: tree.Body, names: Names, hidden: dict[int, Name], *, is_row: bool = False) -> tree.Body:
    return tuple(_statement(statement, names, hidden, is_row) for statement in body)


def _statement(statement: tree.Statement, names: Names, hidden: dict[int, Name], is_row: bool) -> tree.Statement:
    is_row = is_row or _has_rows(statement)
    if not isinstance(statement, tree.Loop) or not _is_vector_loop(statement):
        return with_bodies(statement, lambda body: _body(body, names, hidden, is_row=is_row))
    loop = _by_parts(statement, names)
    return _for_functions(loop, names, hidden, is_row) if vector_functions() >= FUNCTIONS else loop


def _has_rows(statement: tree.Statement) -> bool:
    """Return whether what is inside runs again and again, and is not a tile of a row."""
    return isinstance(statement, tree.While) or (
        isinstance(statement, tree.Loop) and not _is_vector_loop(statement) and statement.step == integer(1)
    )


def _by_parts(loop: tree.Loop, names: Names) -> tree.Loop:
    with suppress(NotInParts):
        if any(exponentials(loop.body)) and vector_functions() >= FUNCTIONS:
            return by_tiles(loop, names)
    with suppress(NotInParts):
        if needs_parts(loop.body):
            return replace(loop, body=ComplexParts(names).body(loop.body))
    return loop


def _for_functions(
    statement: tree.Statement, names: Names, hidden: dict[int, Name], is_row: bool
) -> tree.Statement:  # fmt: skip
    """Loops of vectors inside a statement, or itself, as they need to be for functions that have vectors."""
    if not isinstance(statement, tree.Loop) or not _is_vector_loop(statement):
        def inside(body: tree.Body) -> tree.Body:
            return tuple(_for_functions(each, names, hidden, is_row) for each in body)

        return with_bodies(statement, inside)
    loop = with_hidden_strides(with_cosines_apart(statement), names, hidden)
    return with_row_ends(loop, names) if is_row else loop

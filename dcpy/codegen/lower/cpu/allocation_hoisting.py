"""Hoisting of allocations: a buffer of the same size in each iteration of a map is allocated once per thread.

Private to an iteration means that no iteration sees what another one left, not that each has memory of its own: those
that one thread runs one after the other may use the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Literal, Name
from dcpy.codegen.lir.traversal import names_in, statements
from dcpy.codegen.lir.types import INDEX, TRUTH, Pointer
from dcpy.codegen.lower.context import Context


def take_buffers(body: tree.Body, params: Iterable[str]) -> tuple[tree.Body, tree.Body]:
    """The heap buffers of a loop's body that can be allocated before the loop, and the body without them."""
    buffers = [statement for statement in body if isinstance(statement, tree.HeapBuffer)]
    if not buffers:
        return (), body
    varying = {*params, *_changed(body)}
    fixed = tuple(one for one in buffers if not one.grows and varying.isdisjoint(names_in((one,))))
    return fixed, tuple(statement for statement in body if statement not in fixed)


def take_checks(buffers: tree.Body, body: tree.Body) -> tuple[tree.Body, tree.Body]:
    """The checks in a loop's body that there was memory for buffers before the loop, and the body without them."""
    heap = (each for each in buffers if isinstance(each, tree.HeapBuffer))
    nulls = [Context.is_null(Name(each.name, Pointer(each.element))) for each in heap]
    checks = tuple(each for each in body if isinstance(each, tree.CheckFail) and each.condition in nulls)
    return checks, tuple(each for each in body if each not in checks)


def grow_buffers(body: tree.Body) -> tuple[tree.Body, tree.Body]:
    """The other buffers of iterations that one thread runs, of any size: each grows to the largest one so far.

    before   loop i { heap t: f64[n] ... }    after   heap t: f64[0] grows;  var room = 0
                                                      loop i { if room < n { grow t to n keeping 0;  room = n } ... }
    """
    before: list[tree.Statement] = []
    inside: list[tree.Statement] = []
    for statement in body:
        if not isinstance(statement, tree.HeapBuffer) or statement.grows or statement.kept:
            inside.append(statement)
            continue
        room, count = Name(f"{statement.name}_room_", INDEX), statement.count
        none = Literal(0, INDEX)
        before += [replace(statement, count=none, grows=True), tree.Declare(room.name, INDEX, none)]
        grow = tree.Grow(statement.name, statement.element, none, count, span=statement.span)
        inside.append(tree.If(((Infix("<", room, count, TRUTH), (grow, tree.Assign(room, count))),)))
    return tuple(before), tuple(inside)


def _changed(body: tree.Body) -> Iterable[str]:
    """The variables that are declared or assigned in a body."""
    for statement in statements(body):
        match statement:
            case tree.Declare(name=name) | tree.Assign(target=Name(name=name)) | tree.Update(target=Name(name=name)):
                yield name
            case tree.Loop(var=var):
                yield var

"""Loop-invariant allocation: a buffer of the same size in each iteration of a map is allocated once per thread.

Private to an iteration means that no iteration sees what another one left, not that each has memory of its own: those
that one thread runs one after the other may use the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.walk import names_in, statements


def take_buffers(body: tree.Body, params: Iterable[str]) -> tuple[tree.Body, tree.Body]:
    """The heap buffers of a loop's body that can be allocated before the loop, and the body without them."""
    buffers = [statement for statement in body if isinstance(statement, tree.HeapBuffer)]
    if not buffers:
        return (), body
    varying = {*params, *_changed(body)}
    fixed = tuple(one for one in buffers if not one.grows and varying.isdisjoint(names_in((one,))))
    return fixed, tuple(statement for statement in body if statement not in fixed)


def _changed(body: tree.Body) -> Iterable[str]:
    """The variables that are declared or assigned in a body."""
    for statement in statements(body):
        match statement:
            case tree.Declare(name=name) | tree.Assign(target=Name(name=name)) | tree.Update(target=Name(name=name)):
                yield name
            case tree.Loop(var=var):
                yield var

"""Vector tokens: the types of tokens with several elements that a file of kernels has."""

from __future__ import annotations

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.traversal import statements
from dcpy.codegen.lir.types import Fifo, Lanes, Pointer, Reference


def lanes_in(module: tree.Module) -> list[Lanes]:
    """The types of tokens in a file, in their order, each once."""
    found: dict[Lanes, None] = {}
    for queue in module.channels:
        _note(queue.element, found)
    for function in module.functions:
        for param in function.params:
            _note(param.type, found)
        for statement in statements(function.body):
            match statement:
                case tree.Declare(type=kind) | tree.Queues(element=kind):
                    _note(kind, found)
    return list(found)


def _note(kind: object, found: dict[Lanes, None]) -> None:
    while isinstance(kind, Reference | Pointer | Fifo):
        kind = kind.element
    if isinstance(kind, Lanes):
        found[kind] = None

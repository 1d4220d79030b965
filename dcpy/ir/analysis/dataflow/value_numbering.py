"""Value numbering: a form of a node, equal for nodes that compute the same from the same operands.

Blocks have such a form, too. What only the node knows has no names of its own in it: connectors, parameters, private
containers, and the containers that it fills. Containers and symbols of the outside keep theirs; whether they hold the
same is for the caller to show.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import Any

from dcpy.ir.editing.copying import copy_block, copy_node
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import Const, Index, Ref, ScalarExpr, rewrite, substitute_refs, walk
from dcpy.ir.nodes import Node, Tasklet
from dcpy.ir.region import Block, Region
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import Element

_LEFT_OUT = ("span", "state", "region", "name")  # where it stands, and what it is called


def value_number(element: Element, results: Sequence[str]) -> Hashable:
    """The form of a node, or of a block, that fills the containers `results`, in this order."""
    params: dict[str, str] = {}
    containers = {name: f".{index}" for index, name in enumerate(results)}
    for region in (inner for outer in element.regions() for inner in outer.walk_regions()):
        params |= {name: f".p{len(params) + index}" for index, name in enumerate(region.params)}
        containers |= {name: f".c{len(containers) + index}" for index, name in enumerate(region.containers)}
    values = Substitution({old: sym(new) for old, new in params.items()}, containers)
    return _form(copy_node(element, values) if isinstance(element, Node) else copy_block(element, values))


def computation(element: Element) -> Hashable | None:
    """Return a key that is equal for nodes, or nodes within maps, that compute the same: kind, code, operands.

    None for what reads nothing. Less than a value number, and quick: which elements of operands are read is left out,
    and which symbols the code has in it, as parameters of maps have names of their own.
    """
    if not isinstance(element, Node) or element.regions():
        return None
    reads = tuple(memlet.container for memlet in element.reads())
    if not reads:
        return None
    code = _code(element) if isinstance(element, Tasklet) else ()
    return element.kind, reads, tuple((target, rewrite(expr, _without_symbols)) for target, expr in code)


def _without_symbols(part: ScalarExpr) -> ScalarExpr | None:
    return Const(0, part.dtype) if isinstance(part, Index) else None


def _form(value: Any) -> Hashable:
    match value:
        case Tasklet(inputs=inputs, outputs=outputs):
            return "tasklet", tuple(inputs.values()), tuple(outputs.values()), _code(value)
        case Node() | Block():
            held = ((part.name, getattr(value, part.name)) for part in fields(value) if part.name not in _LEFT_OUT)
            return value.kind, *((name, _form(its)) for name, its in held)
        case Region(containers=containers, blocks=blocks):
            return tuple(containers.items()), tuple(map(_form, blocks))
        case dict():
            return tuple((name, _form(its)) for name, its in value.items())
        case list() | tuple():
            return tuple(map(_form, value))
    found: Hashable = value
    return found


def _code(node: Tasklet) -> tuple[tuple[str, ScalarExpr], ...]:
    """The code of a tasklet, with connectors and local names numbered."""
    names = [*node.inputs, *node.outputs, *(target for target, _ in node.code)]
    numbers = {name: f".{index}" for index, name in enumerate(dict.fromkeys(names))}
    refs = {part.name: part for _, expr in node.code for part in walk(expr) if isinstance(part, Ref)}
    renamed = {name: Ref(numbers[name], ref.dtype) for name, ref in refs.items() if name in numbers}
    return tuple((numbers[target], substitute_refs(expr, renamed)) for target, expr in node.code)

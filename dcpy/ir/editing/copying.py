"""Copies of graphs: nodes, blocks, regions and SDFGs are copied, the frozen values on them are shared.

A `Substitution` gives the copy other names: what inlining and unrolling need. Nothing here touches the original.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from dcpy.ir.editing.substitution import Substitution, substitute_in_region, substitute_inside
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Owner, Region
from dcpy.ir.sdfg import Sdfg

N = TypeVar("N", bound=Node)
B = TypeVar("B", bound=Block)
S = TypeVar("S", bound=Sdfg)
E = TypeVar("E", bound=Node | Block)
_Callees = dict[Sdfg, Sdfg]


def copy_sdfg(sdfg: S) -> S:
    """A deep copy, callees included; a callee that is called twice stays one SDFG."""
    return _copy_sdfg(sdfg, {})


def become(sdfg: Sdfg, other: Sdfg) -> None:
    """Make an SDFG what another one is, which is given up for that."""
    vars(sdfg).clear()
    vars(sdfg).update(vars(other))
    sdfg.body.owner = sdfg


def copy_region(region: Region, values: Substitution | None = None) -> Region:
    """A copy without an owner, its declarations included, with names replaced if `values` are given.

    Calls in it call the same SDFGs.
    """
    copied = _copy_region(region, None, None)
    if values is not None:
        substitute_in_region(copied, values)
    return copied


def copy_block(block: B, values: Substitution | None = None) -> B:
    """A copy that is in no region, with names replaced if `values` are given."""
    copied = _copy_element(block, None)
    return copied if values is None else _substituted(copied, values)


def copy_node(node: N, values: Substitution | None = None) -> N:
    """A copy that is in no state, with names replaced if `values` are given."""
    copied = _copy_element(node, None)
    return copied if values is None else _substituted(copied, values)


def _substituted(element: E, values: Substitution) -> E:
    """`element`, which is nowhere yet, after replacing names on it and in its bodies."""
    substitute_inside(element, values)
    return element


def _copy_sdfg(sdfg: S, callees: _Callees) -> S:
    if sdfg in callees:
        return cast(S, callees[sdfg])
    copied = callees[sdfg] = object.__new__(type(sdfg))
    for name, value in vars(sdfg).items():
        vars(copied)[name] = _copy_value(value, copied, callees)
    return copied


def _copy_region(region: Region, owner: Owner | None, callees: _Callees | None) -> Region:
    copied = Region((), region.containers)
    copied.owner = owner
    for block in region.blocks:
        copied.add(_copy_element(block, callees))
    return copied


def _copy_element(element: E, callees: _Callees | None) -> E:
    """`callees` remembers copies of SDFGs; None shares the SDFGs themselves."""
    copied = object.__new__(type(element))
    home = "state" if isinstance(element, Node) else "region"
    for name, value in vars(element).items():
        vars(copied)[name] = None if name == home else _copy_value(value, copied, callees)
    if isinstance(copied, Block):
        for node in vars(copied).get("nodes", ()):
            node.state = copied
    return copied


def _copy_value(value: Any, owner: Any, callees: _Callees | None) -> Any:
    """Return a field's value: copied if it is mutable, else shared."""
    match value:
        case Region():
            return _copy_region(value, owner, callees)
        case Node() | Block():
            return _copy_element(value, callees)
        case Sdfg():
            return value if callees is None else _copy_sdfg(value, callees)
        case dict():
            return dict(value)
        case list():
            return [_copy_value(item, owner, callees) for item in value]
        case (_, Region()):  # a case of a branch
            return value[0], _copy_region(value[1], owner, callees)
    return value

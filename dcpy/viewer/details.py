"""Details of an element under the pointer: its kind, its fields, its text, its line of Python."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.dataflow_graph import AccessNode, Edge
from dcpy.ir.data import Data
from dcpy.ir.distribution import Distribution, Section
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.schedules import Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.ir.text.printer import print_block, print_node
from dcpy.ir.types import DType
from dcpy.viewer.pictures import Details

MOST_LINES = 24
_TOLD_ELSEWHERE = (
    "span",
    "state",
    "region",
    "inputs",
    "outputs",
    "body",
    "code",
    "nodes",
    "cases",
    "otherwise",
    "sdfg",
)


def details_of(element: Node | Block, sdfg: Sdfg) -> Details:
    """Details of a node or block: its plain fields, what it reads and writes by itself, its text."""
    shown = {f.name: _plain(getattr(element, f.name)) for f in fields(element) if f.name not in _TOLD_ELSEWHERE}
    rows = [[name, value] for name, value in shown.items() if value]
    text = print_node(element, sdfg) if isinstance(element, Node) else print_block(element, sdfg)
    return {"title": element.kind, "rows": rows, "text": _first_lines(text), **_place(element.span)}


def details_of_access(access: AccessNode, desc: Data, declaration: str) -> Details:
    """Details of an access node: how its container is declared, and which version this is."""
    number = access.version
    version = "as the state begins" if number == 0 else f"{number} of this state"
    return {"title": access.container, "rows": [["version", version]], "text": declaration, **_place(desc.span)}


def details_of_edge(edge: Edge) -> Details:
    """Details of a memlet."""
    memlet = edge.memlet
    if memlet is None:
        return {"title": edge.kind.value, "rows": [], "text": ""}
    rows = [["elements", ("at most " if memlet.dynamic else "") + str(memlet.volume)]]
    rows += [["combined by", memlet.wcr]] if memlet.wcr else []
    rows += [["connector", edge.connector]] if edge.connector else []
    return {"title": "memlet", "rows": rows, "text": str(memlet)}


def _place(span: SrcSpan | None) -> Details:
    return {} if span is None else {"place": str(span), "line": span.excerpt().strip()}


def _plain(value: object) -> str:
    """A field's value; "" for those that only the text shows."""
    match value:
        case Enum():
            return str(value.value)
        case bool() | int() | float() | str() | Expr() | Range() | DType() | Schedule() | Distribution() | Section():
            return str(value)
        case tuple() | list():
            return ", ".join(filter(None, map(_plain, value)))
        case dict():
            return ", ".join(f"{name} = {_plain(item)}" for name, item in value.items())
    return ""


def _first_lines(text: str) -> str:
    lines = text.splitlines()
    return text if len(lines) <= MOST_LINES else "\n".join([*lines[:MOST_LINES], "…"])

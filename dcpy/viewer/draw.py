"""Draws an SDFG: regions as stacks of blocks, states as dataflow graphs, scopes with their bodies inside.

Turns IR into `Picture`s; nothing here knows about HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from dcpy.ir.analysis.dataflow_graph import AccessNode, DataflowGraph, Edge, EdgeKind
from dcpy.ir.data import Scalar, Stream, View
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Branch, Loop, Region, State, While
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_block, print_expr
from dcpy.ir.text.declaration_printer import print_declaration
from dcpy.ir.text.printer import print_properties
from dcpy.viewer.details import details_of, details_of_access, details_of_edge
from dcpy.viewer.layered_layout import Layout, Point, layered
from dcpy.viewer.node_shapes import folded, octagon, oval, pill, scope
from dcpy.viewer.pictures import (
    CHARACTER,
    LINE,
    Canvas,
    Picture,
    beside,
    framed,
    lines_of_text,
    shortened,
    stacked,
    text_width,
)

BLOCK_GAP = 26.0


def draw_sdfg(sdfg: Sdfg) -> Picture:
    """The picture of one SDFG; callees are pictures of their own."""
    return _Drawer(sdfg).region(sdfg.body)


class _Drawer:
    def __init__(self, sdfg: Sdfg) -> None:
        self.sdfg = sdfg

    # -- control flow ------------------------------------------------------------------------------------------

    def region(self, region: Region) -> Picture:
        """Blocks in order; above them the containers that are private to the region."""
        match region.blocks:
            case [State(name="") as state] if isinstance(region.owner, Node):
                blocks = [self.dataflow(state)]
            case _:
                blocks = [self.block(block) for block in region.blocks]
        at_once = any(block.concurrent for block in region.blocks)
        body = beside(blocks) if at_once else stacked(blocks, BLOCK_GAP, arrows=True)
        if region is self.sdfg.body or not region.containers:
            return body
        lines = [
            shortened(print_declaration(name, desc, lambda other: self.sdfg.desc(other, region)), 60)
            for name, desc in region.containers.items()
        ]
        return stacked([lines_of_text(lines, "declaration", "start"), body], 12.0)

    def block(self, block: Block) -> Picture:
        details = details_of(block, self.sdfg)
        match block:
            case State():
                return framed(self.dataflow(block), block.name or "state", "state", details)
            case Loop():
                return framed(self.region(block.body), f"for {block.param} in {block.range}", "control loop", details)
            case While():
                title = f"while {shortened(print_expr(block.condition), 60)}"
                return framed(self.region(block.body), title, "control loop", details)
            case Branch():
                return self.branch(block)
        if block.regions():
            title = print_block(block, self.sdfg).split("\n")[0].rstrip(" {")
            bodies = beside([self.region(body) for body in block.regions()])
            return framed(bodies, shortened(title, 60), f"control {block.kind}", details)
        return pill(shortened(print_block(block, self.sdfg), 70), f"step {block.kind}", details)

    def branch(self, branch: Branch) -> Picture:
        titles = [
            f"{'else if' if number else 'if'} {shortened(print_expr(condition), 60)}"
            for number, (condition, _) in enumerate(branch.cases)
        ]
        titles += ["else"] if branch.otherwise is not None else []
        details = details_of(branch, self.sdfg)
        return beside(
            [
                framed(self.region(body), title, "control branch", details)
                for title, body in zip(titles, branch.regions(), strict=True)
            ]
        )

    # -- dataflow ----------------------------------------------------------------------------------------------

    def dataflow(self, state: State) -> Picture:
        """Nodes and edges of a state. The label of a memlet is a vertex of the layout, so it covers nothing."""
        graph = DataflowGraph(state)
        pictures: list[Picture] = []
        lines: list[tuple[int, int]] = []
        edges: list[tuple[Edge, bool]] = []  # of each line, and whether the edge ends there
        places: dict[Node | AccessNode, int] = {}
        for node in graph.nodes:
            arriving = []
            for edge in graph.in_edges(node):
                source = places[edge.source]
                if edge.memlet is not None:
                    pictures.append(_memlet_label(edge))
                    lines.append((source, len(pictures) - 1))
                    edges.append((edge, False))
                    source = len(pictures) - 1
                arriving.append((source, edge))
            pictures.append(self.node(node, state))
            places[node] = len(pictures) - 1
            lines += [(source, places[node]) for source, _ in arriving]
            edges += [(edge, True) for _, edge in arriving]
        layout = layered([(picture.width, picture.height) for picture in pictures], lines)
        return _composed(layout, pictures, edges)

    def node(self, node: Node | AccessNode, state: State) -> Picture:
        if isinstance(node, AccessNode):
            return self.access(node, state)
        details = details_of(node, self.sdfg)
        match node:
            case Tasklet():
                code = [shortened(f"{name} = {print_expr(value)}") for name, value in node.code]
                return octagon([node.name, *code] if node.name else code, details)
            case Map():
                domain = ", ".join(f"{name} = {dim}" for name, dim in zip(node.params, node.domain, strict=True))
                return scope(f"map {domain}{_schedule(node)}", self.region(node.body), "map", details)
            case Copy():
                return pill("copy", "copy", details)
            case Call():
                return folded([f"call {node.sdfg.name}"], "call", details)
            case LibraryNode():
                return folded([node.kind, *map(shortened, print_properties(node))], "library", details)
            case Callback():
                return folded([f"{node.function}()", "in Python"], "foreign", details)
            case ForeignCall():
                return folded([f"{node.function}()", f"from {node.environment}"], "foreign", details)
        return folded([node.kind], "library", details)

    def access(self, access: AccessNode, state: State) -> Picture:
        name, region = access.container, state.region
        desc = self.sdfg.desc(name, region)
        declaration = print_declaration(name, desc, lambda other: self.sdfg.desc(other, region))
        kinds = {View: "view", Stream: "stream", Scalar: "scalar"}
        css = f"{kinds.get(type(desc), 'array')} {'transient' if desc.transient else 'argument'}"
        return oval(name, css, details_of_access(access, desc, declaration), data_container=name)


def _schedule(node: Map) -> str:
    return f"  {node.schedule}".rstrip()


def _memlet_label(edge: Edge) -> Picture:
    text = shortened(_label(edge), 44)
    size = text_width(text) * 0.92 + 8

    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group("memlet", details_of_edge(edge)):
            canvas.element("rect", x=x, y=y, width=size, height=LINE, rx=4)
            canvas.text(x + size / 2, y + LINE * 0.75, text)

    return Picture(size, LINE, paint)


def _label(edge: Edge) -> str:
    """``a = A[i]`` where a connector gets an element, ``A[i]`` elsewhere."""
    if edge.memlet is None:
        return ""
    moved = str(replace(edge.memlet, dynamic=False))
    into = isinstance(edge.target, Node)
    return f"{edge.connector} = {moved}" if into and edge.connector else moved


def _composed(layout: Layout, pictures: Sequence[Picture], edges: Sequence[tuple[Edge, bool]]) -> Picture:
    """Pictures at their places, on top of the edges."""

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for path, (edge, is_last) in zip(layout.paths, edges, strict=True):
            tip = " tip" if is_last and edge.kind is not EdgeKind.VIEW else ""
            wcr = " wcr" if edge.memlet is not None and edge.memlet.wcr else ""
            canvas.element("path", d=_path(path, x, y, tip=bool(tip)), class_=f"edge {edge.kind.value}{tip}{wcr}")
        for picture, (left, top) in zip(pictures, layout.positions, strict=True):
            picture.paint(canvas, x + left, y + top)

    return Picture(max(layout.width, CHARACTER), layout.height, paint)


def _path(points: list[Point], x: float, y: float, *, tip: bool) -> str:
    """Straight within layers, curved between them. Room is left for the tip of the arrow."""
    places = [(x + px, y + py) for px, py in points]
    if tip:
        end_x, end_y = places[-1]
        places[-1] = (end_x, end_y - 2)
        places[-2] = (end_x, min(places[-2][1], end_y - 2))
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
    for number, ((from_x, from_y), (to_x, to_y)) in enumerate(pairwise(places)):
        if number % 2:
            middle = (from_y + to_y) / 2
            path += f"C{from_x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
        elif from_y != to_y:
            path += f"V{to_y:.1f}"
    return path

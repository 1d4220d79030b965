"""No module imports itself by a detour: every file can be understood after those that it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from tests.support.syntax_trees import tree_of

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "dcpy").rglob("*.py"))
}


#: types that are recursive, in several files: a map has a body, whose nodes are maps; a list has values, as items
RECURSIVE_TYPES = [
    [
        "dcpy.frontend.abstract_values.dynamic_arrays",
        "dcpy.frontend.abstract_values.list_values",
        "dcpy.frontend.abstract_values.packed_items",
        "dcpy.frontend.abstract_values.values",
    ],
    [
        "dcpy.ir.field_roles",
        "dcpy.ir.nodes",
        "dcpy.ir.region",
        "dcpy.ir.sdfg",
    ],
]


#: where statements hold statements: imports are nowhere else
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def imported(node: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """What is imported below `node`, inside functions too; names for the type checker alone only if asked for."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) if not for_types:
            return
        case ast.ImportFrom(module=str(module), names=names):
            yield from (full if (full := f"{module}.{name.name}") in MODULES else module for name in names)
        case ast.Import(names=names):
            yield from (name.name for name in names)
    for body in BODIES:
        for child in getattr(node, body, ()):
            yield from imported(child, for_types=for_types)


def with_packages(name: str, other: str) -> Iterator[str]:
    """What importing `other` runs: the module, and before it the packages around it that `name` is not in itself."""
    yield other
    while "." in other:
        other = other.rpartition(".")[0]
        if not f"{name}.".startswith(f"{other}."):
            yield other


def circles(graph: nx.DiGraph) -> list[list[str]]:
    return sorted(sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1)


def test_no_import_cycles():
    """So any module can be the first that is imported."""
    graph = nx.DiGraph()
    for name, path in MODULES.items():
        found = [other for other in imported(tree_of(path)) if other in MODULES and other != name]
        graph.add_edges_from((name, run) for other in found for run in with_packages(name, other))
    assert not circles(graph)


def test_no_cycles_of_names():
    """So every file can be read after those that it speaks of; types that are recursive are read together."""
    graph = nx.DiGraph()
    for name, path in MODULES.items():
        found = imported(tree_of(path), for_types=True)
        graph.add_edges_from((name, other) for other in found if other in MODULES and other != name)
    assert circles(graph) == RECURSIVE_TYPES

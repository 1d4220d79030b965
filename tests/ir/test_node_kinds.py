"""How many files know each kind of node or block: what a new kind, or a change of one, costs. They rise by an
analysis of what the kind itself computes, and by nothing else.

A file *asks* for a kind where it decides by it (`isinstance`, `case`, a dispatch, a key of a table); such files must be
read, and perhaps changed, when there is a new kind beside it. The classes' own modules, text, JSON, the lowering to
code and derivatives are not counted: a new kind is written there in any case.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcpy.ir import nodes, region
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block

ROOT = Path(__file__).parents[2]
OWN = (
    *(f"dcpy/ir/{name}.py" for name in ("nodes", "region")),
    *(f"dcpy/ir/library/{name}.py" for name in ("callback_table", "foreign_functions", "library_kinds")),
)
WRITTEN_ANYWAY = ("dcpy/ir/text/", "dcpy/ir/files/", "dcpy/codegen/lower/", "dcpy/autodiff/")
KINDS = [
    name
    for module in (nodes, region)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, Node | Block) and cls.__module__ == module.__name__ and cls.kind
]
#: what transformations are about, data and control flow: there they are not counted
SUBJECTS = {"Map", "Tasklet", "Copy"} | {name for name in KINDS if issubclass(getattr(region, name, Node), Block)}
TRANSFORMATIONS = ("dcpy/transforms/", "dcpy/libraries/")
#: at most so many files ask for a kind
MOST = {
    "Tasklet": 13, "Copy": 8, "Map": 18, "Call": 5, "LibraryNode": 8, "ForeignCall": 5, "Callback": 3,
    "State": 24, "Loop": 15, "While": 8, "Branch": 11, "Dataflow": 3, "Process": 4, "SymbolAssign": 14,
    "Resize": 5, "Check": 7, "Break": 4, "Continue": 3, "Return": 4,
}  # fmt: skip


def imported(tree: ast.Module) -> dict[str, str]:
    """The kinds that a module imports, by the names that they have there."""
    return {
        name.asname or name.name: name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("dcpy.ir.nodes", "dcpy.ir.region")
        for name in node.names
    }


def decisions(tree: ast.Module) -> Iterator[ast.AST]:
    """The parts of a module where a class decides what happens."""
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass(cls=cls):
                yield cls
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, *classes]):
                yield from classes
            case ast.Call(func=ast.Attribute(attr="register"), args=classes):
                yield from classes
            case ast.FunctionDef(name="_", args=args):
                yield from (arg.annotation for arg in args.args if arg.annotation is not None)
            case ast.Dict(keys=keys):
                yield from (key for key in keys if key is not None)


def kinds_asked_for(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    names = imported(tree)
    found = (part.id for decision in decisions(tree) for part in ast.walk(decision) if isinstance(part, ast.Name))
    return {names[name] for name in found if name in names}


@pytest.fixture(scope="module")
def askers() -> dict[str, list[str]]:
    return files_by_kind()


def files_by_kind() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in sorted((ROOT / "dcpy").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name not in OWN and not name.startswith(WRITTEN_ANYWAY):
            for kind in kinds_asked_for(path) & found.keys():
                if kind not in SUBJECTS or not name.startswith(TRANSFORMATIONS):
                    found[kind].append(name)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_few_files_ask_for_a_kind(kind, askers):
    assert len(askers[kind]) <= MOST[kind], "\n".join(askers[kind])


def test_the_numbers_are_those_of_today(askers):
    """Whoever makes them smaller writes that down, so that they stay so."""
    assert {kind: len(askers[kind]) for kind in KINDS if MOST[kind] > len(askers[kind]) + 1} == {}


def test_a_library_is_known_in_its_own_folder_alone():
    """A node of a library is its class, its expansions and a line in the catalog: three files."""
    folders = [path for path in sorted((ROOT / "dcpy" / "libraries").iterdir()) if (path / "nodes.py").exists()]
    found = [
        f"{path.relative_to(ROOT)} knows {folder.name}"
        for folder in folders
        for path in sorted((ROOT / "dcpy").rglob("*.py"))
        if folder not in path.parents and f"dcpy.libraries.{folder.name}.nodes import" in path.read_text()
    ]
    assert folders
    assert found == []


def test_questions_are_found():
    tree = ast.parse(
        "from dcpy.ir.nodes import Map as M, Copy, Call\n"
        "def f(x):\n"
        "    isinstance(x, M | Copy)\n"
        "    match x:\n"
        "        case Call(): pass\n"
    )
    names = imported(tree)
    assert names == {"M": "Map", "Copy": "Copy", "Call": "Call"}
    found = {part.id for cls in decisions(tree) for part in ast.walk(cls) if isinstance(part, ast.Name)}
    assert found == {"M", "Copy", "Call"}

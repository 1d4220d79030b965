"""Modules that docstrings, comments and documents name in backticks exist.

A dotted name such as `lower.control.joins` is looked up from ``dcpy`` and from the packages around the file that says
it. Names of other kinds with a dot (NumPy's, rules, options) are those of today, too.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dcpy.base.options import option_names
from dcpy.ir.verify import rules
from tests.support.syntax_trees import nodes_of, tree_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dcpy"
TEXTS = [*sorted(PACKAGE.rglob("*.py")), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
DOTTED = re.compile(r"(?<!`)``?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:\(\))?``?(?!`)")
CHAPTERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
SHORT = {"lower": "frontend/lower", "analysis": "ir/analysis"}  # as documents abbreviate them
LIBRARIES = ("numpy", "scipy")


@cache
def defined_in(module: Path) -> frozenset[str]:
    """The top-level names of a module, those of conditional and lazy imports included."""
    found: set[str] = set()
    for node in nodes_of(tree_of(module)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name)
            case ast.Constant(value=str(name)) if name.isidentifier():
                found.add(name)  # exported lazily
    return frozenset(found)


def leads_from(folder: Path, parts: list[str]) -> bool:
    """Whether a dotted name is a module in `folder`, or a name that one of them defines."""
    for position, part in enumerate(parts):
        if (folder / part).is_dir():
            folder /= part
            continue
        module = folder / f"{part}.py"
        if module.exists():
            return all(name in defined_in(module) for name in parts[position + 1 : position + 2])
        return (folder / "__init__.py").exists() and part in defined_in(folder / "__init__.py")
    return True


def folders_for(parts: list[str], text: Path) -> list[Path]:
    """The folders in which a dotted name of `text` may begin; none where it is no name of a module."""
    if parts[0] == "dcpy":
        return [ROOT] if parts[1] in CHAPTERS else []
    found = [PACKAGE] if parts[0] in CHAPTERS else []
    if PACKAGE in text.parents:
        return found + [folder for folder in text.parents if PACKAGE in folder.parents and (folder / parts[0]).is_dir()]
    return found + ([(PACKAGE / SHORT[parts[0]]).parent] if parts[0] in SHORT else [])


@cache
def other_names() -> frozenset[str]:
    """Names of rules, options and node kinds, which have dots as well."""
    found = {name for path in Path(rules.__file__).parent.glob("*.py") for name in RULE.findall(path.read_text())}
    return frozenset(found | set(option_names()))


RULE = re.compile(r'@rule\("([\w.-]+)"')


def is_of_a_library(parts: list[str]) -> bool:
    if parts[0] not in LIBRARIES:
        return False
    found: object = pytest.importorskip(parts[0]) if parts[0] == "scipy" else importlib.import_module(parts[0])
    try:
        for number, part in enumerate(parts[1:], start=1):
            found = getattr(found, part, None) or importlib.import_module(".".join(parts[: number + 1]))
    except ImportError:
        return False
    return True


def stale(text: Path, content: str) -> Iterator[str]:
    for number, line in enumerate(content.splitlines(), start=1):
        for match in DOTTED.finditer(line):
            parts = match[1].split(".")
            folders = folders_for(parts, text)
            if not folders or any(leads_from(folder, parts) for folder in [*folders, PACKAGE]):
                continue
            if match[1] not in other_names() and not is_of_a_library(parts):
                yield f"{text.relative_to(ROOT)}:{number}: {match[1]}"


def test_modules_in_backticks_exist():
    found = [reference for text in TEXTS for reference in stale(text, text.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "reference",
    [
        "`dcpy.ir.analysis.nowhere`",
        "`frontend.lower.versions`",
        "`lower.assuming`",
        "``ir.analysis.touches``",
        "`gpu.wrap`",
    ],
)
def test_a_module_that_is_gone_is_found(reference):
    text = PACKAGE / "runtime" / "gpu" / "nvrtc.py" if "gpu" in reference else PACKAGE / "frontend" / "mapscope.py"
    assert len(list(stale(text, f"See {reference}."))) == 1


@pytest.mark.parametrize(
    "reference",
    [
        "`dcpy.ir.analysis`",
        "`frontend.lower.control.joins`",
        "`lower.control.joins.join`",
        "`codegen.vectors`",
        "`numpy.fft`",
        "`comm.SUM`",
        "`x.y`",
        "`np.add`",
    ],
)
def test_names_of_today_are_none(reference):
    assert list(stale(PACKAGE / "frontend" / "mapscope.py", f"See {reference}.")) == []

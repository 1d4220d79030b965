"""Syntax trees of files: parsed, and walked, once for all tests that read them."""

from __future__ import annotations

import ast
import functools
from pathlib import Path


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The tree of a file of Python."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes, in the order of `ast.walk`."""
    return tuple(ast.walk(tree))

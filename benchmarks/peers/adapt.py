"""What each framework asks for in a kernel's source: imports, decorators, type comments. Nothing else is rewritten.

An adaptation takes a `Subject` and returns the source to run (`adapt_dace` and `adapt_jax` have those that take more
than a line or two). `lines` and `coverage` are the metrics of NPBench, section 5.1, on such texts.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.peers.subject import Subject

Adaptation = Callable[[Subject], str]


def unchanged(subject: Subject) -> str:
    return subject.source


def for_dcpy(subject: Subject) -> str:
    return decorated(subject.source, "import dcpy", "@dcpy.program(auto_optimize=True)", only=subject.name)


def for_dcpy_plain(subject: Subject) -> str:
    return decorated(subject.source, "import dcpy", "@dcpy.program", only=subject.name)


def for_numba_parallel(subject: Subject) -> str:
    return decorated(subject.source, "import numba as nb", "@nb.njit(parallel=True, fastmath=True)")


def for_numba(subject: Subject) -> str:
    return decorated(subject.source, "import numba as nb", "@nb.njit(fastmath=True)")


def for_pythran(subject: Subject) -> str:
    types = ", ".join(_pythran_type(value) for value in subject.arguments.values())
    return f"# pythran export {subject.name}({types})\n{subject.source}"


def _pythran_type(value: Any) -> str:
    if hasattr(value, "dtype"):
        dimensions = ",".join(":" * value.ndim)
        return f"{value.dtype}[{dimensions}]" if dimensions else str(value.dtype)
    return type(value).__name__


def decorated(source: str, imports: str, decorator: str, only: str | None = None) -> str:
    """The source with more imports, and a decorator before each top-level function (or `only` that one)."""
    lines = source.splitlines()
    body = ast.parse(source).body
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef) and only in (None, node.name):
            lines.insert(node.lineno - 1, decorator)
    first_import = next(node for node in body if isinstance(node, ast.Import))
    lines.insert(first_import.lineno - 1, imports)
    return "\n".join(lines) + "\n"


def lines(source: str) -> list[str]:
    """The lines of code: no blank lines, comments (but those that declare types) or docstrings."""
    kept = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            kept[text.lineno - 1 : text.end_lineno] = [""] * ((text.end_lineno or 0) - text.lineno + 1)
    stripped = (line.strip() for line in kept)
    return [line for line in stripped if line and (not line.startswith("#") or line.startswith("# pythran"))]


def coverage(original: str, adapted: str) -> float:
    """The share of the original's lines that the adapted text still has, from 0 to 1."""
    before, after = Counter(lines(original)), Counter(lines(adapted))
    return (before & after).total() / before.total()

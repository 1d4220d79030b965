"""What each framework asks for in a kernel's source: imports, decorators, type comments. Nothing is rewritten.

Every function takes the source of a kernel's module (without `initialize`), the kernel's name and its arguments, and
returns the source to run. `lines` and `coverage` are the metrics of NPBench, section 5.1, on such texts.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any


def unchanged(source: str, name: str, arguments: dict[str, Any]) -> str:
    return source


def for_dcpy(source: str, name: str, arguments: dict[str, Any]) -> str:
    return _decorated(source, "import dcpy", "@dcpy.program(auto_optimize=True)", only=name)


def for_dcpy_plain(source: str, name: str, arguments: dict[str, Any]) -> str:
    return _decorated(source, "import dcpy", "@dcpy.program", only=name)


def for_numba_parallel(source: str, name: str, arguments: dict[str, Any]) -> str:
    return _decorated(source, "import numba as nb", "@nb.njit(parallel=True, fastmath=True)")


def for_numba(source: str, name: str, arguments: dict[str, Any]) -> str:
    return _decorated(source, "import numba as nb", "@nb.njit(fastmath=True)")


def for_dace(source: str, name: str, arguments: dict[str, Any]) -> str:
    return _decorated(source, "import dace", "@dace.program(auto_optimize=True)", only=name)


def for_jax(source: str, name: str, arguments: dict[str, Any]) -> str:
    """Python integers are sizes and trip counts, which JAX must know when it traces."""
    static = tuple(key for key, value in arguments.items() if type(value) is int)
    decorator = f"@functools.partial(jax.jit, static_argnames={static!r})"
    traced = source.replace("import numpy as np", "import jax.numpy as np")
    return _decorated(traced, "import functools\nimport jax", decorator, only=name)


def for_pythran(source: str, name: str, arguments: dict[str, Any]) -> str:
    types = ", ".join(_pythran_type(value) for value in arguments.values())
    return f"# pythran export {name}({types})\n{source}"


def _pythran_type(value: Any) -> str:
    if hasattr(value, "dtype"):
        dimensions = ",".join(":" * value.ndim)
        return f"{value.dtype}[{dimensions}]"
    return type(value).__name__


def _decorated(source: str, imports: str, decorator: str, only: str | None = None) -> str:
    """The source with more imports, and a decorator before each top-level function (or `only` that one)."""
    lines = source.splitlines()
    body = ast.parse(source).body
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef) and only in (None, node.name):
            lines.insert(node.lineno - 1, decorator)
    first_import = next(node for node in body if isinstance(node, ast.Import))
    lines.insert(first_import.lineno - 1, imports)
    return "\n".join(lines) + "\n"


def computing_source(source: str) -> str:
    """A kernel's module without `initialize`, which is not measured."""
    lines = source.splitlines()
    (setup,) = (n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "initialize")
    del lines[setup.lineno - 1 : setup.end_lineno]
    return "\n".join(lines).rstrip() + "\n"


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

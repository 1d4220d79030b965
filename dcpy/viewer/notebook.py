"""Notebook view of a program: its source, its location, and the types that it has been compiled for."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from types import FunctionType

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan, definition_span
from dcpy.frontend.introspection.function_source import Source, read_source
from dcpy.viewer.page import template


def program_html(function: FunctionType, versions: Mapping[str, float]) -> str:
    """`versions`: for each signature that the program has been compiled for, the seconds that this took."""
    try:
        lines = _lines(read_source(function))
    except FrontendError:
        lines = []
    return template("notebook.html.j2").render(
        name=function.__qualname__,
        place=str(definition_span(function.__code__)),
        source=textwrap.dedent("\n".join(lines)),
        versions=[(function.__name__ + known, f"{seconds:.3g}") for known, seconds in versions.items()],
    )


def _lines(source: Source) -> list[str]:
    first = min((source.node.lineno, *(part.lineno for part in getattr(source.node, "decorator_list", ()))))
    last = source.node.end_lineno or first
    return [SrcSpan(source.file, number).excerpt() for number in range(first, last + 1)]

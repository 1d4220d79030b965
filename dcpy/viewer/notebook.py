"""Notebook view of a program: its source, its location, and the types that it has been compiled for."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from html import escape
from types import FunctionType

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan, definition_span
from dcpy.frontend.introspection.function_source import Source, read_source


def program_html(function: FunctionType, versions: Mapping[str, float]) -> str:
    """`versions`: for each signature that the program has been compiled for, the seconds that this took."""
    try:
        lines = _lines(read_source(function))
    except FrontendError:
        lines = []
    rows = "".join(
        f"<tr><td style='text-align: left'><code>{escape(function.__name__ + known)}</code></td>"
        f"<td>{seconds:.3g} s</td></tr>"
        for known, seconds in versions.items()
    )
    table = f"<table><tr><th style='text-align: left'>compiled for</th><th>in</th></tr>{rows}</table>"
    code = f"<pre><code>{escape(textwrap.dedent(chr(10).join(lines)))}</code></pre>" if lines else ""
    place = escape(str(definition_span(function.__code__)))
    title = f"<b>dcpy.program</b> <code>{escape(function.__qualname__)}</code> ({place})"
    return f"<div>{title}{code}{table if rows else '<i>not compiled yet</i>'}</div>"


def _lines(source: Source) -> list[str]:
    first = min((source.node.lineno, *(part.lineno for part in getattr(source.node, "decorator_list", ()))))
    last = source.node.end_lineno or first
    return [SrcSpan(source.file, number).excerpt() for number in range(first, last + 1)]

"""The HTML page of an SDFG: pictures, a panel for what is pointed at, the containers, the text. Needs no network."""

from __future__ import annotations

import json
from html import escape

from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.declaration_printer import print_declaration
from dcpy.ir.text.printer import print_sdfg
from dcpy.viewer.draw import draw_sdfg
from dcpy.viewer.pictures import Canvas
from dcpy.viewer.script import SCRIPT
from dcpy.viewer.style import STYLE

MARGIN = 12.0
_HINT = "Point at a node, a memlet or a block; click to keep it here."
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0.5L7 4L0 7.5z"/></marker></defs>'
)


def view_html(sdfg: Sdfg) -> str:
    """One self-contained HTML document: SVG, style and script inside, nothing loaded from elsewhere.

    What UTF-8 cannot encode, which names in a file may hold, is shown by its number.
    """
    canvas = Canvas()
    sections = [_section(each, canvas, is_callee=each is not sdfg) for each in sdfg.with_callees()]
    text = print_sdfg(sdfg)
    header = text.partition("\n")[0].removesuffix(" {")
    page = "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(sdfg.name)}</title><style>{STYLE}</style></head><body><main>",
            f"<header><h1>{escape(sdfg.name)}</h1><code>{escape(header)}</code></header>",
            f"<div>{''.join(sections)}</div>",
            f'<aside><div id="panel"><p class="hint">{_HINT}</p></div>',
            f"<div><h2>Containers</h2>{_containers(sdfg)}</div></aside>",
            f"<details><summary>Text</summary><pre>{escape(text)}</pre></details></main>",
            f'<script type="application/json" id="details">{_script_json(canvas.details)}</script>',
            f"<script>{SCRIPT}</script></body></html>",
        ]
    )
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def notebook_html(sdfg: Sdfg, height: int = 640) -> str:
    """`view_html` in a frame of its own, so that it and a notebook's page leave each other alone."""
    document = escape(view_html(sdfg))
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<iframe srcdoc="{document}" style="{style}" sandbox="allow-scripts"></iframe>'


def _section(sdfg: Sdfg, canvas: Canvas, *, is_callee: bool) -> str:
    picture = draw_sdfg(sdfg)
    start = len(canvas.parts)
    picture.paint(canvas, MARGIN, MARGIN)
    content = "".join(canvas.parts[start:])
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    title = f"<h2>{escape(sdfg.name)}</h2>" if is_callee else ""
    return (
        f'<section>{title}<div class="canvas"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="dataflow of {escape(sdfg.name)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">{_TIP}{content}</svg></div></section>'
    )


def _containers(sdfg: Sdfg) -> str:
    rows = []
    for name, desc in sdfg.containers.items():
        keyword, _, what = print_declaration(name, desc, sdfg.desc).partition(f" {name}: ")
        what = what if keyword == "data" else f"{keyword} {what}"
        rows.append(f"<tr><td><code>{escape(name)}</code></td><td><code>{escape(what)}</code></td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")

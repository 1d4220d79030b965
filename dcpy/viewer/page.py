"""The HTML page of an SDFG: pictures, a panel for what is pointed at, the containers, the text. Needs no network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.templates import environment_of
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.declaration_printer import print_declaration
from dcpy.ir.text.printer import print_sdfg
from dcpy.viewer.draw import draw_sdfg
from dcpy.viewer.pictures import Canvas
from dcpy.viewer.script import SCRIPT
from dcpy.viewer.style import STYLE

if TYPE_CHECKING:
    import jinja2

MARGIN = 12.0
TEMPLATES = Path(__file__).parent / "templates"


def view_html(sdfg: Sdfg) -> str:
    """One self-contained HTML document: SVG, style and script inside, nothing loaded from elsewhere.

    What UTF-8 cannot encode, which names in a file may hold, is shown by its number.
    """
    canvas = Canvas()
    sections = [_section(each, canvas, is_callee=each is not sdfg) for each in sdfg.with_callees()]
    text = print_sdfg(sdfg)
    header = text.partition("\n")[0].removesuffix(" {")
    page = template("page.html.j2").render(
        name=sdfg.name,
        style=STYLE,
        header=header,
        sections=sections,
        containers=_containers(sdfg),
        text=text,
        details=_script_json(canvas.details),
        script=SCRIPT,
    )
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def notebook_html(sdfg: Sdfg, height: int = 640) -> str:
    """`view_html` in a frame of its own, so that it and a notebook's page leave each other alone."""
    return template("frame.html.j2").render(document=view_html(sdfg), height=height)


@cache
def template(name: str) -> jinja2.Template:
    """A template of the viewer."""
    return environment_of(TEMPLATES, {"html": escape}).get_template(name)


def _section(sdfg: Sdfg, canvas: Canvas, *, is_callee: bool) -> dict[str, str]:
    """Return the template's values for one graph; `content` is SVG."""
    picture = draw_sdfg(sdfg)
    start = len(canvas.parts)
    picture.paint(canvas, MARGIN, MARGIN)
    return {
        "name": sdfg.name,
        "title": sdfg.name if is_callee else "",
        "width": f"{picture.width + 2 * MARGIN:.0f}",
        "height": f"{picture.height + 2 * MARGIN:.0f}",
        "content": "".join(canvas.parts[start:]),
    }


def _containers(sdfg: Sdfg) -> Iterator[tuple[str, str]]:
    for name, desc in sdfg.containers.items():
        keyword, _, what = print_declaration(name, desc, sdfg.desc).partition(f" {name}: ")
        yield name, what if keyword == "data" else f"{keyword} {what}"


def _script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")

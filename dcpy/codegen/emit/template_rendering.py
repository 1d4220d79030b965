"""Template rendering: templates of generated code and projects, with the filters that quote for each language."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcpy.base.templates import environment_of
from dcpy.codegen.emit.comments import comment
from dcpy.codegen.emit.status_messages import quoted

if TYPE_CHECKING:
    import jinja2

FOLDER = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """Fill a template of `templates/`; a name that it uses and does not get is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    filters = {"comment": comment, "quoted": quoted, "docstring": _docstring, "toml": _toml, "c_text": _c_text}
    return environment_of(FOLDER, filters)


def _docstring(text: str) -> str:
    """The text for the inside of three quotes."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').rstrip('"')


def _toml(text: str) -> str:
    """A string of TOML, which quotes as JSON does."""
    return json.dumps(text)


def _c_text(text: str) -> str:
    """A text as a string of C, a line of it on each line."""
    if not text:
        return '""'
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") for line in text.split("\n"))
    return "\n" + "\n".join(f'    "{line}\\n"' for line in escaped)

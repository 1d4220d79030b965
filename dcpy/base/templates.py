"""Templates: how jinja2 is set up wherever a generated file, script or page is filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


def environment_of(folder: Path, filters: Mapping[str, Callable[..., str]]) -> jinja2.Environment:
    """Return the templates of a folder; a name that one uses and does not get is an error.

    Nothing is escaped by itself: languages differ, and each has its filter.
    """
    import jinja2  # late: a warm start generates nothing

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= filters
    return made

"""Annotated source: generated text, each line with the line of Python that it comes from, where that changes.

Compiled text holds no places, so that a program in another file is the same program.
"""

from __future__ import annotations

from dcpy.codegen.artifact import HEADERS, Artifact, Unit
from dcpy.codegen.emit.comments import comment


def listings(artifact: Artifact) -> tuple[tuple[str, str], ...]:
    """The units of an artifact, (name, text), with comments that name the places in Python.

    Without headers that are the same for all programs.
    """
    return tuple((unit.name, _listing(unit)) for unit in artifact.units if unit.language or unit.name not in HEADERS)


def listing(artifact: Artifact) -> str:
    """All units in one text; where there are several, each below a line with its name and language."""
    units = listings(artifact)
    if len(units) == 1:
        return units[0][1]
    languages = {unit.name: unit.language or "read by others" for unit in artifact.units}
    return "\n".join(f"// == {name} ({languages[name]})\n\n{text}" for name, text in units)


def _listing(unit: Unit) -> str:
    lines = unit.text.splitlines()
    for number, span in unit.places:
        lines[number - 1] += f"  // {comment(str(span))}"
    return "\n".join(lines) + "\n"

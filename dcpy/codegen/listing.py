"""Generated text for readers: each line of it with the line of Python that it comes from, where that changes.

What is compiled holds no places, so that a program in another file is the same program.
"""

from __future__ import annotations

from dcpy.codegen.artifact import Artifact, Unit
from dcpy.codegen.emit.comments import comment


def listings(artifact: Artifact) -> tuple[tuple[str, str], ...]:
    """The units of an artifact, (name, text), with comments that name the places in Python."""
    return tuple((unit.name, _listing(unit)) for unit in artifact.units)


def listing(artifact: Artifact) -> str:
    """All units in one text; where there are several, each below a line with its name and language."""
    units = listings(artifact)
    if len(units) == 1:
        return units[0][1]
    heads = (f"// == {unit.name} ({unit.language or 'read by others'})" for unit in artifact.units)
    return "\n".join(f"{head}\n\n{text}" for head, (_, text) in zip(heads, units, strict=True))


def _listing(unit: Unit) -> str:
    lines = unit.text.splitlines()
    for number, span in unit.places:
        lines[number - 1] += f"  // {comment(str(span))}"
    return "\n".join(lines) + "\n"

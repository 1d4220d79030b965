"""Generated text for readers: each line of it with the line of Python that it comes from, where that changes.

What is compiled holds no places, so that a program in another file is the same program.
"""

from __future__ import annotations

from dcpy.codegen.artifact import Artifact
from dcpy.codegen.emit.comments import comment


def listings(artifact: Artifact) -> tuple[tuple[str, str], ...]:
    """The files of an artifact, (name, text), with comments in the first one that name the places in Python."""
    (name, text), *others = artifact.files
    lines = text.splitlines()
    for number, span in artifact.places:
        lines[number - 1] += f"  // {comment(str(span))}"
    return (name, "\n".join(lines) + "\n"), *others

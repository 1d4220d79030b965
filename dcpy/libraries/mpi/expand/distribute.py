"""A distribution that a program asks for, on one rank, or where its array has been placed: a copy."""

from __future__ import annotations

from dcpy.ir.communication import Distribute
from dcpy.ir.nodes import Copy
from dcpy.libraries.api import Fragment, expands


@expands(Distribute, "copy")
def copy(node: Distribute, f: Fragment) -> None:
    """One copy, which is communication if both arrays have distributions."""
    f.add(Copy(node.inputs["x"], node.outputs["out"]))

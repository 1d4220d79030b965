"""Optimization remarks: what a pass did at an element, or did not do, and why (LLVM's `-Rpass`, `-Rpass-missed`).

They cost nothing unless asked for: a `Rewriter` keeps remarks only where it was given a list for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.base.source import SrcSpan
from dcpy.ir.editing.container_descriptions import description, is_written, spelled
from dcpy.ir.field_roles import Role, Written
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, State
from dcpy.ir.sdfg import Sdfg


@dataclass(frozen=True, slots=True)
class Remark:
    """`step` is the name of the pass; `about` what it looked at, as a reader of the Python code would call it."""

    step: str
    about: str
    span: SrcSpan | None
    applied: bool
    reason: str

    def __str__(self) -> str:
        verdict = "yes" if self.applied else "no "
        return f"{verdict}  {self.step}: {self.about}{': ' if self.reason else ''}{self.reason}"

    @property
    def line(self) -> tuple[str, int]:
        """File and line of the Python code, ("", 0) where none is known: the order in which people read remarks."""
        return ("", 0) if self.span is None else (self.span.file, self.span.line)


def described(part: object, sdfg: Sdfg | None = None) -> str:
    """A short name for an element: its own name, or its kind and what it writes, in words of the program's if that is
    given.
    """
    if isinstance(part, Written) and part.title:
        return part.title
    match part:
        case Node():
            names = dict.fromkeys(memlet.container for memlet in part.writes())
            told = (_told(name, sdfg) for name in names)
            written = ", ".join(dict.fromkeys(told))
            return f"{part.kind} to {written}" if written else part.kind
        case State(name=name, region=region):
            return name or f"state {0 if region is None else region.index(part)}"
        case Block(kind="assign"):
            return " ".join(("definition of", *part.all_of(Role.DEFINED)))
        case Block():
            return " ".join((part.kind, *part.all_of(Role.DEFINED)))
    return str(part)


def _told(name: str, sdfg: Sdfg | None) -> str:
    """A container as the program writes it, or in words."""
    if sdfg is None:
        return name
    return spelled(sdfg, name) if is_written(sdfg, name) else description(sdfg, name)

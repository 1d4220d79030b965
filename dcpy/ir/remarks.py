"""Optimization remarks: what a pass did at an element, or did not do, and why (LLVM's `-Rpass`, `-Rpass-missed`).

Nobody pays for them who does not ask: a `Rewriter` keeps remarks only where it was given a list for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.base.source import SrcSpan
from dcpy.ir.nodes import Call, Map, Node, Tasklet
from dcpy.ir.region import Block, Loop, Region, State


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


def described(part: object) -> str:
    """A short name for an element: its own name, or its kind and what it writes."""
    match part:
        case Tasklet(name=name) | State(name=name) if name:
            return name
        case Map(params=params):
            return f"map {', '.join(params)}"
        case Loop(param=param):
            return f"loop {param}"
        case Call(sdfg=callee):
            return f"call @{callee.name}"
        case Node():
            written = ", ".join(dict.fromkeys(memlet.container for memlet in part.writes()))
            return f"{part.kind} to {written}" if written else part.kind
        case State(region=Region() as region):
            return f"state {region.index(part)}"
        case Block():
            symbol = getattr(part, "symbol", "")
            return f"{part.kind} {symbol}".rstrip()
    return str(part)

"""Refusals: why something cannot be done, as a value; what a plan or an analysis gives instead of its result."""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.nodes import Node
from dcpy.ir.region import Block


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason, a short clause without a full stop: what stands in the way, and what would help if anything does.

    `elements` are the nodes and blocks that stand in the way, where it is some in particular; they are printed with
    their places in the user's file. A refusal counts as true, so conditions chain: ``first(m) or second(m) or LEGAL``.
    """

    reason: str
    elements: tuple[Node | Block, ...] = ()

    def __str__(self) -> str:
        places = dict.fromkeys(str(element.span) for element in self.elements if element.span is not None)
        return f"{self.reason} ({', '.join(places)})" if places else self.reason

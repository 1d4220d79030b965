"""OutlineRepeatedCalls: a function that is called from many places stays a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Call
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class OutlineRepeatedCalls(GraphPass):
    """Outlining: the calls of a function are kept where so many copies of its body would be long.

    before   y = call @f (x);  z = call @f (y);  ...        (60 times)
    after    y = call @f (x) outlined;  z = call @f (y) outlined;  ...

    Copies of a body cost compile time in proportion to what they have inside. They gain by fusion with what is around
    them, which few calls of a short function do most: a function stays where it is called at least `calls` times, and
    all copies together would have at least `nodes` nodes.
    """

    name: ClassVar[str] = "outline-repeated-calls"
    optional: ClassVar[bool] = True
    calls: int = 16
    nodes: int = 192

    def decide(self, rw: Rewriter) -> None:
        """Callee by callee, with a remark on those that stay."""
        found: dict[Sdfg, list[Call]] = {}
        for call in rw.sdfg.body.walk_calls():
            if not call.outlined:
                found.setdefault(call.sdfg, []).append(call)
        for callee, calls in found.items():
            size = sum(1 for _ in callee.body.walk_nodes())
            if len(calls) < self.calls or len(calls) * size < self.nodes:
                continue
            for call in calls:
                rw.update(call, outlined=True)
            rw.remark(calls[0], True, f"{callee.name} is called {len(calls)} times: it stays a function")

"""ExplicitIndexChecks: indices from data are checked first, and taken then, so that failure is a way of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.device_side import run_by_host
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Index, WrapIndex, cast, op
from dcpy.ir.nodes import Node
from dcpy.ir.region import Check, SymbolAssign
from dcpy.ir.tree import owners_around
from dcpy.ir.types import int64
from dcpy.transforms.loops.inspectors import without_check
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class ExplicitIndexChecks(GraphPass):
    """Splits the indices that the host takes from data: what fails is then known before, and apart.

    before   let k = wrap(p[i], N, 0)
    after    check -N <= p[i] and p[i] < N else IndexError "index {0} is out of bounds for axis 0 with size {1}"
             let k = p[i] < 0 ? p[i] + N : p[i]

    An exception shows the arguments as they are then: where one may be raised, all that the device has written would
    be copied back each time (`place-copies`). Behind a check, only where it fails.
    """

    name: ClassVar[str] = "explicit-index-checks"

    def decide(self, rw: Rewriter) -> None:
        """Index by index, outside of maps."""
        for block in list(run_by_host(rw.sdfg.body)):
            if not isinstance(block, SymbolAssign) or not isinstance(block.value, WrapIndex):
                continue
            if any(isinstance(owner, Node) for owner in owners_around(block)):
                continue
            wrapped = block.value
            index, size = cast(wrapped.arg, int64), Index(wrapped.size)
            holds = op("and", op("ge", index, Index(-wrapped.size)), op("lt", index, size))
            message = f"index {{0}} is out of bounds for axis {wrapped.axis} with size {{1}}"
            rw.insert_before(block, Check(holds, "IndexError", message, (index, size), span=block.span))
            rw.update(block, value=without_check(block).value)

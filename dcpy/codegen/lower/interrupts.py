"""Interrupts: loops of the host ask, at the heads of long iterations, whether a signal has come.

Ctrl-C then stops a program as a failed check does: the arguments keep what was written so far. Innermost loops that are
counted ask nothing, so that they stay what they are.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, Name
from dcpy.codegen.lir.types import TRUTH, Basic
from dcpy.codegen.lower.context import Context
from dcpy.ir.nodes import Call, ForeignCall, Map
from dcpy.ir.region import Loop, While
from dcpy.ir.schedules import Sequential
from dcpy.ir.tree import subtree

FEW = 4  #: iterations of a loop that is too short to ask


def emit_interruptible(context: Context, loop: tree.Loop | tree.While, block: Loop | While) -> None:
    """Emit the loop, with iterations that begin with the question if it asks."""
    if not _asks(context, block):
        context.emit(loop)
        return
    context.module.interruptible = True
    pace = Name(context.names.fresh("pace"), Basic.PACE)
    with context.capture() as head:
        number = context.module.check_number("interrupt", "", block.span)
        context.fail(Intrinsic("interrupted", (pace,), TRUTH), number)
    context.emit(tree.Declare(pace.name, Basic.PACE))
    context.emit(replace(loop, body=(*head, *loop.body)))


def _asks(context: Context, block: Loop | While) -> bool:
    """Whether the thread that called the program runs the loop, and iterations are long: they have loops inside.

    Of a ``while`` nobody knows how often it goes round.
    """
    if context.parallel is not None or context.kernel is not None or context.process or context.shared_writes:
        return False
    if context.module.hardware is not None:
        return False
    if isinstance(block, While):
        return True
    count = block.range.size.constant
    if not isinstance(block.schedule, Sequential) or (count is not None and count <= FEW):
        return False
    inside = (part for part in subtree(block) if part is not block)
    return any(isinstance(part, Loop | While | Map | Call | ForeignCall) for part in inside)

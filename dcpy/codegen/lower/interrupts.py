"""Interrupts: loops of the host ask, at the heads of long iterations, whether a signal has come.

Ctrl-C then stops a program as a failed check does: the arguments keep what was written so far. Innermost loops that are
counted ask nothing, so that they stay what they are. Of a team only the caller's thread asks; the others see, at their
next iteration, that it has stopped.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.base.options import Language
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name
from dcpy.codegen.lir.types import STATUS, TRUTH, Basic
from dcpy.codegen.lower.context import FAILURE, Context
from dcpy.ir.nodes import Call, ForeignCall, Map
from dcpy.ir.region import Loop, While
from dcpy.ir.schedules import Sequential
from dcpy.ir.tree import Element, subtree

FEW = 4  #: iterations of a loop that is too short to ask


def emit_interruptible(context: Context, loop: tree.Loop | tree.While, block: Loop | While) -> None:
    """Emit the loop, with iterations that begin with the question if it asks."""
    if not _asks(context, block):
        context.emit(loop)
        return
    pace, head = question(context, block)
    context.emit(pace)
    context.emit(replace(loop, body=(*head, *loop.body)))


def question_of_team(context: Context, node: Map) -> tuple[tree.Body, tree.Body]:
    """What the threads of a parallel map need to ask, and the question, which iterations with loops begin with."""
    if not _can_ask(context) or not any(map(_may_be_long, subtree(node))):
        return (), ()
    pace, head = question(context, node)
    return (pace,), head


def question(context: Context, place: Loop | While | Map) -> tuple[tree.Declare, tree.Body]:
    """The variable that says when to ask, and the check that fails where Python is to go on elsewhere."""
    context.module.interruptible = True
    pace = Name(context.names.fresh("pace"), Basic.PACE)
    number = context.module.check_number("interrupt", "", place.span)
    stopped: LirExpr = Intrinsic("interrupted", (pace,), TRUTH)
    if context.parallel is not None:
        by_others = Intrinsic("has_failed", (FAILURE, Literal(number, STATUS)), TRUTH)
        stopped = Infix("||", by_others, stopped, TRUTH)
    with context.capture() as head:
        context.fail(stopped, number)
    return tree.Declare(pace.name, Basic.PACE), tuple(head)


def _may_be_long(element: Element) -> bool:
    """Whether it is a loop with more than a few iterations, for all that is known."""
    if isinstance(element, While):
        return True
    count = element.range.size.constant if isinstance(element, Loop) else 0
    return count is None or count > FEW


def _can_ask(context: Context) -> bool:
    module = context.module
    if context.kernel is not None or context.process or context.shared_writes or module.hardware is not None:
        return False
    return module.options.language is not Language.C


def _asks(context: Context, block: Loop | While) -> bool:
    """Whether the thread that called the program runs the loop, and iterations are long: they have loops inside.

    Of a ``while`` nobody knows how often it goes round.
    """
    if context.parallel is not None or not _can_ask(context):
        return False
    if isinstance(block, While):
        return True
    if not isinstance(block.schedule, Sequential) or not _may_be_long(block):
        return False
    inside = (part for part in subtree(block) if part is not block)
    return any(isinstance(part, Loop | While | Map | Call | ForeignCall) for part in inside)

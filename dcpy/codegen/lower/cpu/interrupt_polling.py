"""Polling for interrupts: loops of the host ask, at the heads of long iterations, whether a signal has come.

Ctrl-C then stops a program as a failed check does: the arguments keep what was written so far. Innermost loops that are
counted ask nothing, so that they stay what they are; nor do loops along an array whose inner loops are of a few
iterations, which compilers write out. Of a team the caller's thread asks; the others see, at their next question, that
it has stopped. A thread counts for all its loops in one place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from dcpy.base.option_groups.cpu import Language
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name
from dcpy.codegen.lir.types import STATUS, TRUTH, Basic
from dcpy.codegen.lower.context import FAILURE, Context
from dcpy.ir.nodes import Call, ForeignCall, Map
from dcpy.ir.region import Loop, While
from dcpy.ir.schedules import Sequential, Vector
from dcpy.ir.symbolic import as_expr
from dcpy.ir.tree import Element, owners_around, subtree

FEW = 4  #: iterations of a loop that is too short to ask
SHORT = 65  #: more than those of a tile, of which an iteration of a loop in a team may consist


def emit_interruptible(context: Context, loop: tree.Loop | tree.While, block: Loop | While) -> None:
    """Emit the loop, with iterations that begin with the question if it asks."""
    if not _asks(context, block):
        context.emit(loop)
        return
    short = isinstance(block, While) and not any(map(_takes_long, _inside(block)))
    context.emit(replace(loop, body=(*question(context, block, short=short), *loop.body)))


def question_of_team(context: Context, node: Map) -> tuple[tree.Body, tree.Body]:
    """Return the declarations for a parallel map's threads, and the poll at the start of iterations with loops."""
    if not _can_ask(context) or not any(map(_may_be_long, subtree(node))):
        return (), ()
    head = question(context, node)
    assert context.team_polling is not None
    return (tree.Declare(context.team_polling[0].name, Basic.PACE),), head


def question(context: Context, place: Loop | While | Map, *, short: bool = False) -> tree.Body:
    """Return the check, at the head of an iteration, that fails where Python is to go on elsewhere.

    The variable that says when to ask is the function's, or that of a team's thread: a short loop inside of others does
    not ask whenever it starts. The threads of a team look at each iteration whether another one has stopped, or, where
    iterations are `short`, once in a thousand: an innermost loop does no more than count down.
    """
    context.module.interruptible = True
    if context.team_polling is not None:
        pace, number = context.team_polling
    else:
        pace = Name(context.names.fresh("pace"), Basic.PACE)
        number = context.module.check_number("interrupt", "", place.span)
        if context.parallel is None:
            context.poll_intervals.append(tree.Declare(pace.name, Basic.PACE))
    stopped: LirExpr = Intrinsic("interrupted", (pace,), TRUTH)
    if context.parallel is not None:
        context.team_polling = pace, number
        check = FAILURE, Literal(number, STATUS)
        if short:
            stopped = Intrinsic("team_interrupted", (pace, *check), TRUTH)
        else:
            stopped = Infix("||", Intrinsic("has_failed", check, TRUTH), stopped, TRUTH)
    with context.capture() as head:
        context.fail(stopped, number)
    return tuple(head)


def _may_be_long(element: Element) -> bool:
    """Return whether it is a loop with more than a few iterations, for all that is known."""
    match element:
        case While():
            return True
        case Loop(range=values):
            return values.size.constant is None or values.size.constant > FEW
    return False


def _can_ask(context: Context) -> bool:
    module = context.module
    if not context.on_host or context.process or context.shared_writes:
        return False
    return module.options.language is not Language.C


def _asks(context: Context, block: Loop | While) -> bool:
    """Return whether iterations are long, as they have loops inside, or how often it goes round is not known.

    In a team the counted loops right inside an iteration ask, where nothing says that theirs are short.
    """
    if not _can_ask(context) or any(_is_of_vectors(owner) for owner in owners_around(block)):
        return False
    if isinstance(block, While):
        return True
    if not (isinstance(block.schedule, Sequential) and _may_be_long(block)):
        return False
    if context.parallel is None:
        long = [*filter(_takes_long, _inside(block))]
        return bool(long) and not (_are_written_out(context, long) and _goes_along_an_array(context, block))
    any_length = any(_is_of_any_length(context, part) for part in _inside(block))
    return any_length and _is_outermost(block, context.parallel.map)


def _inside(block: Loop | While) -> Iterator[Element]:
    return (part for part in subtree(block) if part is not block)


def _takes_long(part: Element) -> bool:
    return isinstance(part, Loop | While | Map | Call | ForeignCall)


def _are_written_out(context: Context, parts: list[Element]) -> bool:
    """Return whether they are loops, and of a few iterations together."""
    sizes = [part.range.size.constant for part in parts if isinstance(part, Loop)]
    known = [size for size in sizes if size is not None]
    return len(known) == len(parts) and math.prod(known) <= context.module.costs.unrolled_trips


def _goes_along_an_array(context: Context, block: Loop) -> bool:
    """Return whether there is an axis with as many elements as the loop has iterations: memory bounds its time."""
    axes = {size for desc in context.sdfg.containers.values() for size in desc.shape}
    return block.range.size in axes


def _is_of_vectors(owner: Element) -> bool:
    """Return whether it is a map of vectors, which nothing leaves."""
    return isinstance(owner, Map) and isinstance(owner.schedule, Vector)


def _is_outermost(block: Loop | While, team: Map) -> bool:
    """Return whether no loop is around it in an iteration of a team's map."""
    around = itertools.takewhile(lambda owner: owner is not team, owners_around(block))
    return not any(isinstance(owner, Loop | While) for owner in around)


def _is_of_any_length(context: Context, part: Element) -> bool:
    """Return whether it may take long: tiles, whose sizes have a bound, do not."""
    match part:
        case While() | Call() | ForeignCall():
            return True
        case Loop(range=values):
            return not context.ranges.proves_lt(values.size, as_expr(SHORT))
        case Map(domain=domain):
            return not all(context.ranges.proves_lt(values.size, as_expr(SHORT)) for values in domain)
    return False

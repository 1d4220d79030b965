"""Guarded copies: a loop over items that differ in kind, where run time decides how many of them there are.

    for name, x in zip(("a", "b"), w):          if len(w) > 0: name, x = "a", w[0]; body
        body                             is     if len(w) > 1: name, x = "b", w[1]; body

A ``break`` of the body sets a flag, and what comes behind is skipped where that is set; so does a ``continue`` with the
rest of its copy.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.desugar import core, jumps_as_flags
from dcpy.frontend.lower.arithmetic import comparisons
from dcpy.frontend.lower.arrays.assignment import assign
from dcpy.frontend.lower.frame import Flow
from dcpy.ir.expressions.scalar import ScalarExpr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Item = tuple[Callable[[], Value], ScalarExpr | None]  # how it is found, and whether there is one (None: there is)


@dataclass
class LoopCopies:
    """The statements of all copies, made once for each loop: what is known of them is kept by statement."""

    prefix: str
    count: int
    body: core.Body = ()
    enter: list[Callable[[], None]] = field(default_factory=list)  # what binds the target, as it is this time


def run_guarded(
    frame: Frame, node: core.For, items: Sequence[Item], execute: Callable[[Any, core.Body], Flow]
) -> Flow:  # fmt: skip
    """The body once for each item, where there is one."""
    copies = _copies(frame, node, [test is not None for _, test in items])
    copies.enter[:] = [functools.partial(_bind, frame, node, item) for item, _ in items]
    for number, (_, test) in enumerate(items):
        if test is not None:
            frame.env[f"{copies.prefix}test_{number}"] = comparisons.as_value(test)
    frame.liveness.block(copies.body, frame.liveness.loops[node].after)
    flow = execute(frame, copies.body)
    for name in [name for name in frame.env if name.startswith(copies.prefix)]:
        del frame.env[name]
    return flow if flow is Flow.LEFT else Flow.ON


def _bind(frame: Frame, node: core.For, item: Callable[[], Value]) -> None:
    assign(frame, node.target, item())


def _copies(frame: Frame, node: core.For, tested: Sequence[bool]) -> LoopCopies:
    known = frame.program.expression_loops
    key = ("copies", node, tuple(tested))
    if key in known:
        found: LoopCopies = known[key]
        return found
    made = known[key] = LoopCopies(f".u{len(known)}_", len(tested))
    marks: list[core.Statement] = []
    body: core.Body = ()
    for number, is_tested in enumerate(tested):
        body += _copy(node, made, number, is_tested, marks)
    made.body = jumps_as_flags.jumps_to_flags(
        body, f"{made.prefix}left", lambda part: any(part is mark for mark in marks)
    )
    return made


def _copy(
    node: core.For, copies: LoopCopies, number: int, is_tested: bool, marks: list[core.Statement]
) -> core.Body:  # fmt: skip
    inner = jumps_as_flags.fresh(node.body)
    again = jumps_as_flags.own(inner, core.Continue)
    inner = jumps_as_flags.jumps_to_flags(
        inner, f"{copies.prefix}next_{number}", lambda part: any(part is mark for mark in again)
    )
    marks += jumps_as_flags.own(inner, core.Break)
    enter = core.Resume(lambda: copies.enter[number](), node.targets_bound(), span=node.span)
    if not is_tested:
        return (enter, *inner)
    test = ast.copy_location(ast.Name(f"{copies.prefix}test_{number}", ast.Load()), node.iterable)
    return (core.If(test, (enter, *inner), (), span=node.span),)

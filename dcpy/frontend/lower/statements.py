"""Statements: core records to blocks. Each returns whether control goes on behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dcpy.base import string_formatting
from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.values import Missing, Static, Value, VariantValue
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.dataflow.explicit_tasklets import run_tasklet
from dcpy.frontend.dataflow.processes import run_dataflow
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arrays import assignment
from dcpy.frontend.lower.control import branches, expression_splitting, path_splitting, raised_exceptions
from dcpy.frontend.lower.control.with_statements import enter
from dcpy.frontend.lower.expressions import condition, evaluate, function_value
from dcpy.frontend.lower.frame import ExitPoint, Flow
from dcpy.frontend.lower.functions import decorators
from dcpy.frontend.lower.functions.callback_calls import call_back
from dcpy.frontend.lower.loops import loop_statements
from dcpy.frontend.lower.loops.carried_kinds import by_kind
from dcpy.frontend.lower.lowering_signals import ConditionalJump, KindMatters, WillRaise
from dcpy.frontend.lower.name_binding import UnsetName, bind_name
from dcpy.frontend.lower.objects.dataclass_objects import materialize_sizes, with_shown_lists
from dcpy.frontend.lower.objects.object_slots import in_slot
from dcpy.frontend.lower.sequences import item_words, list_references
from dcpy.frontend.lower.speculation import statement_versioning
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.branch_facts import refine_ranges
from dcpy.ir.expressions.scalar import Const, ScalarExpr, op
from dcpy.ir.region import Branch, Break, Continue, Return

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def execute(frame: Frame, body: core.Body) -> Flow:
    """Statements in order, until one leaves."""
    frame.program.activations.append((frame, None))
    try:
        return _execute(frame, body)
    finally:
        frame.program.activations.pop()


def _execute(frame: Frame, body: core.Body) -> Flow:
    pending = len(frame.program.pending_operands)
    position = 0
    while position < len(body):
        statement = body[position]
        frame.program.activations[-1] = frame, statement
        frame.emit.statement(statement.span)
        try:
            selector = path_splitting.selector_of(frame, statement)
            end = position + 1 if selector is None else path_splitting.extent(frame, body, position, selector.which)
            pulled = (
                expression_splitting.split_statement(frame, statement)
                if selector is None and frame.b.split_joins
                else None
            )
            if pulled is not None:
                flow = execute(frame, pulled[0])
                frame.env.pop(pulled[1], None)
            elif selector is None:
                flow = _HANDLERS[type(statement)](frame, statement)
            else:
                flow = branches.run_versions(frame, body[position:end], selector, execute)
            position = end
        except UnsetName as error:
            if frame.inline or not frame.emit.dry_run_depth:
                raise error.at(statement.span) from error.__cause__
            del frame.program.pending_operands[pending:]
            return Flow.LEFT  # not in the first iteration: the next dry run knows more
        except WillRaise as error:
            if len(frame.scopes) == 1 and frame.caller is None:
                raise error.at(statement.span) from error.__cause__
            frame.emit.statement(error.span or statement.span)
            frame.b.raise_here(error)
            return Flow.LEFT
        except DcpyError as error:
            merges = error.merges if isinstance(error, KindMatters) else ()
            raise by_kind(frame.b, merges, error.at(statement.span)) from error.__cause__
        if flow is not Flow.ON:
            return flow
    return Flow.ON


def _evaluate(frame: Frame, node: core.Evaluate) -> Flow:
    frame.program.discarded_call = node.value
    evaluate(frame, node.value)
    return Flow.ON


def _assign(frame: Frame, node: core.Assign) -> Flow:
    first = node.targets[0]
    name = first.id if isinstance(first, ast.Name) and len(node.targets) == 1 else ""
    frame.program.declared_type = None if node.annotation is None else (node.value, node.annotation)
    frame.program.assigned_expression = (
        node.value if all(isinstance(target, ast.Name) for target in node.targets) else None
    )
    value = evaluate(frame, node.value, name)
    value = in_slot(frame, node, value)
    for target in node.targets:
        value = assignment.assign(frame, target, value)
    return Flow.ON


def _augment(frame: Frame, node: core.Augment) -> Flow:
    assignment.augment(frame, node.target, node.op, node.value)
    return Flow.ON


def _enter(frame: Frame, node: core.Enter) -> Flow:
    enter(frame, node)
    return Flow.ON


def _delete(frame: Frame, node: core.Delete) -> Flow:
    for name in node.names:
        if name not in frame.env:
            raise FrontendError(f"name {name!r} is not defined")
        frame.env[name] = Missing(f"{name!r} was deleted", node.span, unset=True)
    return Flow.ON


def _define(frame: Frame, node: core.Define) -> Flow:
    applied = [decorators.decorator(frame, tree) for tree in node.decorators]
    value: Value = function_value(frame, node)
    for tree, decorator in reversed(list(zip(node.decorators, applied, strict=True))):
        value = decorators.decorated(frame, tree, decorator, value)
    bind_name(frame, node.name, value)
    return Flow.ON


def _return(frame: Frame, node: core.Return) -> Flow:
    value: Value = Static(None) if node.value is None else evaluate(frame, node.value, "result")
    value = item_words.distributed(frame.b, value)
    emit = frame.emit
    if isinstance(value, VariantValue) and not frame.inline:
        return _return_by_kind(frame, node, value)
    if any(scope.kind == "map" for scope in frame.scopes):
        raise FrontendError("return inside a parallel map", help="use a plain for loop")
    if frame.inline:
        if any(scope.kind in ("loop", "unrolled") for scope in frame.scopes):
            raise FrontendError(
                "return inside a loop of a function that is evaluated in place",
                notes=("it returns a view, or takes or uses functions of its caller",),
                help="keep the result in a variable, and break",
            )
        frame.env[".return"] = list_references.kept(frame, value)
        return Flow.LEFT
    materialize_sizes(frame)
    value = list_references.shown(frame, value)
    env = with_shown_lists(frame, value)
    inside = len(frame.scopes) > 1
    if inside:
        emit.block(Return())
    several = frame.scope.copies > 1
    site = ExitPoint(emit.region, env, inside, emit.ranges, value, node.span, several)
    frame.returns.append(site)
    emit.on_undo(lambda: frame.returns.pop())
    return Flow.LEFT


def _return_by_kind(frame: Frame, node: core.Return, value: VariantValue) -> Flow:
    """A ``return`` for each kind that an item of a list may have."""
    name = ".returned"
    place: Any = node.value
    statement = core.Return(ast.copy_location(ast.Name(name, ast.Load()), place), span=node.span)
    frame.env[name] = value
    return execute(frame, (statement,))


def _require(frame: Frame, node: core.Require) -> Flow:
    """``assert`` and ``raise``."""
    test = False if node.test is None else condition(frame, node.test)
    if test is True:
        return Flow.ON
    with frame.emit.attempt() as region:
        kind, args = raised_exceptions.exception_of(frame, node)
        message = raised_exceptions.plain_message(args)
        if message is None:  # Python makes the message
            throw = Callback(string_formatting.throw, returns=None, writes=())
            call_back(frame, throw, [Static(kind), *args], {}, unused=True)
        message = message or ("", [])
        if region.blocks:
            frame.b.check(Const(False, types.bool_), kind.__name__, *message)
    holds: ScalarExpr = Const(False, types.bool_) if isinstance(test, bool) else test
    if region.blocks:
        frame.emit.block(Branch([(op("not", holds), region)], None))
    else:
        frame.b.check(holds, kind.__name__, *message)
    if isinstance(test, bool):
        return Flow.LEFT
    frame.emit.ranges = refine_ranges(frame.emit.ranges, test, holds=True)
    return Flow.ON


def _break(frame: Frame, node: core.Break) -> Flow:
    return _leave(frame, Break(), Flow.BREAK)


def _continue(frame: Frame, node: core.Continue) -> Flow:
    return _leave(frame, Continue(), Flow.CONTINUE)


def _leave(frame: Frame, block: Any, flow: Flow) -> Flow:
    sites = frame.loops[-1]
    if sites.kind == "unrolled":
        if len(frame.scopes) > sites.depth:
            raise ConditionalJump(
                f"{flow.value} under a run-time condition, in a loop over a tuple or list",
                help="loop over an array or a range",
            )
        return flow
    if sites.kind == "map":
        if flow is Flow.BREAK:
            raise FrontendError("break inside a parallel map", help="use a plain for loop")
        return flow
    frame.emit.block(block)
    site = ExitPoint(frame.emit.region, dict(frame.env), True, frame.emit.ranges)
    (sites.breaks if flow is Flow.BREAK else sites.ends).append(site)
    return flow


def _yield(frame: Frame, node: core.Yield) -> Flow:
    raise FrontendError(
        "yield is not supported here",
        notes=("only a loop over a generator, or a list of it, asks for its items",),
        help="return what is computed",
    )


def _resume(frame: Frame, node: core.Resume) -> Flow:
    node.action()
    return Flow.ON


_HANDLERS: dict[type, Callable[[Any, Any], Flow]] = {
    core.Resume: _resume, core.Yield: _yield,
    core.Enter: _enter, core.Evaluate: _evaluate, core.Assign: lambda f, n: statement_versioning.store(f, n, _assign),
    core.Augment: lambda f, n: statement_versioning.store(f, n, _augment), core.Delete: _delete,
    core.Define: _define, core.Return: _return, core.Require: _require, core.Break: _break,
    core.Continue: _continue, core.If: lambda f, n: branches.run_if(f, n, execute),
    core.For: lambda f, n: loop_statements.run_for(f, n, execute),
    core.While: lambda f, n: loop_statements.run_while(f, n, execute),
    core.Tasklet: lambda f, n: run_tasklet(f, n, execute), core.Dataflow: run_dataflow,
}  # fmt: skip

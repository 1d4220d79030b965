"""Statements: core records to blocks. Each returns whether control goes on behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dcpy.base import texts
from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.callbacks import Callback
from dcpy.frontend.dataflow.tasklets import run_tasklet
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.liveness import assigned
from dcpy.frontend.lower import assignment, decorators, loops, merges, references, versioning
from dcpy.frontend.lower.callbacks import call_back
from dcpy.frontend.lower.expressions import condition, evaluate, function_value
from dcpy.frontend.lower.frame import Flow, Scope, Site
from dcpy.frontend.lower.names import UnsetName, bind_name
from dcpy.frontend.lower.objects import changed_fields, settle_sizes
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.lower.refine import refine
from dcpy.frontend.lower.sharing import living, shown_by_others
from dcpy.frontend.values import Missing, Static, Value
from dcpy.ir import types
from dcpy.ir.expr import Const, ScalarExpr, op
from dcpy.ir.region import Branch, Break, Continue, Region, Return

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def execute(frame: Frame, body: core.Body) -> Flow:
    """Statements in order, until one leaves."""
    pending = len(frame.program.pending)
    for statement in body:
        frame.emit.statement(statement.span)
        try:
            flow = _HANDLERS[type(statement)](frame, statement)
        except UnsetName as error:
            if frame.inline or not frame.emit.dry:
                raise error.at(statement.span) from error.__cause__
            del frame.program.pending[pending:]
            return Flow.LEFT  # not in the first iteration: the next dry run knows more
        except WillRaise as error:
            if len(frame.scopes) == 1 and frame.caller is None:
                raise error.at(statement.span) from error.__cause__
            frame.emit.statement(error.span or statement.span)
            error.emit(frame.b)
            return Flow.LEFT
        except DcpyError as error:
            raise error.at(statement.span) from error.__cause__
        if flow is not Flow.ON:
            return flow
    return Flow.ON


def _evaluate(frame: Frame, node: core.Evaluate) -> Flow:
    frame.program.dropped = node.value
    evaluate(frame, node.value)
    return Flow.ON


def _assign(frame: Frame, node: core.Assign) -> Flow:
    first = node.targets[0]
    name = first.id if isinstance(first, ast.Name) and len(node.targets) == 1 else ""
    frame.program.declared = None if node.annotation is None else (node.value, node.annotation)
    value = evaluate(frame, node.value, name)
    for target in node.targets:
        value = assignment.assign(frame, target, value)
    return Flow.ON


def _augment(frame: Frame, node: core.Augment) -> Flow:
    assignment.augment(frame, node.target, node.op, node.value)
    return Flow.ON


def _delete(frame: Frame, node: core.Delete) -> Flow:
    for name in node.names:
        if name not in frame.env:
            raise FrontendError(f"name {name!r} is not defined")
        frame.env[name] = Missing(f"{name!r} was deleted", node.span)
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
    emit = frame.emit
    if any(scope.kind == "map" for scope in frame.scopes):
        raise FrontendError("return inside a parallel map", help="use a plain for loop")
    if frame.inline:
        if any(scope.kind in ("loop", "unrolled") for scope in frame.scopes):
            raise FrontendError(
                "return inside a loop of a function that is evaluated in place",
                notes=("it returns a view, or takes or uses functions of its caller",),
                help="keep the result in a variable, and break",
            )
        frame.env[".return"] = references.kept(frame, value)
        return Flow.LEFT
    settle_sizes(frame)
    site = Site(emit.region, dict(frame.env), False, emit.ranges, value, node.span)
    if len(frame.scopes) > 1:
        emit.block(Return())
        site = Site(emit.region, site.env, True, emit.ranges, value, node.span)
    frame.returns.append(site)
    emit.on_undo(lambda: frame.returns.pop())
    return Flow.LEFT


def _require(frame: Frame, node: core.Require) -> Flow:
    """``assert`` and ``raise``."""
    test = False if node.test is None else condition(frame, node.test)
    if test is True:
        return Flow.ON
    with frame.emit.attempt() as region:
        kind, args = assignment.exception_of(frame, node)
        message = assignment.plain_message(args)
        if message is None:  # Python makes the message
            throw = Callback(texts.throw, returns=None, writes=())
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
    frame.emit.ranges = refine(frame.emit.ranges, test, holds=True)
    return Flow.ON


def _if(frame: Frame, node: core.If) -> Flow:
    test = condition(frame, node.test)
    if isinstance(test, bool):
        return execute(frame, node.body if test else node.orelse)
    live = frame.liveness.after[node] | {".return"}
    regions: list[Region] = []
    alive: list[Site] = []
    for body, holds in ((node.body, True), (node.orelse, False)):
        scope = Scope(Region(), "branch", live)
        with frame.entering(scope, refine(frame.emit.ranges, test, holds=holds)):
            flow = execute(frame, body)
            regions.append(scope.region)
            if flow is Flow.ON or ".return" in frame.env:
                alive.append(Site(scope.region, frame.env, False, frame.emit.ranges))
    returned = any(".return" in path.env for path in alive)
    for path in alive:
        if returned:  # the end of the function: the other side returns None
            path.env.setdefault(".return", Static(None))
    _merge(frame, node, live, alive)
    if len(alive) == 1:  # what the other path would have been, it raised
        frame.emit.ranges = alive[0].ranges
    frame.emit.statement(node.span)
    frame.emit.block(_branch(test, regions[0], regions[1]))
    return Flow.ON if alive and not returned else Flow.LEFT


def _merge(frame: Frame, node: core.If, live: frozenset[str], paths: list[Site]) -> None:
    """Binds the names that either side assigned to what they stand for afterwards."""
    names = changed_fields(frame.env, paths) if paths else []
    names += sorted((assigned(node.body) | assigned(node.orelse) | {".return"}) & live)
    moves: list[list[tuple[Value, Value]]] = [[] for _ in paths]
    facts, envs = [path.ranges for path in paths], [living(path.env, live) for path in paths]
    for name in names:
        found = [path.env.get(name) for path in paths]
        if all(value is None for value in found):
            continue
        values = [_unset(name, node) if value is None else value for value in found]
        busy = shown_by_others(frame, name, [frame.env, *envs])
        joined = merges.join(frame, name, values, merges.Paths(facts, envs, busy))
        frame.env[name] = joined
        for path, pairs, value in zip(paths, moves, values, strict=True):
            pairs.append((joined, references.as_source(path.env, joined, value)))
    for path, pairs in zip(paths, moves, strict=True):
        with frame.emit.inside(path.region, path.ranges):
            merges.move(frame, pairs)
    for name in names:
        if name in frame.env:
            frame.env[name] = references.as_own(frame, name, frame.env[name])


def _unset(name: str, node: core.If) -> Missing:
    return Missing(
        f"cannot access local variable {name!r}: it has no value where the condition on line "
        f"{node.span.line} goes the other way",
        node.span,
        f"assign {name!r} before the `if`, or on both sides of it",
        unset=True,
    )


def _branch(test: ScalarExpr, body: Region, orelse: Region) -> Branch:
    """A branch; an ``else`` that is nothing but a branch continues the chain (``elif``)."""
    if not orelse.blocks:
        return Branch([(test, body)], None)
    only = orelse.blocks[0]
    if len(orelse.blocks) == 1 and isinstance(only, Branch) and not orelse.containers:
        return Branch([(test, body), *only.cases], only.otherwise)
    return Branch([(test, body)], orelse)


def _break(frame: Frame, node: core.Break) -> Flow:
    return _leave(frame, Break(), Flow.BREAK)


def _continue(frame: Frame, node: core.Continue) -> Flow:
    return _leave(frame, Continue(), Flow.CONTINUE)


def _leave(frame: Frame, block: Any, flow: Flow) -> Flow:
    sites = frame.loops[-1]
    if sites.kind == "unrolled":
        if len(frame.scopes) > sites.depth:
            raise FrontendError(
                f"{flow.value} under a run-time condition, in a loop over a tuple or list",
                help="loop over an array or a range",
            )
        return flow
    if sites.kind == "map":
        if flow is Flow.BREAK:
            raise FrontendError("break inside a parallel map", help="use a plain for loop")
        return flow
    frame.emit.block(block)
    site = Site(frame.emit.region, dict(frame.env), True, frame.emit.ranges)
    (sites.breaks if flow is Flow.BREAK else sites.ends).append(site)
    return flow


def _resume(frame: Frame, node: core.Resume) -> Flow:
    node.action()
    return Flow.ON


_HANDLERS: dict[type, Callable[[Any, Any], Flow]] = {
    core.Resume: _resume,
    core.Evaluate: _evaluate, core.Assign: lambda f, n: versioning.store(f, n, _assign),
    core.Augment: lambda f, n: versioning.store(f, n, _augment), core.Delete: _delete,
    core.Define: _define, core.Return: _return, core.Require: _require, core.If: _if, core.Break: _break,
    core.Continue: _continue, core.For: lambda f, n: loops.run_for(f, n, execute),
    core.While: lambda f, n: loops.run_while(f, n, execute),
    core.Tasklet: lambda f, n: run_tasklet(f, n, execute),
}  # fmt: skip

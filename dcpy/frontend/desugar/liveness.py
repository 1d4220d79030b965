"""Which names are read later: one backward walk over the core statements of a function.

Branches merge, and loops carry, only names that live on; a name that is only scratch of a loop body stays private to
the body. The answers are kept per statement.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.names import bound_names, free_names, read_names, walrus_names

Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass(frozen=True)
class LoopNames:
    """Names live at the head of a loop's body (each iteration), and after the loop; names that the body binds."""

    head: Names
    after: Names
    bound: Names


class Liveness:
    """The answers for one function."""

    def __init__(self, define: core.Define) -> None:
        self.loops: dict[core.Statement, LoopNames] = {}
        self.after: dict[core.Statement, Names] = {}  # of branches
        self._captured = _captured(define.body)  # names that nested functions read, at a time nobody knows
        self._breaks: list[Names] = []
        self._continues: list[Names] = []
        self.block(define.body, NOTHING)

    def block(self, body: core.Body, live: Names) -> Names:
        """Names live before `body`, given those live after it."""
        for statement in reversed(body):
            live = self.statement(statement, live)
        return live

    def statement(self, node: core.Statement, live: Names) -> Names:
        live = live | self._captured
        match node:
            case core.Evaluate(value=value):
                return live | _reads(value)
            case core.Assign(targets=targets, value=value):
                return (live - _bound(*targets)) | _reads(value, *targets)
            case core.Augment(target=target, value=value):
                return live | _reads(value, target) | _bound(target)
            case core.Delete(names=names):
                return live - frozenset(names)
            case core.Define(name=name):
                return (live - {name}) | node.free
            case core.Return(value=value):
                return _reads(value)
            case core.Require(test=test, exception=exception, message=message):
                rest = NOTHING if test is None else live
                return rest | _reads(test, exception, message)
            case core.Break():
                return self._breaks[-1]
            case core.Continue():
                return self._continues[-1]
            case core.If():
                self.after[node] = live
                return self.block(node.body, live) | self.block(node.orelse, live) | _reads(node.test)
        return self._loop(node, live)

    def _loop(self, node: core.For | core.While, live: Names) -> Names:
        target = _bound(node.target) if isinstance(node, core.For) else NOTHING
        test = _reads(node.test) if isinstance(node, core.While) else _reads(node.target)
        head = NOTHING
        while True:
            around = live | head | test
            self._breaks.append(live)
            self._continues.append(around)
            found = (self.block(node.body, around) - target) | test
            self._breaks.pop()
            self._continues.pop()
            if found <= head:
                break
            head = head | found
        self.loops[node] = LoopNames(head, live, assigned(node.body) | target)
        source = _reads(node.iterable) if isinstance(node, core.For) else NOTHING
        return live | head | source


def assigned(body: core.Body) -> Names:
    """Names that a body may bind."""
    found: set[str] = set()
    for node in body:
        match node:
            case core.Assign(targets=targets, value=value):
                found |= _bound(*targets) | _walrus(value)
            case core.Augment(target=target):
                found |= _bound(target)
            case core.Evaluate(value=value):
                found |= _walrus(value)
            case core.Define(name=name):
                found.add(name)
            case core.If(test=test, body=inner, orelse=orelse):
                found |= assigned(inner) | assigned(orelse) | _walrus(test)
            case core.For(target=target, body=inner):
                found |= _bound(target) | assigned(inner)
            case core.While(test=test, body=inner):
                found |= assigned(inner) | _walrus(test)
    return frozenset(found)


def _captured(body: core.Body) -> Names:
    """Names that nested functions and lambdas of this function may read."""
    found: set[str] = set()
    for node in body:
        match node:
            case core.Define(free=free):
                found |= free
            case core.Assign(value=ast.AST() as value):
                found.update(name for part in ast.walk(value) if isinstance(part, ast.Lambda) for name in free_names(part))
            case core.If(body=inner, orelse=orelse):
                found |= _captured(inner) | _captured(orelse)
            case core.For(body=inner) | core.While(body=inner):
                found |= _captured(inner)
    return frozenset(found)


def _reads(*nodes: core.Expression | None) -> Names:
    return frozenset(name for node in nodes if isinstance(node, ast.AST) for name in read_names(node))


def _bound(*targets: ast.AST) -> Names:
    return frozenset(name for target in targets for name in bound_names(target))


def _walrus(node: core.Expression) -> Names:
    return frozenset(walrus_names(node)) if isinstance(node, ast.AST) else NOTHING

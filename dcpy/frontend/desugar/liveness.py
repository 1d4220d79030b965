"""Liveness of names: one backward walk over the core statements of a function.

Branches merge, and loops carry, only names that live on; a name that is only scratch of a loop body stays private to
the body. The answers are kept per statement.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import free_names
from dcpy.frontend.introspection.ast_traversal import walk

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
        self.after: dict[core.Statement, Names] = {}
        self.captured = _captured(define.body) | define.outer  # what other functions read, at an unknown time
        self.rebound = NOTHING.union(*(node.rebound for node in define.body))  # what functions that are called may set
        self._breaks: list[Names] = []
        self._continues: list[Names] = []
        self.block(define.body, NOTHING)

    def block(self, body: core.Body, live: Names) -> Names:
        """Names live before `body`, given those live after it."""
        for statement in reversed(body):
            live = self.statement(statement, live)
        return live

    def statement(self, node: core.Statement, live: Names) -> Names:
        """Names live before one statement: it may call a nested function before it binds a name."""
        self.after[node] = live | self.captured
        return self._statement(node, live | self.captured) | self.captured

    def _statement(self, node: core.Statement, live: Names) -> Names:  # noqa: C901  (one case per kind)
        match node:
            case core.Evaluate():
                return live | node.reads
            case core.Assign() | core.Enter():
                return (live - node.targets_bound()) | node.reads
            case core.Augment():
                return live | node.reads | node.targets_bound()
            case core.Tasklet() | core.Process() | core.Dataflow():
                return live | node.reads
            case core.Delete(names=names):
                return live - frozenset(names)
            case core.Define(name=name):
                return (live - {name}) | node.free | node.reads
            case core.Return():
                return node.reads
            case core.Require(test=test):
                return (NOTHING if test is None else live) | node.reads
            case core.Break():
                return self._breaks[-1]
            case core.Continue():
                return self._continues[-1]
            case core.If():
                return self._branch(node, live)
            case core.Resume() | core.Yield():
                return live | node.targets_bound() | node.reads
        return self._loop(node, live)

    def _branch(self, node: core.If, live: Names) -> Names:
        *chain, last = node.chain()
        self.after |= dict.fromkeys((*chain[1:], last) if chain else (), live)
        found = self.block(last.body, live) | self.block(last.orelse, live) | last.reads
        for part in reversed(chain):
            found = self.block(part.body, live) | found | self.captured | part.reads
        return found

    def _loop(self, node: core.For | core.While, live: Names) -> Names:
        target = node.targets_bound()
        test = node.reads  # of a `for` loop: names in the iterable and in subscripts of the target
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
        leaves_at_head = isinstance(node, core.While) and _may_need_code(node.test)
        self.loops[node] = LoopNames(head | (live & node.bound) if leaves_at_head else head, live, node.bound)
        return live | head


def _may_need_code(test: core.Expression) -> bool:
    """Return whether the test of a loop may have to be made inside the body: then the loop is left there, before the
    body.
    """
    simple = ast.Name | ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp
    marks = ast.expr_context | ast.boolop | ast.cmpop | ast.Not | ast.UAdd | ast.Invert  # ``-x`` may overflow
    return isinstance(test, ast.AST) and not all(isinstance(part, simple | marks) for part in walk(test))


def assigned(body: core.Body) -> Names:
    """Names that a body may bind."""
    return NOTHING.union(*(node.bound for node in body))


def _captured(body: core.Body) -> Names:
    """Names that nested functions and lambdas of this function may read."""
    found: set[str] = set()
    for node in body:
        match node:
            case core.Define(free=free):
                found |= free
            case core.Assign(value=ast.AST() as value):
                lambdas = [part for part in walk(value) if isinstance(part, ast.Lambda)]
                found.update(name for part in lambdas for name in free_names(part))
            case core.If():
                found = found.union(*map(_captured, node.sides()))
            case core.For(body=inner) | core.While(body=inner):
                found |= _captured(inner)
    return frozenset(found)

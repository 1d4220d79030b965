"""Parts of expressions whose value depends on the path taken get a name: statements can be split, expressions cannot.

``a[k : end or None]`` becomes ``chosen = end``, ``if not chosen: chosen = None``, ``a[k : chosen]``, and there are two
versions of the last one (`versions`). That is done where a value was found to be of two kinds (`PathsMatter`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.raising import EXPRESSION
from dcpy.frontend.values import Missing, Static, Value, Versions, is_number

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_REPEATED = ast.Lambda | ast.comprehension | ast.ListComp | ast.GeneratorExp | ast.DictComp
Ancestors = list[tuple[ast.AST, ast.AST]]  # each with the child that leads to what is looked for


def key_of(frame: Frame, node: ast.expr) -> object:
    """The place of an expression whose value depends on the path taken."""
    return EXPRESSION, frame.span(node)


def matters(frame: Frame, node: ast.expr, error: FrontendError) -> Exception:
    """What to raise where the value of an expression depends on the path taken."""
    return frame.b.by_path(key_of(frame, node), error)


def pulled_out(frame: Frame, statement: core.Statement) -> tuple[core.Body, str] | None:
    """The statement with a part pulled out in front, and the name of that; None where there is nothing to do."""
    known = frame.program.pulled
    marked = any(isinstance(key, tuple) and key[0] == EXPRESSION for key in frame.b.split_at)
    if not marked or isinstance(statement, core.While | core.Define):
        return None
    if statement not in known:
        known[statement] = _pull(frame, statement)
    found: tuple[core.Body, str] | None = known[statement]
    return found


def has_marked(frame: Frame, tree: core.Expression) -> bool:
    """Whether a part of an expression is to be pulled out."""
    return isinstance(tree, ast.AST) and _target(frame, tree) is not None


def _pull(frame: Frame, statement: core.Statement) -> tuple[core.Body, str] | None:
    for field in fields(statement):
        tree = getattr(statement, field.name)
        if not isinstance(tree, ast.expr):
            continue
        target = _target(frame, tree)
        if target is None or not _may_come_first(frame, tree, target):
            continue
        if tree is target and isinstance(tree, ast.Call) and _binds_names(statement):
            continue  # names may be bound to the result
        name = f".chosen_{len(frame.program.pulled)}"
        change: Any = {field.name: _replaced(tree, target, name)}
        body = (*_bound_first(frame, target, name), replace(statement, **change))
        live = frame.liveness.after[statement] | statement.uses | {name}
        frame.liveness.after |= dict.fromkeys(_all(body[:-1]), live)
        frame.liveness.after[body[-1]] = frame.liveness.after[statement]
        if statement in frame.liveness.loops:
            frame.liveness.loops[body[-1]] = frame.liveness.loops[statement]
        return body, name
    return None


def _binds_names(statement: core.Statement) -> bool:
    return isinstance(statement, core.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)


def _all(body: core.Body) -> Iterator[core.Statement]:
    for statement in body:
        yield statement
        for inner in statement.bodies():
            yield from _all(inner)


def _target(frame: Frame, tree: ast.AST) -> ast.expr | None:
    """The first marked part, or what decides whether that is evaluated at all."""
    for part, ancestors in _walk(tree, []):
        if isinstance(part, ast.IfExp | ast.BoolOp | ast.Call) and frame.b.split_at.get(key_of(frame, part)):
            for ancestor, child in ancestors:
                if isinstance(ancestor, _REPEATED):
                    return None
                is_first = isinstance(ancestor, ast.BoolOp) and child is ancestor.values[0]
                is_test = isinstance(ancestor, ast.IfExp) and child is ancestor.test
                if isinstance(ancestor, ast.BoolOp | ast.IfExp) and not is_first and not is_test:
                    return ancestor
            return part
    return None


def _walk(tree: ast.AST, ancestors: Ancestors) -> Iterator[tuple[ast.AST, Ancestors]]:
    yield tree, ancestors
    for child in ast.iter_child_nodes(tree):
        yield from _walk(child, [*ancestors, (tree, child)])


def _may_come_first(frame: Frame, tree: ast.expr, target: ast.expr) -> bool:
    """Whether evaluating `target` before the rest of the expression changes nothing."""
    inside = set(map(id, ast.walk(target)))
    if not _runs_code(target) and all(_is_plain(frame, part) for part in ast.walk(target)):
        return True
    around = next({id(ancestor) for ancestor, _ in ancestors} for part, ancestors in _walk(tree, []) if part is target)
    others = [part for part in ast.walk(tree) if id(part) not in inside and id(part) not in around]
    if _runs_code(target):
        return all(_is_plain(frame, part) for part in others)
    return not any(map(_is_code, others))


def _runs_code(tree: ast.expr) -> bool:
    return any(map(_is_code, ast.walk(tree)))


def _is_code(part: ast.AST) -> bool:
    return isinstance(part, ast.Call | ast.NamedExpr)


def _is_plain(frame: Frame, part: ast.AST) -> bool:
    """Whether a part of an expression is the same before and after code has run: no element, no field."""
    if isinstance(part, ast.Name):
        value = frame.env.get(part.id, Static(None))
        return isinstance(value, Static) or is_number(value)
    return not isinstance(part, ast.Subscript | ast.Attribute | ast.Call | ast.NamedExpr)


def _bound_first(frame: Frame, target: ast.expr, name: str) -> core.Body:
    """Statements that bind the name to the value of an expression."""
    span = frame.span(target)

    def bind(value: ast.expr) -> core.Statement:
        return core.Assign((_name(name, target, ast.Store()),), value, span=frame.span(value))

    match target:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            frame.b.split_at[span] = True
            return (core.If(test, (bind(body),), (bind(orelse),), span=span),)
        case ast.BoolOp(op=op, values=[first, *others]):
            frame.b.split_at[span] = True
            rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(op, others), target)
            test = _name(name, target, ast.Load())
            sides: tuple[core.Body, core.Body] = ((bind(rest),), ())
            yes, no = sides if isinstance(op, ast.And) else sides[::-1]
            return (bind(first), core.If(test, yes, no, span=span))
    return (bind(target),)


def _name(name: str, place: ast.expr, context: ast.expr_context) -> ast.Name:
    return ast.copy_location(ast.Name(name, context), place)


def _replaced(tree: Any, target: ast.expr, name: str) -> Any:
    """A copy of the tree that reads the name in place of `target`."""
    if tree is target:
        return _name(name, target, ast.Load())
    if isinstance(tree, list):
        return [_replaced(part, target, name) for part in tree]
    if not isinstance(tree, ast.AST) or not any(part is target for part in ast.walk(tree)):
        return tree
    changed = copy.copy(tree)
    for field, value in ast.iter_fields(tree):
        setattr(changed, field, _replaced(value, target, name))
    return changed


def usable_result(frame: Frame, node: ast.Call, value: Value) -> Value:
    """What a call gives, in the middle of an expression: not what depends on the path taken."""
    if isinstance(value, Missing):
        raise frame.b.by_path(value.merge, FrontendError(value.reason, help=value.help))
    if isinstance(value, Versions):
        error = FrontendError(
            "what the function returns depends on the path taken", help="assign the result to a name, and use that"
        )
        raise matters(frame, node, error)
    return value

"""Expression splitting: parts of expressions whose value depends on the path taken get names.

``a[k : end or None]`` becomes ``chosen = end``, ``if not chosen: chosen = None``, ``a[k : chosen]``, and there are two
versions of the last one (`path_splitting`). That is done where a value was found to be of two kinds (`PathsMatter`).
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import Kinds
from dcpy.frontend.abstract_values.number_kinds import instead_of, python_type, python_types
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Missing,
    Scalar,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.lowering_signals import EXPRESSION, RUNS, PathsMatter
from dcpy.frontend.lower.sequences import item_words, list_types
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Load, op
from dcpy.ir.symbolic import as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_REPEATED = ast.Lambda | ast.comprehension | ast.ListComp | ast.GeneratorExp | ast.DictComp
Ancestors = list[tuple[ast.AST, ast.AST]]  # each with the child that leads to what is looked for


def key_of(frame: Frame, node: ast.expr) -> object:
    """The place of an expression whose value depends on the path taken."""
    return _key(frame, node)


def key_of_item(frame: Frame, owner: TupleValue) -> object:
    """The place of the expression being evaluated, which takes an item at a position known at run time only."""
    place = frame.emit.place
    if place is None or place[0] is not frame or not isinstance(place[1], ast.Subscript):
        return None
    return (*_key(frame, place[1]), len(owner.items))


def _key(frame: Frame, node: ast.expr) -> tuple[object, object]:
    return EXPRESSION, frame.span(node)


def _count(frame: Frame, node: ast.expr) -> int | None:
    """Return the number of items to choose from at a marked place."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant):
        return None
    key = _key(frame, node)
    return next((known[2] for known, apart in frame.b.split_joins.items()
                 if apart and isinstance(known, tuple) and len(known) == 3 and known[:2] == key), None)  # fmt: skip


def path_dependent_value(frame: Frame, node: ast.expr, error: FrontendError) -> Exception:
    """Return the exception to raise where the value of an expression depends on the path taken."""
    return frame.b.by_path(key_of(frame, node), error)


def split_statement(frame: Frame, statement: core.Statement) -> tuple[core.Body, str] | None:
    """The statement with a part pulled out in front, and the name of that; None where there is nothing to do."""
    known = frame.program.split_expressions
    marked = any(isinstance(key, tuple) and key[0] == EXPRESSION for key in frame.b.split_joins)
    if not marked or isinstance(statement, core.While | core.Define):
        return None
    if statement not in known:
        known[statement] = _pull(frame, statement)
    found: tuple[core.Body, str] | None = known[statement]
    if found is not None and found[0][-1] not in frame.liveness.after:  # each activation knows what is live in it
        _in_place_of(frame, statement, *found)
    return found


def has_marked(frame: Frame, tree: core.Expression) -> bool:
    """Return whether a part of an expression is to be pulled out."""
    return isinstance(tree, ast.AST) and _target(frame, tree) is not None


def _pull(frame: Frame, statement: core.Statement) -> tuple[core.Body, str] | None:
    if isinstance(statement, core.Assign) and _has_marked_target(frame, statement):
        return _pull_target(frame, statement)
    for field in fields(statement):
        tree = getattr(statement, field.name)
        if not isinstance(tree, ast.expr):
            continue
        target = _target(frame, tree)
        if target is None or not _may_come_first(frame, tree, target, statement.shares) or not _is_simple(target):
            continue
        if tree is target and isinstance(tree, ast.Call) and _binds_names(statement):
            continue  # names may be bound to the result
        name = f".chosen_{len(frame.program.split_expressions)}"
        change: Any = {field.name: _replaced(tree, target, name)}
        body = (*_bound_first(frame, target, name, statement.shares), replace(statement, **change))
        return _in_place_of(frame, statement, body, name), name
    return None


def _in_place_of(frame: Frame, statement: core.Statement, body: core.Body, name: str) -> core.Body:
    """The body, of which the last statement stands for one that there was, and knows what is live after it."""
    live = frame.liveness.after[statement] | statement.uses | {name, f"{name}_at", f"{name}_value"}
    frame.liveness.after |= dict.fromkeys(core.statements_in(body[:-1]), live)
    frame.liveness.after[body[-1]] = frame.liveness.after[statement]
    if statement in frame.liveness.loops:
        frame.liveness.loops[body[-1]] = frame.liveness.loops[statement]
    return body


def _has_marked_target(frame: Frame, statement: core.Assign) -> bool:
    return statement.annotation is None and any(_target(frame, tree) is not None for tree in statement.targets)


def _pull_target(frame: Frame, statement: core.Assign) -> tuple[core.Body, str] | None:
    """``x[k][0] = value``: the value first, then what is chosen, then the assignment."""
    if len(statement.targets) > 1 or isinstance(statement.value, core.KnownBool | core.Imported):
        return None
    tree, value = statement.targets[0], statement.value
    target = _target(frame, tree)
    if not isinstance(tree, ast.Subscript | ast.Attribute) or target is tree or target is None:
        return None
    if not _is_simple(target) or not _may_come_first(frame, tree, target, statement.shares):
        return None
    name = f".chosen_{len(frame.program.split_expressions)}"
    value_name = _name(f"{name}_value", value, ast.Store())
    first = core.Assign((value_name,), value, span=statement.span, shares=statement.shares)
    changed = replace(statement, targets=(_replaced(tree, target, name),),
                      value=_name(f"{name}_value", value, ast.Load()))  # fmt: skip
    body = (first, *_bound_first(frame, target, name, statement.shares), changed)
    return _in_place_of(frame, statement, body, name), name


def _is_simple(target: ast.expr) -> bool:
    """Return whether what an item is taken from can be written once for each of them."""
    if isinstance(target, ast.BinOp):
        return not _runs_code(target)
    return not isinstance(target, ast.Subscript) or not _runs_code(target.value)


def _binds_names(statement: core.Statement) -> bool:
    return isinstance(statement, core.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)


def _target(frame: Frame, tree: ast.AST) -> ast.expr | None:
    """The first marked part, or what decides whether that is evaluated at all."""
    for part, ancestors in _walk(tree, []):
        of_kind = isinstance(part, ast.IfExp | ast.BoolOp | ast.Call) or is_negated_power(part)
        if isinstance(part, ast.expr) and (
            (of_kind and frame.b.split_joins.get(key_of(frame, part))) or _count(frame, part) is not None
        ):
            for ancestor, child in ancestors:
                if isinstance(ancestor, _REPEATED):
                    return None
                is_first = isinstance(ancestor, ast.BoolOp) and child is ancestor.values[0]
                is_test = isinstance(ancestor, ast.IfExp) and child is ancestor.test
                if isinstance(ancestor, ast.BoolOp | ast.IfExp) and not is_first and not is_test:
                    return ancestor
            given = ast.iter_child_nodes(part) if isinstance(part, ast.Call) else ()
            inner = map(functools.partial(_target, frame), given)
            return next(filter(None, inner), part)  # what a call is given comes before it
    return None


def is_negated_power(tree: ast.AST) -> bool:
    """Return whether an expression is a power whose exponent is written with a minus."""
    return isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow) and isinstance(tree.right, ast.UnaryOp) and (
        isinstance(tree.right.op, ast.USub))  # fmt: skip


def _walk(tree: ast.AST, ancestors: Ancestors) -> Iterator[tuple[ast.AST, Ancestors]]:
    yield tree, ancestors
    for child in ast.iter_child_nodes(tree):
        yield from _walk(child, [*ancestors, (tree, child)])


def _may_come_first(frame: Frame, tree: ast.expr, target: ast.expr, shares: frozenset[str]) -> bool:
    """Return whether evaluating `target` before the rest of the expression changes nothing."""
    inside = set(map(id, ast.walk(target)))
    if not _runs_code(target) and all(_is_plain(frame, part, shares) for part in ast.walk(target)):
        return True
    around = next({id(ancestor) for ancestor, _ in ancestors} for part, ancestors in _walk(tree, []) if part is target)
    others = [part for part, _ in _walk(tree, []) if part is target or id(part) not in inside | around]
    earlier = others[: others.index(target)]
    if any(isinstance(part, ast.Dict) and id(part) in around for part in ast.walk(tree)):
        earlier = [part for part in others if part is not target]  # values are evaluated between the keys
    if _runs_code(target):
        return all(_is_plain(frame, part, shares) for part in earlier)
    return not any(map(_is_code, earlier))


def _runs_code(tree: ast.expr) -> bool:
    return any(map(_is_code, ast.walk(tree)))


def _is_code(part: ast.AST) -> bool:
    return isinstance(part, ast.Call | ast.NamedExpr)


def _is_plain(frame: Frame, part: ast.AST, shares: frozenset[str]) -> bool:
    """Return whether a part of an expression is the same before and after code has run: no element, no field.

    `shares`: names that the code may assign.
    """
    if isinstance(part, ast.Name):
        value = frame.env.get(part.id, Static(None))
        if part.id.startswith("."):  # what was pulled out before
            return True
        return part.id not in shares and (isinstance(value, Static | ArrayValue) or is_number(value))
    return not isinstance(part, ast.Subscript | ast.Attribute | ast.Call | ast.NamedExpr)


def _bound_first(frame: Frame, target: ast.expr, name: str, shares: frozenset[str]) -> core.Body:
    """Statements that bind the name to the value of an expression; `shares`: names that its calls may assign."""
    span = frame.span(target)

    def bind(value: ast.expr) -> core.Statement:
        return core.Assign((_name(name, target, ast.Store()),), value, span=frame.span(value), shares=shares)

    match target:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            frame.b.split_joins[span] = True
            return (core.If(test, (bind(body),), (bind(orelse),), span=span, shares=shares),)
        case ast.BoolOp(op=op, values=[first, *others]):
            frame.b.split_joins[span] = True
            rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(op, others), target)
            test = _name(name, target, ast.Load())
            sides: tuple[core.Body, core.Body] = ((bind(rest),), ())
            yes, no = sides if isinstance(op, ast.And) else sides[::-1]
            return (bind(first), core.If(test, yes, no, span=span, shares=shares))
        case ast.BinOp(left=base, right=ast.UnaryOp(operand=exponent)):
            frame.b.split_joins[span] = True
            test, of_float, of_int = map(_placed(target), (
                ast.Compare(exponent, [ast.Gt()], [ast.Constant(0)]),
                ast.BinOp(ast.BinOp(ast.Constant(1.0), ast.Mult(), base), ast.Pow(), _negative(exponent)),
                ast.BinOp(base, ast.Pow(), _negative(exponent)),
            ))  # fmt: skip
            return (core.If(test, (bind(of_float),), (bind(of_int),), span=span, shares=shares),)
        case ast.Subscript():
            return _item_first(frame, target, name, shares)
    return (bind(target),)


def _negative(tree: ast.expr) -> ast.expr:
    """The expression with its sign turned, in words that are not split again."""
    return ast.BinOp(ast.Constant(0), ast.Sub(), tree)


def _placed(place: ast.expr) -> Callable[[ast.expr], ast.expr]:
    """A function that gives the new parts of a tree the place of another one."""

    def put(tree: ast.expr) -> ast.expr:
        for part in ast.walk(tree):
            if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
                ast.copy_location(part, place)
        return tree

    return put


def _item_first(frame: Frame, target: ast.Subscript, name: str, shares: frozenset[str]) -> core.Body:
    """The position, from the front, and then the item there: each has a branch of its own."""
    span, count, at = frame.span(target), _count(frame, target), f"{name}_at"
    assert count is not None

    def find() -> None:
        here = frame.program.current or frame  # the statements are those of all activations of the function
        key, owner = here.env[at], target.value
        shown = here.env.get(owner.id) if isinstance(owner, ast.Name) else None
        is_tuple = isinstance(owner, ast.Tuple) or (isinstance(shown, TupleValue) and not shown.is_list)
        what = f"{'tuple' if is_tuple else 'list'} index out of range"
        here.env[at] = SymInt(list_types.position(here.b, key, as_expr(count), what))

    def bind(position: int) -> core.Statement:
        index = ast.copy_location(ast.Constant(position), target)
        item = ast.copy_location(ast.Subscript(target.value, index, ast.Load()), target)
        return core.Assign((_name(name, target, ast.Store()),), item, span=span, shares=shares)

    chosen: core.Body = (bind(count - 1),)
    for position in reversed(range(count - 1)):
        constant = ast.copy_location(ast.Constant(position), target)
        test = ast.copy_location(ast.Compare(_name(at, target, ast.Load()), [ast.Eq()], [constant]), target)
        chosen = (core.If(test, (bind(position),), chosen, span=span, shares=shares),)
        frame.b.split_joins[span] = True
    key = core.Assign((_name(at, target, ast.Store()),), target.slice, span=span, shares=shares)
    return (key, core.Resume(find, frozenset({at}), span=span), *chosen)


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
    """Return the value of a call in the middle of an expression; refuse values that depend on the path taken."""
    if isinstance(value, Missing):
        raise frame.b.by_path(value.merge, FrontendError(value.reason, help=value.help))
    if isinstance(value, VariantValue):
        if item_words.is_of_item(frame.b, value):
            return value
        kinds = " or ".join(dict.fromkeys(kind_of(option) for _, option in value.options))
        error = FrontendError(
            f"the result of this call is {kinds}, depending on the path taken",
            help="convert it to one type where it is made, as `int(...)` and `float(...)` do, or use a name for it",
        )
        found = _apart_or_not(frame, value, path_dependent_value(frame, node, error))
        number = _of_one_dtype(value) if isinstance(found, FrontendError) else None
        if number is not None:
            return number
        if not isinstance(found, FrontendError) or not all(_is_plain_option(option) for _, option in value.options):
            raise found
    return value


def _is_plain_option(option: Value) -> bool:
    """Return whether expressions take it as one of several kinds, where it cannot be computed before them."""
    if isinstance(option, TupleValue):
        return not option.is_list and all(map(_is_plain_option, option.items))
    return is_number(option) or isinstance(option, Static | TextValue)


def _of_one_dtype(value: VariantValue) -> Scalar | None:
    """The number that is one of several of one dtype, which only differ in whether they are Python's; else None."""
    options = [option for _, option in value.options]
    if not all(map(is_number, options)) or len({dtype_of(option) for option in options}) > 1:
        return None
    dtype, weak = dtype_of(options[0]), all(map(is_weak, options))
    expr = scalar_expr(options[-1])
    for number, option in value.options[:-1]:
        test = op("eq", Load(value.which, (), types.int64), Const(number, types.int64))
        expr = op("select", test, scalar_expr(option), expr)
    own = python_type(dtype) if weak else dtype.numpy.type
    others = [kind for option in options for kind in (*python_types(option), *instead_of(option)) if kind is not own]
    return Scalar(expr, weak, Kinds(others, of_items=True))


def _apart_or_not(frame: Frame, value: VariantValue, found: Exception) -> Exception:
    """Return the exception for versions that an expression cannot separate: a number's after a loop become one."""
    merge = frame.program.selector_origins.get(value.which)
    is_number = isinstance(merge, tuple) and merge[0] == RUNS
    if is_number and isinstance(found, FrontendError) and frame.b.split_joins.get(merge):
        return PathsMatter(merge, found, keep_apart=False)
    return found

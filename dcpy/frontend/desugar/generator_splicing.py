"""Generator splicing: a generator that loops over another one, as one generator.

    for x in squares(n): yield x + 1      is      squares_1_n = n; for i in range(squares_1_n): x = i * i; yield x + 1

The statements of the inner generator get names of their own, and the body of the loop goes where they yield. That is
done for plain calls of functions of the same module whose items are asked for to the end.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from dcpy.base.source import SrcSpan
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.introspection.function_source import take_over

Find = Callable[[str], tuple[FunctionType, ast.FunctionDef] | None]  # a generator of the module, by its name
_HIDING = ast.FunctionDef | ast.ClassDef | ast.Return | ast.Global | ast.Nonlocal | ast.Try | ast.With | ast.Match


def spliced(loop: ast.For, find: Find, around: Sequence[str], prefix: str, taken: set[str]) -> list[ast.stmt] | None:
    """The statements that a loop over a call of a generator is; None where it is not that simple.

    `around`: the generators that this place is already in. `taken`: the names of the generator with the loop.
    """
    match loop.iter:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name not in around and name not in taken:
            found = find(name)
        case _:
            return None
    if found is None or loop.orelse or any(isinstance(arg, ast.Starred) for arg in args):
        return None
    function, node = found
    plain = node.args
    if plain.vararg or plain.kwarg or plain.kwonlyargs or len(args) != len([*plain.posonlyargs, *plain.args]):
        return None
    if any(isinstance(part, _HIDING) for statement in node.body for part in ast.walk(statement)):
        return None
    if function.__code__.co_freevars or any(map(_jumps, loop.body)):
        return None
    body = _taken_over(function, node, loop)
    own = {*parameter_names(node.args), *(part.id for part in _parts(body, ast.Name) if _is_stored(part)),
           *(part.arg for part in _parts(body, ast.arg))}  # fmt: skip
    read = {part.id for part in _parts(body, ast.Name)} - own
    if read & taken:
        return None
    for part in _parts(body, ast.Name):
        part.id = prefix + part.id if part.id in own else part.id
    for part in _parts(body, ast.arg):
        part.arg = prefix + part.arg
    parameters = [arg.arg for arg in (*plain.posonlyargs, *plain.args)]
    bound: list[ast.stmt] = [ast.Assign([ast.Name(prefix + arg, ast.Store())], value)
                             for arg, value in zip(parameters, args, strict=True)]  # fmt: skip
    made = [*bound, *_with_body(body, loop)]
    for statement in made:
        ast.copy_location(statement, loop) if not hasattr(statement, "lineno") else None
    return made


def _taken_over(function: FunctionType, node: ast.FunctionDef, loop: ast.For) -> list[ast.stmt]:
    """A copy of the statements of a generator, whose places are in the call that a loop is over."""
    file, end, body = function.__code__.co_filename, loop.iter, copy.deepcopy(node.body)
    at = SrcSpan(file, loop.lineno, loop.col_offset, end.end_lineno or 0, end.end_col_offset or 0)
    for statement in body:
        take_over(statement, file, node.name, at)
    return body


def _parts(body: Sequence[ast.AST], kind: type) -> list[Any]:
    return [part for statement in body for part in ast.walk(statement) if isinstance(part, kind)]


def _is_stored(part: ast.Name) -> bool:
    return not isinstance(part.ctx, ast.Load)


def _jumps(part: ast.AST) -> bool:
    """Return whether a statement leaves the loop that it is in, or its iteration."""
    if isinstance(part, ast.Break | ast.Continue):
        return True
    inner = part.orelse if isinstance(part, ast.For | ast.While) else ast.iter_child_nodes(part)
    return any(_jumps(one) for one in inner if isinstance(one, ast.stmt))


def _with_body(body: list[ast.stmt], loop: ast.For) -> list[ast.stmt]:
    """The statements, with the body of the loop where they yield."""
    done: list[ast.stmt] = []
    for part in body:
        match part:
            case ast.Expr(value=ast.Yield(value=value)):
                item = ast.Assign([copy.deepcopy(loop.target)], value or ast.Constant(None))
                done += [ast.copy_location(item, part), *copy.deepcopy(loop.body)]
            case ast.Expr(value=ast.YieldFrom(value=items)):
                again = ast.For(copy.deepcopy(loop.target), items, copy.deepcopy(loop.body), [])
                done.append(ast.copy_location(again, part))
            case ast.If(test=test, body=first, orelse=orelse):
                made = ast.If(test, _with_body(first, loop), _with_body(orelse, loop))
                done.append(ast.copy_location(made, part))
            case ast.While(test=test, body=first, orelse=orelse):
                again_while = ast.While(test, _with_body(first, loop), _with_body(orelse, loop))
                done.append(ast.copy_location(again_while, part))
            case ast.For(target=target, iter=items, body=first, orelse=orelse):
                inner = ast.For(target, items, _with_body(first, loop), _with_body(orelse, loop))
                done.append(ast.copy_location(inner, part))
            case _:
                done.append(part)
    return done

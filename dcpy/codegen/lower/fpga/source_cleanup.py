"""Source cleanup for processes: bounds of loops get names, and tokens are read where they are used.

before   const float x_next = x.read(); float v = x_next;       after   float v = x.read();
before   for (i = 0; i < max(0, N - 2)*62; i++)                 after   const int64_t iterations = max(0, N - 2)*62;
                                                                        for (i = 0; i < iterations; i++)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name, Operation
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import INDEX

Fresh = Callable[[str], str]


def cleaned_up(body: tree.Body, fresh: Fresh) -> tree.Body:
    """The statements of a process; nothing happens in another order."""
    used = (part for one in statements(body) for expr in expressions(one) for part in parts(expr))
    return _written(body, Counter(part.name for part in used if isinstance(part, Name)), fresh)


def _written(body: tree.Body, mentions: Counter[str], fresh: Fresh) -> tree.Body:
    found: list[tree.Statement] = []
    for statement in body:
        inner = _with_bodies(statement, mentions, fresh)
        token = _taken(found[-1]) if found else None
        if token is not None and mentions[token.name] == 1 and (direct := _with_value(inner, token)) is not None:
            found[-1] = direct
        elif isinstance(inner, tree.Loop):
            found += _with_named_bound(inner, fresh)
        else:
            found.append(inner)
    return tuple(found)


def _with_bodies(statement: tree.Statement, mentions: Counter[str], fresh: Fresh) -> tree.Statement:
    match statement:
        case tree.Loop(body=body) | tree.Compound(body=body):
            return replace(statement, body=_written(body, mentions, fresh))
        case tree.If(cases=cases, otherwise=otherwise):
            new = tuple((condition, _written(inside, mentions, fresh)) for condition, inside in cases)
            return replace(statement, cases=new, otherwise=_written(otherwise, mentions, fresh))
    return statement


def _taken(statement: tree.Statement) -> tree.Declare | None:
    """A constant that is a token of a queue."""
    match statement:
        case tree.Declare(value=Intrinsic(name="take"), constant=True):
            return statement
    return None


def _with_value(statement: tree.Statement, token: tree.Declare) -> tree.Statement | None:
    """A statement whose value is a constant, with what that stands for; None where it is anything else."""
    match statement:
        case tree.Declare(value=Name(name=name)) | tree.Assign(value=Name(name=name)) if name == token.name:
            assert token.value is not None
            return replace(statement, value=token.value)
    return None


def _with_named_bound(loop: tree.Loop, fresh: Fresh) -> Iterator[tree.Statement]:
    """A loop behind a constant with its bound, where that is computed."""
    if loop.index != INDEX or not _is_computed(loop.stop):
        yield loop
        return
    name = fresh("iterations" if isinstance(loop.start, Literal) and loop.start.value == 0 else f"{loop.var}_end")
    yield tree.Declare(name, INDEX, loop.stop, span=loop.span, constant=True)
    yield replace(loop, stop=Name(name, INDEX))


def _is_computed(expr: LirExpr) -> bool:
    """Return whether it is more than a sum."""
    return any(isinstance(part, Operation) or (isinstance(part, Infix) and part.op in "*/") for part in parts(expr))

"""Checked vectors: a parallel loop with checks and functions is vectors in each tile in which no check fails.

before   loop i { k = p[i];  if k < 0 || k >= n { stop };  r[i] = exp(v[k]) }
after    loop tile { var odd = 0;  loop i in tile simd { k = p[i];  odd |= k < 0 || k >= n }
                     if odd != 0 { loop i in tile { ... as before ... } }
                     else { loop i in tile simd { k = p[i];  r[i] = exp(v[k]) } } }

Nothing leaves a loop of vectors (`vector_checks`). Where the loop calls functions that have vectors, scalars take
several times as long as looking at each index twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.base.option_groups.cpu import Language
from dcpy.base.vector_math import vector_functions
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, LirExpr, Name, Operation, integer
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.cpu.vector_checks import flagged, is_check, only_checks, runs_on
from dcpy.codegen.lower.cpu.vector_tiles import in_tiles

SAVED, SAVED_BY_ROOTS = 8, 2  #: numbers that are gathered in the time that vectors of a function, or of roots, save


def checked_tiles(context: Context, loop: tree.Loop) -> tree.Loop | None:
    """The innermost of a map's loops in tiles; None where a check comes behind a store, or scalars are as fast."""
    if not context.on_host or context.process or context.module.options.language is not Language.CPP:
        return None
    if loop.down or loop.step != integer(1) or loop.reductions or not _pays(loop.body):
        return None
    if any(isinstance(mark, tree.Divided) and (mark.chunk or mark.collapse > 1) for mark in loop.marks):
        return None
    body = tuple(_flat(loop.body))
    last = max(place for place, each in enumerate(body) if is_check(each))
    before, rest = body[: last + 1], body[last + 1 :]
    if any(is_check(each) and not isinstance(each, tree.CheckFail) for each in before):
        return None
    if not only_checks(before) or not all(map(_is_plain, rest)):
        return None
    asked = tuple(_needed(before))
    if not runs_on(asked):
        return None
    odd = Name(context.names.fresh("odd"), INDEX)
    vectors = (*(each for each in before if not is_check(each)), *rest)
    simd = replace(loop, marks=(*loop.marks, tree.Simd()))
    return in_tiles(simd, context.names, odd, tuple(flagged(asked, odd)), vectors)


def _pays(body: tree.Body) -> bool:
    """Return whether functions save more than it takes to gather what is looked up."""
    own = {each.name for each in statements(body) if isinstance(each, tree.Declare)}
    saved = lookups = 0
    for part in (part for each in statements(body) for expr in expressions(each) for part in parts(expr)):
        if isinstance(part, Operation):
            saved += SAVED if part.name in vector_functions() else SAVED_BY_ROOTS if part.name == "sqrt" else 0
        elif isinstance(part, Item):
            lookups += any(isinstance(each, Name) and each.name in own for each in parts(part.index))
    return saved > 0 and saved >= lookups


def _flat(body: tree.Body) -> Iterator[tree.Statement]:
    """The statements of an iteration, without scopes that hold all of it."""
    if len(body) == 1 and isinstance(body[0], tree.Compound | tree.Attempt):
        yield from _flat(body[0].body)
    else:
        yield from body


def _needed(body: tree.Body) -> list[tree.Statement]:
    """The checks, and what they are computed from."""
    used: set[str] = set()
    found: list[tree.Statement] = []
    for statement in reversed(body):
        if isinstance(statement, tree.CheckFail):
            asked: tuple[LirExpr, ...] = (statement.condition,)
        elif not isinstance(statement, tree.Declare) or statement.name in used:
            asked = expressions(statement)
        else:
            continue
        found.append(statement)
        used |= {part.name for expr in asked for part in parts(expr) if isinstance(part, Name)}
    return found[::-1]


def _is_plain(statement: tree.Statement) -> bool:
    if isinstance(statement, tree.Compound):
        return all(map(_is_plain, statement.body))
    return isinstance(statement, tree.Declare | tree.Assign)

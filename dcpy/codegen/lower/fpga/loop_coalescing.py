"""Loop coalescing: a perfect nest around a pipelined loop becomes one loop, so that the pipeline never runs empty.

before   for i in 0:N { @pipelined for j in 0:M { body } }
after    i = 0; j = 0
         @pipelined for c in 0:N*M { body; j += 1; if j >= M { j = 0; i += 1 } }

Applies where the bounds of the inner loops do not depend on the outer ones, nothing stands between the loops, and no
iteration needs what one of another row has computed, which may still be on its way: unless it is known after how many
iterations it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, LirExpr, Literal, Name, Operation, integer, plus, times
from dcpy.codegen.lir.traversal import parts
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.codegen.lower.fpga.pipeline_recurrences import carried, polynomial

Fresh = Callable[[str], str]


def coalesced(body: tree.Body, fresh: Fresh, naturals: frozenset[str] = frozenset()) -> tree.Body:
    """The statements, in which perfect nests of pipelines are one loop each. `naturals` are never negative."""
    found: list[tree.Statement] = []
    for statement in body:
        match statement:
            case tree.Loop():
                found += _loop(statement, fresh, naturals)
            case tree.Compound(body=inside):
                found.append(replace(statement, body=coalesced(inside, fresh, naturals)))
            case tree.If(cases=cases, otherwise=otherwise):
                new = tuple((condition, coalesced(inside, fresh, naturals)) for condition, inside in cases)
                found.append(replace(statement, cases=new, otherwise=coalesced(otherwise, fresh, naturals)))
            case _:
                found.append(statement)
    return tuple(found)


def _loop(loop: tree.Loop, fresh: Fresh, naturals: frozenset[str]) -> tree.Body:
    nest = perfect_nest(loop)
    if len(nest) < 2:
        return (replace(loop, body=coalesced(loop.body, fresh, naturals)),)
    *_, inner = nest
    counter = fresh("iteration")
    total: LirExpr = integer(1)
    for one in nest:
        total = times(total, trips(one, naturals))
    variables = [tree.Declare(one.var, INDEX, one.start, span=one.span) for one in nest]
    body = (*inner.body, *_next(nest))
    axes = tuple(replace(one, body=(), marks=()) for one in nest)
    marks = tuple(replace(mark, nest=axes) if isinstance(mark, tree.Pipelined) else mark for mark in inner.marks)
    whole = tree.Loop(counter, integer(0), total, integer(1), body, marks=marks, span=loop.span)
    return (tree.Compound((*variables, whole)),)


def perfect_nest(loop: tree.Loop) -> list[tree.Loop]:
    """The loops of a nest whose innermost one is pipelined, from the outermost that it is coalesced with; or none."""
    nest = [loop]
    while not is_pipelined(nest[-1]):
        inside = _alone(nest[-1].body)
        if inside is None or nest[-1].marks or nest[-1].down is not False:
            return []
        nest.append(inside)
    variables: set[str] = set()
    for one in nest:
        bounds = {
            part.name for bound in (one.start, one.stop, one.step) for part in parts(bound) if isinstance(part, Name)
        }
        if bounds & variables or one.down is not False or one.index != INDEX:
            return []
        variables.add(one.var)
    *_, inner = nest
    free = any(isinstance(mark, tree.Pipelined) and mark.parallel for mark in inner.marks)
    return nest if free or len(nest) == 1 or all(_is_told(one) for one in carried(inner.body)) else []


def _is_told(one: tuple[str, tuple[LirExpr, ...], tuple[LirExpr, ...]]) -> bool:
    """Return whether the interval is one with which rows may follow each other: what is carried is at one place of an
    array.

    After how many iterations of the whole nest that comes again is known then (`recurrences.reuse_distance`).
    """
    _, reads, writes = one
    places = [polynomial(index) for index in (*reads, *writes)]
    return all(place is not None and place == places[0] for place in places)


def is_pipelined(loop: tree.Loop) -> bool:
    """Return whether a loop has that mark itself."""
    return any(isinstance(mark, tree.Pipelined) for mark in loop.marks)


def _alone(body: tree.Body) -> tree.Loop | None:
    """The loop that is all of a body."""
    match body:
        case (tree.Loop() as loop,):
            return loop
        case (tree.Compound(body=inside),):
            return _alone(inside)
    return None


def trips(loop: tree.Loop, naturals: frozenset[str] = frozenset()) -> LirExpr:
    """Return the trip count of an upward loop: a number that is not negative, as `naturals` are."""
    distance = loop.stop if _is_zero(loop.start) else Infix("-", loop.stop, loop.start, INDEX)
    if isinstance(loop.start, Literal) and isinstance(loop.stop, Literal):
        distance = integer(int(loop.stop.value or 0) - int(loop.start.value or 0))
    is_natural = _is_natural(distance, naturals)
    if loop.step != integer(1):
        rounded = plus(distance, plus(loop.step, integer(-1)))
        divided = Operation("floordiv", (rounded, loop.step), INDEX, INDEX)
        distance = Infix("/", rounded, loop.step, INDEX) if is_natural and _is_natural(loop.step, naturals) else divided
    if isinstance(distance, Literal) and isinstance(distance.value, int):
        return integer(max(distance.value, 0))
    return distance if is_natural else Operation("max", (integer(0), distance), INDEX, INDEX)


def _is_natural(expr: LirExpr, naturals: frozenset[str]) -> bool:
    """Return whether an expression is surely not negative, as far as one sees by looking."""
    match expr:
        case Literal(value=int() as value):
            return value >= 0
        case Name(name=name):
            return name in naturals
        case Operation(name="max", args=args):
            return any(_is_natural(arg, naturals) for arg in args)
        case Operation(name="min", args=args):
            return all(_is_natural(arg, naturals) for arg in args)
        case Infix(op="+" | "*" | "/", left=left, right=right):
            return _is_natural(left, naturals) and _is_natural(right, naturals)
    return False


def _is_zero(expr: LirExpr) -> bool:
    return isinstance(expr, Literal) and expr.value == 0


def _next(nest: Sequence[tree.Loop]) -> tree.Body:
    """The variables of the next iteration, as an odometer counts."""
    *outer, inner = nest
    variable = Name(inner.var, INDEX)
    step = tree.Assign(variable, plus(variable, inner.step))
    if not outer:
        return (step,)
    end = Infix(">=", variable, inner.stop, TRUTH)
    return (step, tree.If(((end, (tree.Assign(variable, inner.start), *_next(outer))),)))

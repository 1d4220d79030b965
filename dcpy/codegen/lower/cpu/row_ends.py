"""Row ends: the last iterations of a row of functions become one vector, which begins before the others end.

before   loop row { loop i = 0:n simd { r[row, i] = tanh(x[row, i]) } }
after    loop row { whole = n < 4 ? n : n/4*4
                    loop i = 0:whole simd { r[row, i] = tanh(x[row, i]) }
                    if whole < n { loop lane = 0:4 simd { i = n - 4 + lane
                                                          r[row, i] = i >= whole ? tanh(x[row, i]) : r[row, i] } } }

What is left over of a row is up to three scalar calls, each as long as one of a vector: a third of the time where rows
are short. What the last vector computes a second time is not stored, so that an iteration may read what it writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.base.vector_math import vector_functions
from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Conditional, Infix, Item, LirExpr, Literal, Name, Operation, integer, plus, times
from dcpy.codegen.lir.traversal import expressions, operations_in, parts, statements
from dcpy.codegen.lir.types import INDEX, TRUTH

WIDTH = 4  #: iterations of the last vector: the fewest for which the C library's functions gain
LONG = 256  #: iterations: what is left over of a longer row is little
DIVISIONS = frozenset(("floordiv", "mod"))


def with_row_ends(loop: tree.Loop, names: Names) -> tree.Statement:
    """The loop, its last iterations apart where they are a part of its time; itself elsewhere."""
    if not _pays(loop) or not _is_repeatable(loop.body):
        return loop
    trips = loop.stop if loop.start == integer(0) else plus(loop.stop, times(integer(-1), loop.start))
    multiple = Infix("*", Infix("/", trips, integer(WIDTH), INDEX), integer(WIDTH), INDEX)
    few = Infix("<", trips, integer(WIDTH), TRUTH)
    whole = Name(names.fresh("whole"), INDEX)
    end = Conditional(few, loop.stop, plus(loop.start, multiple), INDEX)
    lane, number = Name(names.fresh("lane"), INDEX), Name(loop.var, INDEX)
    place = tree.Declare(loop.var, INDEX, plus(plus(loop.stop, integer(-WIDTH)), lane), constant=True)
    body = (place, *_kept_before(loop.body, Infix(">=", number, whole, TRUTH)))
    last = tree.Loop(lane.name, integer(0), integer(WIDTH), integer(1), body, marks=loop.marks, span=loop.span)
    return tree.Compound((
        tree.Declare(whole.name, INDEX, end, constant=True),
        replace(loop, stop=whole),
        tree.If(((Infix("<", whole, loop.stop, TRUTH), (last,)),)),
    ), span=loop.span)  # fmt: skip


def _pays(loop: tree.Loop) -> bool:
    """Return whether scalars may be left over, and take several times as long."""
    if loop.down or loop.step != integer(1) or loop.marks != (tree.Simd(),):
        return False
    match loop.start, loop.stop:
        case Literal(value=int() as start), Literal(value=int() as stop):
            if (stop - start) % WIDTH == 0 or not WIDTH < stop - start < LONG:
                return False
    return not vector_functions().isdisjoint(operations_in(loop.body)[0]) and any(map(_is_function, _computed(loop.body)))


def _computed(body: tree.Body) -> Iterator[LirExpr]:
    return (part for statement in statements(body) for expr in expressions(statement) for part in parts(expr))


def _is_function(expr: LirExpr) -> bool:
    """Return whether the C library has vectors of it; whole powers are products."""
    if not isinstance(expr, Operation) or expr.name not in vector_functions():
        return False
    return expr.name != "pow" or not isinstance(expr.args[1], Literal)


def _is_repeatable(body: tree.Body) -> bool:
    """Return whether an iteration can run again, whatever it reads by then, if it stores nothing."""
    own = {each.name for each in statements(body) if isinstance(each, tree.Declare)}
    for statement in statements(body):
        match statement:
            case tree.Declare() | tree.Compound():
                pass
            case tree.Assign(target=target):
                if not isinstance(target, Item) and not (isinstance(target, Name) and target.name in own):
                    return False
            case _:
                return False
        for part in (part for expr in expressions(statement) for part in parts(expr)):
            if isinstance(part, Item) and _depends_on_values(part.index, own):
                return False
            if isinstance(part, Operation) and part.name in DIVISIONS and part.dtype.kind in "iu":
                return False
            if isinstance(part, Conditional) and _depends_on_values(part.condition, own) and _reads((part.yes, part.no)):
                return False
    return True


def _depends_on_values(expr: LirExpr, own: set[str]) -> bool:
    return any(isinstance(part, Item) or (isinstance(part, Name) and part.name in own) for part in parts(expr))


def _reads(exprs: tuple[LirExpr, ...]) -> bool:
    return any(isinstance(part, Item) for expr in exprs for part in parts(expr))


def _kept_before(body: tree.Body, is_new: LirExpr) -> tree.Body:
    """An iteration whose stores leave what is there, unless it `is_new`."""
    return tuple(_kept(statement, is_new) for statement in body)


def _kept(statement: tree.Statement, is_new: LirExpr) -> tree.Statement:
    match statement:
        case tree.Compound(body=body):
            return replace(statement, body=_kept_before(body, is_new))
        case tree.Assign(target=Item() as target, value=value):
            return replace(statement, value=Conditional(is_new, value, target, target.type))
    return statement

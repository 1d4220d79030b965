"""Row ends: the last iterations of a row of functions become one vector, which begins before the others end.

before   loop row { loop i = 0:n simd { r[row, i] = tanh(x[row, i]) } }
after    loop row { whole = n < 4 ? n : n/4*4
                    loop i = 0:whole simd { r[row, i] = tanh(x[row, i]) }
                    if whole < n { loop lane = 0:4 simd { i = n - 4 + lane;  r[row, i] = tanh(x[row, i]) } } }

What is left over of a row is up to three scalar calls, each as long as one of a vector. The last vector computes some
numbers a second time: an iteration may read nothing that it writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Conditional, Infix, Item, LirExpr, Literal, Name, Operation, integer, plus, times
from dcpy.codegen.lir.traversal import parts, parts_in, parts_of, statements
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.codegen.lower.cpu.hidden_strides import VECTORS

WIDTH = 4  #: iterations of the last vector: the fewest for which the C library's functions gain
LONG = 256  #: iterations: what is left over of a longer row is little
LARGE = 1000  #: parts of expressions: the compiler takes longer for a second copy of a longer body than rows gain
MAY_FAIL = (Item, Operation, Conditional)
DIVISIONS = frozenset(("floordiv", "mod"))


def with_row_ends(loop: tree.Loop, names: Names, apart: frozenset[str]) -> tree.Statement:
    """The loop, its last iterations by themselves where they are a part of its time; itself elsewhere.

    `apart` names arrays that no other name means.
    """
    if not _is_repeatable(loop.body) or not _writes_apart(loop.body, apart):
        return loop
    whole = _whole_vectors(loop, names)
    first = plus(loop.stop, integer(-WIDTH))
    lane = Name(names.fresh("lane"), INDEX)
    place = tree.Declare(loop.var, INDEX, plus(first, lane), constant=True)
    last = (replace(loop, var=lane.name, start=integer(0), stop=integer(WIDTH), body=(place, *loop.body)),)
    if isinstance(whole, Literal):
        return tree.Compound((replace(loop, stop=whole), *last), span=loop.span)
    trips = _trips(loop)
    multiple = plus(loop.start, times(Infix("/", trips, integer(WIDTH), INDEX), integer(WIDTH)))
    end = Conditional(Infix("<", trips, integer(WIDTH), TRUTH), loop.stop, multiple, INDEX)
    return tree.Compound((
        tree.Declare(whole.name, INDEX, end, constant=True),
        replace(loop, stop=whole),
        tree.If(((Infix("<", whole, loop.stop, TRUTH), last),)),
    ), span=loop.span)  # fmt: skip


def _trips(loop: tree.Loop) -> LirExpr:
    match loop.start, loop.stop:
        case Literal(value=int() as start), Literal(value=int() as stop):
            return integer(stop - start)
    return loop.stop if loop.start == integer(0) else plus(loop.stop, times(integer(-1), loop.start))


def _whole_vectors(loop: tree.Loop, names: Names) -> Literal | Name:
    """The first iteration that is left over of whole vectors."""
    match loop.start, loop.stop:
        case Literal(value=int() as start), Literal(value=int() as stop):
            return integer(stop - (stop - start) % WIDTH)
    return Name(names.fresh("whole"), INDEX)


def has_costly_ends(loop: tree.Loop) -> bool:
    """Return whether scalars may be left over, and take several times as long."""
    if loop.down or loop.step != integer(1) or loop.marks != (tree.Simd(),):
        return False
    match _trips(loop):
        case Literal(value=int() as trips) if trips % 2 == 0 or not WIDTH < trips < LONG:  # two are a vector, too
            return False
    computed = parts_of(loop.body)
    return len(computed) <= LARGE and any(isinstance(part, Operation) and _is_function(part) for part in computed)


def _is_function(expr: Operation) -> bool:
    """Return whether the C library has vectors of it; whole powers are products."""
    return expr.name in VECTORS and (expr.name != "pow" or not isinstance(expr.args[1], Literal))


def _is_repeatable(body: tree.Body) -> bool:
    """Return whether an iteration can run again, whatever it reads by then."""
    own = {each.name for each in statements(body) if isinstance(each, tree.Declare)}
    values = own - {each.name for each in _places(body)}
    for statement in statements(body):
        match statement:
            case tree.Declare() | tree.Compound():
                pass
            case tree.Assign(target=target):
                if not isinstance(target, Item) and not (isinstance(target, Name) and target.name in own):
                    return False
            case _:
                return False
    return not any(_may_fail(part, values) for part in parts_of(body) if isinstance(part, MAY_FAIL))


def _may_fail(expr: LirExpr, values: set[str]) -> bool:
    """Return whether other numbers may make an operation divide by zero, or read what is not there."""
    match expr:
        case Item(index=index):
            return _depends_on_values(index, values)
        case Operation(name=name, dtype=dtype):
            return name in DIVISIONS and dtype.kind in "iu"
        case Conditional(condition=condition, yes=yes, no=no):
            reads = any(isinstance(part, Item) for expr in (yes, no) for part in parts(expr))
            return reads and _depends_on_values(condition, values)
    return False


def _places(body: tree.Body) -> list[tree.Declare]:
    """The variables of an iteration that depend on its number alone."""
    declared = [each for each in statements(body) if isinstance(each, tree.Declare)]
    found: dict[str, tree.Declare] = {}
    for each in declared:
        others = {one.name for one in declared if one.name not in found}
        if each.constant and each.value is not None and not _depends_on_values(each.value, others):
            found[each.name] = each
    return list(found.values())


def _depends_on_values(expr: LirExpr, values: set[str]) -> bool:
    return any(isinstance(part, Item) or (isinstance(part, Name) and part.name in values) for part in parts(expr))


def _writes_apart(body: tree.Body, apart: frozenset[str]) -> bool:
    """Return whether nothing that is written is read."""
    written = {target.base for target in _targets(body)}
    read = {part.base for part in _read(body) if isinstance(part, Item)}
    return written.isdisjoint(read) and (_are_apart(written, apart) or _are_apart(read, apart))


def _are_apart(bases: set[LirExpr], apart: frozenset[str]) -> bool:
    return all(isinstance(base, Name) and base.name in apart for base in bases)


def _targets(body: tree.Body) -> Iterator[Item]:
    for statement in statements(body):
        if isinstance(statement, tree.Assign) and isinstance(statement.target, Item):
            yield statement.target


def _read(body: tree.Body) -> list[LirExpr]:
    """The expressions that an iteration computes from what it reads."""
    stored = (each for each in statements(body) if isinstance(each, tree.Declare | tree.Assign))
    return parts_in([each.value for each in stored if each.value is not None])

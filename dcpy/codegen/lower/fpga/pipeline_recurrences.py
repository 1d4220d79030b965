"""Recurrences of pipelined loops: values that an iteration needs of one before it, and after how many iterations.

An interval is at least the latency of the way from such a value to the next one, divided by the distance in
iterations. Indices are compared as polynomials of variables. An unknown distance is taken to be one: the safe side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Cast, Infix, Item, LirExpr, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.traversal import expressions, parts, statements

Polynomial = Counter[tuple[str, ...]]  #: coefficients of products of variables, whose names are sorted


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop of a nest, the innermost one first in a sequence: its variable, and how many values that has, if known."""

    variable: str
    count: int | None


def polynomial(expr: LirExpr) -> Polynomial | None:
    """An integer expression as a polynomial; None where it is none."""
    match expr:
        case Literal(value=int(value)):
            return Counter({(): int(value)}) if value else Counter()
        case Name(name=name):
            return Counter({(name,): 1})
        case Cast(arg=arg):
            return polynomial(arg)
        case Prefix(op="-", arg=arg):
            return _scaled(polynomial(arg), -1)
        case Infix(op="+" | "-" | "*" as op, left=left, right=right):
            return _combined(op, polynomial(left), polynomial(right))
        case Operation(name="add" | "sub" | "mul" as op, args=(left, right)):
            return _combined({"add": "+", "sub": "-", "mul": "*"}[op], polynomial(left), polynomial(right))
    return None


def _scaled(value: Polynomial | None, factor: int) -> Polynomial | None:
    return None if value is None else Counter({term: factor * count for term, count in value.items()})


def _combined(op: str, left: Polynomial | None, right: Polynomial | None) -> Polynomial | None:
    if left is None or right is None:
        return None
    found: Polynomial = Counter()
    if op == "*":
        for one, first in left.items():
            for other, second in right.items():
                found[tuple(sorted((*one, *other)))] += first * second
    else:
        for term in {*left, *right}:
            found[term] = left[term] + (right[term] if op == "+" else -right[term])
    return Counter({term: count for term, count in found.items() if count})


def reuse_distance(index: LirExpr, axes: Sequence[NestLoop]) -> int | None:
    """Iterations after which an index comes again; None: never.

    The loops whose variables are in it, and that are inside of the first one that is not, have other values between.
    Where two loops may reach one place together, as in ``A[i + j]``, that is a distance of one.
    """
    if (period := _period(index, axes)) is not None:
        return period
    value = polynomial(index)
    if value is None:
        return 1
    moving = [axis for axis in axes if any(axis.variable in term for term in value)]
    if not _are_apart(value, moving):
        return 1
    if len(moving) == len(axes):
        return None
    distance = 1
    for axis in axes:
        if axis not in moving:
            return distance
        if axis.count is None:
            return 1
        distance *= axis.count
    return None


def _are_apart(value: Polynomial, moving: Sequence[NestLoop]) -> bool:
    """Return whether different values of these variables give different indices: each has a stride of its own.

    Strides that are sizes of the array are those of its dimensions, within which indices stay. Numbers are compared.
    """
    strides: dict[tuple[str, ...], list[tuple[int, NestLoop]]] = {}
    for axis in moving:
        terms = [term for term in value if axis.variable in term]
        if len(terms) != 1 or terms[0].count(axis.variable) != 1:
            return False
        (term,) = terms
        rest = tuple(name for name in term if name != axis.variable)
        if any(other.variable in rest for other in moving):
            return False
        strides.setdefault(rest, []).append((abs(value[term]), axis))
    for group in strides.values():
        reach = 1  # of the variables with smaller strides
        for stride, axis in sorted(group, key=lambda one: one[0]):
            if stride < reach or (axis.count is None and len(group) > 1):
                return False
            reach = stride * (axis.count or 1)
    return True


def _period(index: LirExpr, axes: Sequence[NestLoop]) -> int | None:
    """The period P of ``k % P``, the variable of a single loop going round a ring of P elements."""
    alone = axes[0].variable if len(axes) == 1 else ""
    match index:
        case Infix(op="%", left=Name(name=name), right=Literal(value=int(count))):
            return int(count) if name == alone else 1
        case Infix(op="&", left=Name(name=name), right=Literal(value=int(mask))) if mask & (mask + 1) == 0:
            return int(mask) + 1 if name == alone else 1
        case Operation(name="mod", args=(Name(name=name), Literal(value=int(count)))):
            return int(count) if name == alone else 1
    return None


def dependence_distance(read: LirExpr, written: LirExpr, variable: str) -> int | None:
    """Return how many innermost iterations after its write an element is read; None: never.

    For loops of one variable; of what is read and written at the same index, an iteration has its own element.
    """
    ours, theirs = polynomial(written), polynomial(read)
    if ours is None or theirs is None:
        return 1
    gap = _combined("-", ours, theirs)
    assert gap is not None
    step = ours[(variable,)]
    moves = any(variable in term for term in ours)
    if not gap:
        return None if moves else 1
    constant = set(gap) == {()}
    if not constant or not step or any(variable in term and term != (variable,) for term in ours):
        return 1
    distance, rest = divmod(gap[()], step)
    return None if rest or distance < 0 else distance


def carried(body: tree.Body) -> Iterator[tuple[str, tuple[LirExpr, ...], tuple[LirExpr, ...]]]:
    """Variables and arrays that a body both reads and assigns and does not declare: with the indices of each.

    Updates are left out: they are recurrences of their own. A variable has no index.
    """
    inside = list(statements(body))
    own = {one.name for one in inside if isinstance(one, tree.Declare | tree.StackBuffer)}
    written: dict[str, list[LirExpr]] = {}
    for one in inside:
        match one:
            case tree.Assign(target=Name(name=name)) if name not in own:
                written.setdefault(name, [])
            case tree.Assign(target=Item(base=Name(name=name), index=index)) if name not in own:
                written.setdefault(name, []).append(index)
    for name, places in written.items():
        reads = [part for one in inside for part in _reads(one) if _is_of(part, name)]
        if reads:
            yield name, tuple(part.index for part in reads if isinstance(part, Item)), tuple(places)


def _reads(statement: tree.Statement) -> Iterator[LirExpr]:
    for expr in expressions(statement):
        if isinstance(statement, tree.Assign) and expr is statement.target:
            expr = expr.index if isinstance(expr, Item) else Literal(0, expr.type)
        yield from parts(expr)


def _is_of(part: LirExpr, name: str) -> bool:
    match part:
        case Item(base=Name(name=found)):
            return found == name
        case Name(name=found, type=kind):
            return found == name and not hasattr(kind, "element")
    return False

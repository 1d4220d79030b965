"""Hidden strides: of records of 5, 6, 7, 9, ... numbers g++ loads vectors where it does not know how long they are.

before   loop i simd { r[i] = hypot(s[i*6], s[i*6 + 1]) }
after    const stride = hidden(6);  loop i simd { r[i] = hypot(s[i*stride], s[i*stride + 1]) }

Elements of one record are a group to g++, which it loads in whole vectors and takes apart. It can do so for powers of
two and 3, and makes no vectors at all for others. What it knows no stride of, it loads number by number.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.base.vector_math import vector_functions
from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Item, LirExpr, Literal, Name, Operation, integer
from dcpy.codegen.lir.traversal import (
    children,
    expressions,
    operations_in,
    parts,
    statements,
    with_bodies,
    with_children,
    with_expressions,
)
from dcpy.codegen.lir.types import INDEX

GROUPS = (1, 3)  #: and powers of two
VECTORS = vector_functions()
SLOW = VECTORS | {"sqrt"}  #: functions of which vectors are several times as fast


def with_hidden_strides(loop: tree.Loop, names: Names, hidden: dict[int, Name]) -> tree.Loop:
    """The loop with its strides `hidden` in variables, where it computes enough for loads number by number."""
    strides = strides_of(loop)
    if not strides or not calls_vector_functions(loop.body):
        return loop
    for stride in strides:
        hidden[stride] = hidden.get(stride) or Name(names.fresh("stride"), INDEX)

    def change(expr: LirExpr) -> LirExpr:
        expr = with_children(expr, change)
        stride = _stride(expr, loop.var)
        if stride not in strides:
            return expr
        assert isinstance(expr, Infix)
        return replace(expr, right=hidden[stride])

    def in_body(body: tree.Body) -> tree.Body:
        return tuple(with_expressions(with_bodies(statement, in_body), change) for statement in body)

    return replace(loop, body=in_body(loop.body))


def declared_strides(hidden: dict[int, Name]) -> tree.Body:
    """The declarations of strides, in front of all loops: a number that is made inside of one is no stride to g++."""
    return tuple(
        tree.Declare(name.name, INDEX, Intrinsic("hidden", (integer(stride),), INDEX), constant=True)
        for stride, name in hidden.items()
    )


def strides_of(loop: tree.Loop) -> dict[int, None]:
    """The strides of elements that vectors need, of which there are no groups."""
    pending = [expr for statement in statements(loop.body) for expr in expressions(statement)]
    found: dict[int, None] = {}
    while pending:
        expr = pending.pop()
        if isinstance(expr, Infix):
            if expr.op == "*" and expr.type is INDEX:
                stride = _stride(expr, loop.var)
                if stride not in GROUPS and stride & (stride - 1):
                    found[stride] = None
            pending += (expr.left, expr.right)
        elif isinstance(expr, Item):
            pending.append(expr.index)
        elif isinstance(expr, Operation):
            pending += expr.args
        elif not isinstance(expr, Name | Literal):
            pending += children(expr)
    return found


def _stride(expr: LirExpr, variable: str) -> int:
    """Return the number by which the iteration's variable is multiplied; 0 elsewhere."""
    match expr:
        case Infix(op="*", left=left, right=Literal(value=int() as stride, type=kind)) if kind is INDEX:
            if any(isinstance(part, Name) and part.name == variable for part in parts(left)):
                return max(stride, 0)
    return 0


def calls_vector_functions(body: tree.Body) -> bool:
    """Return whether a function is called of which vectors are several times as fast."""
    return not SLOW.isdisjoint(operations_in(body)[0])
